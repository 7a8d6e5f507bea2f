/** Names of others never change a program: it has the same probes whatever a library, a path or a parameter is called. */
import assert from "node:assert/strict";
import { plan } from "../../lib/commands/planned_program.ts";
import { programFolder } from "../../lib/commands/program_folder.ts";
import { uncalibrated } from "../../lib/machine/calibration.ts";
import { FilesOnce } from "../../lib/machine/files_once.ts";
import { findLibraries } from "../../lib/programs/found_libraries.ts";
import { sitesIn } from "../../lib/programs/library_sites.ts";
import type { Param, Probe } from "../../lib/programs/probe.ts";
import { render } from "../../lib/programs/render.ts";
import { type Block, parseTemplate } from "../../lib/programs/template.ts";
import { siteKey, type SiteMap } from "../../lib/session/program_part.ts";
import { calls } from "../../probes/llama/calls.ts";
import { recentDialect } from "../harness/dialect.ts";
import { makeElf } from "../harness/elf.ts";
import { capable } from "../harness/fake_machine.ts";
import { FolderFiles } from "../harness/folder_files.ts";
import { temporary } from "../harness/temporary.ts";
import { hostileNames, hostileTexts } from "./corpus.ts";

const filter = { type: "processes", pids: [100] } as const;
const host = { symbols: true, offsets: true, kernel: "6.18.44", arch: "x86_64" } as const;
const sites = Object.values(calls.params!).filter((param): param is Extract<Param, { type: "site" }> => param.type === "site");
const symbols = sites.flatMap(({ functions }) => functions.flat());
const range = "7f0000000000-7f0000001000";
const elf = makeElf({ llama_decode: "f3 0f 1e fa 55", llama_sampler_sample: "55" });

/** The sites of llama.cpp's calls in a library of that path, in a process whose maps are the kernel's words for it. */
async function sitesAt(root: string, path: string): Promise<SiteMap> {
  Deno.writeTextFileSync(`${root}/proc/100/maps`, `${range} r-xp 00000000 08:01 77 ${path.replaceAll("\n", "\\012")}\n`);
  const libraries = await findLibraries(new FilesOnce(new FolderFiles(root)), 100, calls.library!, symbols);
  assert.equal(libraries.length, 1, "it is found under any name that begins like it");
  const entries = sites.map(async (param) => [siteKey(param), await sitesIn(libraries[0]!, param, host)] as const);
  return new Map(await Promise.all(entries));
}

function machine(): string {
  const root = Deno.makeTempDirSync({ prefix: "llmprof-test-" });
  Deno.mkdirSync(`${root}/proc/100/map_files`, { recursive: true });
  Deno.symlinkSync("/usr/bin/node", `${root}/proc/100/exe`);
  Deno.writeFileSync(`${root}/proc/100/map_files/${range}`, elf);
  return root;
}

/** What a program attaches, and how many statements it has. */
function outline(blocks: readonly Block[]): string[] {
  return blocks.map(({ attach, predicate, body }) => `${attach.join(" ")} /${predicate}/ ${body.split(";").length}`);
}

Deno.test("hostile: a corpus of more than 200 names, no two alike", () => {
  const names = hostileNames();
  assert.ok(names.length >= 200);
  assert.equal(new Set(names.map((name) => name.join())).size, names.length);
});

Deno.test("hostile: a library's name and folder never reach its program, in a run or in --dry-run", async () => {
  using folder = temporary();
  const root = machine();
  const capabilities = capable();
  const write = (sites: SiteMap) => {
    const planned = plan({ stream: "llama", probes: [calls], filter, sites, bufferPages: 64 }, capabilities, uncalibrated);
    for (const line of planned.heading) assert.doesNotMatch(line, /[\p{Cc}\u2028\u2029]/u);
    programFolder([folder.path], null)!.write(planned);
    return [planned.text, Deno.readTextFileSync(folder.file("llama.bt"))] as const;
  };
  const [text, file] = write(await sitesAt(root, "/opt/libllama.so"));
  const expected = outline(parseTemplate(text));
  assert.ok(expected.length >= 5 && text.includes("llama_decode"));
  for (const name of hostileTexts()) {
    for (const path of [`/opt/libllama.${name.replaceAll("/", "_")}`, `/${name}/libllama.so`]) {
      const written = write(await sitesAt(root, path));
      assert.equal(written[0], text);
      assert.deepEqual(outline(parseTemplate(written[1])), outline(parseTemplate(file)), JSON.stringify(path));
      assert.ok(written[1].endsWith(text) && !/^(?!\/\/)/m.test(written[1].slice(0, -text.length).trimEnd()), "above it there are comments alone");
    }
  }
  Deno.removeSync(root, { recursive: true });
});

