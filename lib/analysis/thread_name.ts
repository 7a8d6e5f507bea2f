/** How tables call a thread: `llama-server 4711 main`, `4712` where it never told its name. */
export function threadName({ pid, tid, name }: { readonly pid: number; readonly tid: number; readonly name: string }): string {
  return [name, tid === pid ? `${tid} main` : String(tid)].filter((word) => word !== "").join(" ");
}
