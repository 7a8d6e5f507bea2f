/** Files at whose mapping a process is stopped, by how their names begin. */
export interface GateNames {
  readonly prefixes: readonly string[];
  /** Of them, those at which every process is stopped, not only the first that maps the file. */
  readonly each?: readonly string[];
  /** Of them, those that stop nobody who has mapped one of `unless`. */
  readonly otherwise?: readonly string[];
  readonly unless?: readonly string[];
  /** Of them, those whose functions are left by exceptions: who has mapped one is stopped when what unwinds its stack is mapped behind it, too. */
  readonly throwing?: readonly string[];
}