Deno.test("hostile: a path that does stand in an attach point is quoted as it is, or refused", async () => {
  const root = machine();
  const [library] =
    (await sitesAt(root, "/opt/libllama.so"), await findLibraries(new FilesOnce(new FolderFiles(root)), 100, calls.library!, symbols));
  const param = sites.find(({ functions }) => functions.flat()[0] === "llama_decode")!;
  let quoted = 0, refused = 0;
  for (const name of hostileTexts()) {
    const path = `/proc/100/root/opt/${name}/libllama.so`;
    try {
      const found = await sitesIn({ ...library!, file: path }, param, host);
      const { text, sites } = render(
        { stream: "llama", probes: [calls], filter, window: "open" },
        recentDialect,
        (p) => p === param ? found.map((f) => f.attach) : [],
      );
      assert.equal(sites.length, 1);
      const block = parseTemplate(text).find(({ attach }) => attach[0]!.startsWith("u"))!;
      assert.equal(block.attach.length, 1, JSON.stringify(path));
      assert.equal(/^u(?:ret)?probe:"((?:[^"\\]|\\.)*)":/.exec(block.attach[0]!)![1]!.replaceAll(/\\(.)/g, "$1"), path, "the name is intact");
      quoted++;
    } catch (error) {
      assert.match((error as Error).message, /^(cannot be written into a program|bpftrace cannot attach to a file of this name): /);
      assert.match(name, /[\p{Cc}\\:*?[\]]/u, "only what bpftrace would misread");
      refused++;
    }
  }
  assert.ok(quoted > 60 && refused > 60, `${quoted} quoted, ${refused} refused`);
  Deno.removeSync(root, { recursive: true });
});

const probe = (value: string): Probe => ({
  name: "t/p",
  summary: "",
  template:
    "tracepoint:a:b /FILTER/ { if (strncmp(str(arg0), {{name}}, 4) == 0) { EMIT(hit, buf(arg0, 64)); } }\ntracepoint:a:c { EMIT(hit, buf(arg1, 64)); }",
  params: { name: { type: "text", value } },
  records: { hit: [{ name: "name", type: "text" }] },
  decoder: () => ({ event() {}, end() {} }),
});

Deno.test("hostile: a text that is a parameter is a literal that holds exactly it, or is refused", () => {
  const rendered = (value: string) => render({ stream: "t", probes: [probe(value)], filter, window: "open" }, recentDialect, () => []).text;
  const expected = outline(parseTemplate(rendered("libllama.")));
  for (const value of [...hostileTexts(), "a\0b"]) {
    if (/\p{Cc}/u.test(value)) {
      assert.throws(() => rendered(value), /cannot be written into a program/);
      continue;
    }
    const text = rendered(value);
    const literal = /strncmp\(str\(arg0\), ("(?:[^"\\]|\\.)*"), 4\)/s.exec(text)![1]!;
    assert.equal(literal.slice(1, -1).replaceAll(/\\(.)/gs, "$1"), value);
    assert.deepEqual(outline(parseTemplate(text.replace(literal, '"libllama."'))), expected);
    assert.equal(parseTemplate(text).length, expected.length, JSON.stringify(value));
  }
});

Deno.test("hostile: what a site resolves to has to be an attach point, and a process id a number", () => {
  const render_ = (attach: string) => render({ stream: "t", probes: [calls], filter, window: "open" }, recentDialect, () => [attach]);
  for (
    const attach of [
      'uprobe:"/a":"b" { system("id") }',
      'uprobe:"/a":"b", BEGIN',
      "BEGIN",
      "uprobe:/a:b",
      'uprobe:"/a"b":"c"',
      'uprobe:"/a\n":"c"',
      'uprobe:"/*":"c"',
    ]
  ) {
    assert.throws(() => render_(attach), /no attach point/, attach);
  }
  for (const pid of [NaN, 1.5, -1, Infinity, '1] = 1; system("id"); @x[1' as unknown as number]) {
    assert.throws(
      () => render({ stream: "t", probes: [calls], filter: { type: "tree", pids: [pid] }, window: "open" }, recentDialect, () => []),
      /no process id/,
    );
  }
});
