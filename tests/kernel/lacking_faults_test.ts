/** A run for which the machine lacks something says what, and with what is to be typed, there or as `doctor` says, the same command works. */
import assert from "node:assert/strict";
import { commandIn, quoted } from "../cli/doctor_mends.ts";
import type { Bpftrace } from "../harness/bpftraces.ts";
import { mustRun } from "../harness/command.ts";
import { sampledTest } from "../harness/kernel.ts";
import { llmprof } from "../harness/llmprof.ts";
import { mayRaiseLimits } from "../harness/needs.ts";
import { temporary } from "../harness/temporary.ts";

const cases = [
  {
    name: "may open hardly a file",
    take: "ulimit -n 24",
    need: "open files",
    says: /^llmprof may have too few files open\. .* \(os error 24\)\.\nAllow more in this shell, as root: prlimit .*\nIn a container: --ulimit/m,
    code: 3,
  },
  {
    name: "starts a bpftrace that may not open what it needs",
    take: "ulimit -n 64",
    need: "open files",
    // Some bpftraces know why.
    says:
      /^bpftrace could not attach the program '\w+'\. It said: .*\n(Allow more in this shell, as root: prlimit |See what this machine lacks: llmprof doctor;)/m,
    code: null,
  },
  {
    name: "can write nothing to /run",
    take: "mount -t tmpfs -o ro tmpfs /run",
    need: "room in /run",
    says: /^bpftrace cannot be told where probes are to stand\. \/run is read-only\.\nSee what mends it: llmprof doctor$/m,
    code: 1,
  },
];

for (const [index, { name, take, need, says, code }] of cases.entries()) {
  const isTyped = need !== "open files" || mayRaiseLimits();
  const outcome = isTyped ? "what helps, and it does" : "what helps (not typed: needs CAP_SYS_RESOURCE)";
  sampledTest(index, `a run that ${name} says ${outcome}`, {}, async ({ path }: Bpftrace) => {
    using folder = temporary();
    const command = llmprof.map(quoted).join(" ");
    const run = `${command} coldstart --no-output --bpftrace ${quoted(path)} -- true 2>`;
    const typed = `
      next=$(sed -n 's/^.*\\(prlimit .*\\|llmprof doctor\\).*$/\\1/p' "$T/said")
      if [ "$next" = "llmprof doctor" ]; then
        ${command} doctor --summary json --bpftrace ${quoted(path)} > "$T/doctor"
        next=$(${commandIn("$T/doctor", `^${need}$`)})
      fi
      eval "$next" > "$T/typed"
      ${run} "$T/mended"`;
    const script = `${take}\n${run} "$T/said"; echo $? > "$T/code"\n${isTyped ? typed : ""}`;
    await mustRun(["unshare", "--mount", "/bin/bash", "-c", script], { env: { T: folder.path }, cwd: folder.path });
    const [said, ended] = ["said", "code"].map((file) => Deno.readTextFileSync(folder.file(file)));
    assert.match(said!, says);
    assert.equal(Number(ended), code ?? (said!.includes("prlimit") ? 3 : 1));
  });
}
