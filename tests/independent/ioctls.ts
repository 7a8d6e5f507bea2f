import { trace } from "./trace.ts";

/** Numbers of system calls. */
const NUMBERS = { x86_64: { openat: 257, ioctl: 16 }, aarch64: { openat: 56, ioctl: 29 } };

/** What a file was asked by all processes of a name. */
export interface Asked {
  /** As it was opened. */
  readonly path: string;
  readonly command: number;
  readonly calls: number;
  readonly ns: number;
}

/** What the processes of a name ask of files that they open, and for how long they are in it: by the system calls of the whole machine, and by descriptors. */
export async function askedOf<T>(bpftrace: string, process: string, whileRunning: () => Promise<T>): Promise<{ asked: Asked[]; value: T }> {
  const { openat, ioctl } = NUMBERS[Deno.build.arch];
  const program = `
tracepoint:raw_syscalls:sys_enter /comm == "${process}" && args->id == ${openat}/ { @path[tid] = args->args[1]; }
tracepoint:raw_syscalls:sys_exit /@path[tid]/ {
  @opened[pid, (uint64)args->ret] = str(uptr(@path[tid]), 16);
  delete(@path[tid]);
}
tracepoint:raw_syscalls:sys_enter /comm == "${process}" && args->id == ${ioctl}/ {
  @file[tid] = @opened[pid, args->args[0]];
  @command[tid] = args->args[1];
  @since[tid] = nsecs;
}
tracepoint:raw_syscalls:sys_exit /@since[tid]/ {
  @took[@file[tid], @command[tid]] = sum(nsecs - @since[tid]);
  @calls[@file[tid], @command[tid]] = count();
  delete(@since[tid]);
}`;
  const { stdout, value } = await trace(bpftrace, program, whileRunning);
  const rows = (map: string) =>
    [...stdout.matchAll(new RegExp(`^@${map}\\[(.*), (\\d+)\\]: (\\d+)$`, "gm"))].map(([, path, command, n]) => ({
      path: path!,
      command: Number(command),
      n: Number(n),
    }));
  const took = rows("took");
  const asked = rows("calls").map(({ path, command, n: calls }) => ({
    path,
    command,
    calls,
    ns: took.find((row) => row.path === path && row.command === command)!.n,
  }));
  return { asked, value };
}
