import assert from "node:assert/strict";
import { join } from "node:path";
import { mustRun } from "../harness/command.ts";
import { llmprof } from "../harness/llmprof.ts";
import { type Temporary, temporary } from "../harness/temporary.ts";
import { countedCalls, loader, makeRoot } from "../workloads/counted.ts";
import { startContainer } from "./container.ts";
import { type ProcessRow, processTable, treeFrom, until } from "./processes.ts";
import { targetsOfCopies } from "./target_copies.ts";
import { countedWith, plain, ready, type TargetCounts, type TargetKind, Way } from "./target_way.ts";

/** Every call, and nothing lost. */
export function expectedCounts({ times }: TargetKind): TargetCounts {
  const { decodes, graphs, operators } = countedCalls;
  return { decodes: decodes * times, graphs: graphs * times, operators: operators * times, lost: 0, undecodable: 0 };
}

/** Runs llmprof on a target of that kind. */
export async function countTarget(kind: TargetKind, bpftrace: string): Promise<TargetCounts> {
  using folder = temporary();
  const way = new Way(bpftrace, folder);
  await kind.run(way);
  return way.counts!;
}

/** Its bytes are all that a path may not have in a bpftrace program, in a shell's word, in a line of /proc/PID/maps. */
const hostileName = "we@ird \"dir\\ 'x\n{{y}} $(id)";
const unshare = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--user", "--map-root-user"];

function rootIn(way: Way): string {
  const root = way.folder.file("root");
  makeRoot(root);
  return root;
}

function chrooted(way: Way): string[] {
  return [...unshare, "chroot", rootIn(way), "/bin/counted", "load=/opt/libllama.so", "say=ready", "wait=/srv/go", "call"];
}

async function killedAtGate(way: Way): Promise<void> {
  const { program, library } = plain(way);
  const stands = (row: ProcessRow) => row.state === "T" && countedWith(row, library);
  await way.started(["sh", "-c", '"$@"; "$@" call', "sh", program, `load=${library}`], async (llmprof) => {
    const { pid } = await until("a process stands at the gate", () => treeFrom(llmprof.pid).find(stands));
    Deno.kill(pid, "SIGKILL");
  });
}

/** Takes every name out of a program and puts them where a distribution does, below `root`. Returns what removes them again. */
async function stripApart(program: string, folder: Temporary, root = ""): Promise<Disposable> {
  const debug = folder.file("debug");
  await mustRun(["objcopy", "--only-keep-debug", program, debug]);
  await mustRun(["strip", program]);
  const { stdout } = await mustRun(["readelf", "-n", program]);
  const [, id] = /Build ID: ([0-9a-f]+)/.exec(stdout)!;
  const place = `${root}/usr/lib/debug/.build-id/${id!.slice(0, 2)}`;
  Deno.mkdirSync(place, { recursive: true });
  const path = `${place}/${id!.slice(2)}.debug`;
  Deno.copyFileSync(debug, path);
  return { [Symbol.dispose]: () => Deno.removeSync(path) };
}

