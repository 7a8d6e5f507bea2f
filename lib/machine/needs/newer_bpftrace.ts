import type { Capabilities } from "../capabilities.ts";
import { asRoot, quoteWord } from "./shell.ts";

export type Distribution = Pick<Capabilities, "distribution" | "release">;

const root = "/opt/bpftrace";
const program = "/usr/local/bin/bpftrace-debian";

/** What runs the bpftrace of that root with that root's own libraries. */
const wrapper = [
  "#!/bin/sh",
  `lib=${root}/usr/lib`,
  `exec $lib/*/ld-linux-*.so.* --library-path $lib/*-linux-gnu ${root}/usr/bin/bpftrace "$@"`,
];

/** The first Ubuntu whose `debian-archive-keyring` knows by whom Debian 13 is signed; an older one can have that package of one that is kept for longer. */
const KNOWS_DEBIAN = 25.04, KEPT = "resolute";
/** Where apt looks into it for these commands alone: nothing else is to come from there, whatever fails on the way. */
const source = "/etc/apt/debian-keys.list";
const fromThere = `-o Dir::Etc::SourceList=${source} -o Dir::Etc::SourceParts=- -o APT::Get::List-Cleanup=0`;

/**
 * Commands for Debian and what is made of it, one after the other: a newer bpftrace that runs beside the distribution's, from a folder of its own.
 * Debian's 13 is unknown to an older `debootstrap`, which makes it as it makes `sid`. `llmprof`: what to type for it.
 */
export function newerBpftraceCommands(isRoot: boolean, llmprof: string, { distribution: [id], release }: Distribution): string[] {
  const lacksKeys = id === "ubuntu" && release !== null && release < KNOWS_DEBIAN;
  return [
    asRoot(isRoot, "apt-get update"),
    asRoot(isRoot, `apt-get install debootstrap${lacksKeys ? "" : " debian-archive-keyring"}`),
    ...lacksKeys ? keys(isRoot) : [],
    asRoot(isRoot, `debootstrap --variant=minbase --include=bpftrace trixie ${root} '' sid`),
    `printf '%s\\n' ${wrapper.map((line) => `'${line}'`).join(" ")} | ${asRoot(isRoot, `tee ${program}`)}`,
    asRoot(isRoot, `chmod +x ${program}`),
    asRoot(isRoot, `${quoteWord(llmprof)} doctor --bpftrace ${program}`),
  ];
}

/** Debian's, as Ubuntu signs them. */
function keys(isRoot: boolean): string[] {
  const line = `deb [signed-by=/usr/share/keyrings/ubuntu-archive-keyring.gpg] http://archive.ubuntu.com/ubuntu ${KEPT} universe`;
  return [
    `echo '${line}' | ${asRoot(isRoot, `tee ${source}`)}`,
    ...["update", "install debian-archive-keyring"].map((words) => asRoot(isRoot, `apt-get ${fromThere} ${words}`)),
  ];
}
