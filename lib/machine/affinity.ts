/** Processors on which a thread may run, `0-3,8`, as its `status` says it; null where it does not. */
export function affinityIn(status: string | null | undefined): string | null {
  return /^Cpus_allowed_list:\s*(\S+)$/m.exec(status ?? "")?.[1] ?? null;
}