export const targetKinds: readonly TargetKind[] = [
  { name: "plain, started", seldom: true, times: 1, run: (way) => way.started([plain(way).program, `load=${plain(way).library}`, "call"]) },
  { name: "plain, running", seldom: true, times: 1, run: (way) => way.running([plain(way).program, `load=${plain(way).library}`, ...ready(way)]) },
  { name: "podman", times: 3, podman: true, run: inPodman },
  {
    name: "unshare and chroot, started",
    seldom: true,
    times: 1,
    run: (way) => way.started(chrooted(way).filter((word) => !/^(say|wait)=/.test(word))),
  },
  {
    name: "unshare and chroot, running",
    times: 1,
    run: (way) => way.running(chrooted(way), { go: goInRoot(way) }),
  },
  {
    name: "a path with @, space, quotes, backslash and newline, started",
    seldom: true,
    times: 1,
    run: (way) => way.started([plain(way, hostileName).program, `load=${plain(way, hostileName).library}`, "call"]),
  },
  {
    name: "a path with @, space, quotes, backslash and newline, running",
    times: 1,
    run: (way) => way.running([plain(way, hostileName).program, `load=${plain(way, hostileName).library}`, ...ready(way)]),
  },
  { name: "a process that is killed at the gate, and another after it", times: 1, run: killedAtGate },
  {
    name: "stripped to .dynsym",
    times: 1,
    async run(way) {
      const { program, library, libraries } = plain(way);
      await mustRun(["strip", ...libraries]);
      await way.started([program, `load=${library}`, "call"]);
    },
  },
  {
    name: "stripped of every name, with a debug file",
    times: 1,
    async run(way) {
      const { linked } = plain(way);
      using _debug = await stripApart(linked, way.folder);
      await way.started([linked, "call"]);
    },
  },
  {
    name: "stripped of every name, with a debug file in its own root",
    times: 1,
    async run(way) {
      const root = rootIn(way);
      using _debug = await stripApart(`${root}/bin/linked`, way.folder, root);
      const argv = [...unshare, "chroot", root, "/bin/linked", "say=ready", "wait=/srv/go", "call"];
      await way.running(argv, { go: goInRoot(way) });
    },
  },
  {
    name: "begun by a loader, stripped of every name, with a debug file, started",
    times: 1,
    async run(way) {
      const { dynamic } = plain(way);
      using _debug = await stripApart(dynamic, way.folder);
      await way.started([loader(), dynamic, "call"]);
    },
  },
  {
    name: "begun by a loader, stripped of every name, with a debug file, by its name",
    times: 1,
    async run(way) {
      const { dynamic } = plain(way);
      using _debug = await stripApart(dynamic, way.folder);
      await way.running([loader(), dynamic, ...ready(way)], { by: ["--comm", "dynamic"] });
    },
  },
  { name: "static, started", times: 1, run: (way) => way.started([plain(way).linked, "call"]) },
  { name: "static, started by a shell", times: 1, run: (way) => way.started(["sh", "-c", `true; env A=1 '${plain(way).linked}' call; true`]) },
  { name: "linked into an addon, started", times: 1, run: (way) => way.started([plain(way).program, `load=${plain(way).addon}`, "call"]) },
  { name: "linked into an addon, running", times: 1, run: (way) => way.running([plain(way).program, `load=${plain(way).addon}`, ...ready(way)]) },
  { name: "static, running", times: 1, run: (way) => way.running([plain(way).linked, ...ready(way)]) },
  {
    name: "two copies in one process",
    times: 2,
    run: (way) => way.started([plain(way).program, `load=${plain(way).library}`, `load=${plain(way, "other").library}`, "call"]),
  },
  {
    name: "two copies in one running process",
    seldom: true,
    times: 2,
    run: (way) => way.running([plain(way).program, `load=${plain(way).library}`, `load=${plain(way, "other").library}`, ...ready(way)]),
  },
  {
    name: "two copies, one in each of two processes",
    times: 2,
    run(way) {
      const [one, other] = [plain(way), plain(way, "other")];
      const command = (files: typeof one) => `'${files.program}' 'load=${files.library}' call`;
      return way.started(["sh", "-c", `${command(one)} & ${command(other)}; wait`]);
    },
  },
  {
    name: "one copy in two processes",
    times: 2,
    run: (way) => way.running([plain(way).program, `load=${plain(way).library}`, "both", ...ready(way)]),
  },
  {
    name: "replaced on disk",
    times: 1,
    run(way) {
      const { program, library, libraries, linked, addon } = plain(way);
      return way.running([program, `load=${library}`, ...ready(way)], {
        // The same functions, at other places.
        first() {
          replace(program, linked);
          for (const path of libraries) replace(path, addon);
        },
      });
    },
  },
  {
    name: "dlopen'ed late",
    times: 1,
    run(way) {
      const { program, library } = plain(way);
      const target = ["say=ready", `wait=${way.go}`, `load=${library}`, "call"];
      return way.running([program, ...target], { flags: ["--wait"] });
    },
  },
  {
    name: "an addon with all of it dlopen'ed late",
    times: 1,
    run(way) {
      const { program, addon } = plain(way);
      return way.running([program, "say=ready", `wait=${way.go}`, `load=${addon}`, "call"], { flags: ["--wait"] });
    },
  },
  {
    name: "dlopen'ed late in a child",
    times: 1,
    run(way) {
      const { program, library } = plain(way);
      const target = ["say=ready", `wait=${way.go}`, "fork", `load=${library}`, "call"];
      return way.running([program, ...target], { flags: ["--wait"] });
    },
  },
  {
    name: "a server and its worker by name",
    times: 2,
    run(way) {
      const { program, library } = plain(way);
      const own = join(way.folder.path, "plain", "srv-test");
      Deno.renameSync(program, own);
      return way.running([own, `load=${library}`, "both", ...ready(way)], { by: ["--comm", "srv-test"] });
    },
  },
  {
    name: "updated and restarted, with --wait",
    times: 2,
    run(way) {
      const { program, library, libraries } = plain(way), newer = plain(way, "newer");
      return way.twice([program, `load=${library}`, `wait=${way.go}`, "call"], ["--wait", "--match", `^${program} `], async () => {
        await mustRun(["strip", newer.program, ...newer.libraries]);
        replace(program, newer.program);
        for (const [i, path] of libraries.entries()) replace(path, newer.libraries[i]!);
      });
    },
  },
  ...targetsOfCopies,
];

/** As an update does: who has mapped the file keeps what it has. */
function replace(path: string, by: string): void {
  Deno.copyFileSync(by, `${path}.new`);
  Deno.renameSync(`${path}.new`, path);
}

/** `/srv/go` in the target's own root. */
function goInRoot({ folder }: Way): string {
  return folder.file("root/srv/go");
}

/** One process of the container's own, one exec'ed into it before llmprof came, one after. */
async function inPodman(way: Way): Promise<void> {
  const target = ["/bin/counted", "load=/opt/libllama.so", "wait=/srv/go", "call"];
  await using container = await startContainer(way.folder, rootIn(way), [...target, "wait=/srv/end"]);
  const { name, id, srv, podman } = container;
  await podman("exec", "--detach", name, ...target);
  await until("both have loaded their library", () => processTable().filter((row) => countedWith(row, "/opt/libllama.so")).length >= 2);
  const printed = await mustRun([...llmprof, "operators", "--container", name, "--dry-run", "--bpftrace", way.bpftrace]);
  assert.match(printed.stdout, /pid_ns_for_children/, "what is printed follows who comes after it, as what is run does");
  await way.attached({ flags: ["--container", id] }, () => {
    Deno.writeTextFileSync(join(srv, "go"), "");
    void podman("exec", name, ...target).then(() => Deno.writeTextFileSync(join(srv, "end"), ""));
  });
}
