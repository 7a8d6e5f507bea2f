import { asRoot, quoteWord } from "./shell.ts";

const root = "/opt/bpftrace";
const program = "/usr/local/bin/bpftrace-debian";

/** What runs the bpftrace of that root with that root's own libraries. */
const wrapper = [
  "#!/bin/sh",
  `lib=${root}/usr/lib`,
  `exec $lib/*/ld-linux-*.so.* --library-path $lib/*-linux-gnu ${root}/usr/bin/bpftrace "$@"`,
];

/**
 * Commands for Debian and what is made of it, one after the other: a newer bpftrace that runs beside the distribution's, from a folder of its own.
 * Debian's 13 is unknown to an older `debootstrap`, which makes it as it makes `sid`. `llmprof`: what to type for it.
 */
export function newerBpftraceCommands(isRoot: boolean, llmprof: string): string[] {
  return [
    asRoot(isRoot, "apt-get update"),
    asRoot(isRoot, "apt-get install debootstrap debian-archive-keyring"),
    asRoot(isRoot, `debootstrap --variant=minbase --include=bpftrace trixie ${root} '' sid`),
    `printf '%s\\n' ${wrapper.map((line) => `'${line}'`).join(" ")} | ${asRoot(isRoot, `tee ${program}`)}`,
    asRoot(isRoot, `chmod +x ${program}`),
    asRoot(isRoot, `${quoteWord(llmprof)} doctor --bpftrace ${program}`),
  ];
}
