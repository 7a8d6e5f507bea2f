import type { Typed } from "../machine/needs/shell.ts";

/** Where a command speaks to its user; made by main.ts, replaced by a test. */
export interface Terminal {
  /** Standard output: the summary and nothing else. `onUnread`: whoever read it had ended by then, as an interrupted pipe does. */
  out(text: string, onUnread?: () => void): void;
  /** Standard error: progress, warnings, where the files are. */
  err(text: string): void;
  /** Columns of standard output. */
  readonly width: number;
  /** Standard output takes colour. */
  readonly colour: boolean;
  /** Somebody may type Ctrl-Z. */
  readonly typed: boolean;
}

/** What every command gets, with its command line: for a next step to type. */
export interface Context extends Typed {
  readonly terminal: Terminal;
  /** Resolves at the first Ctrl-C, SIGTERM, or SIGHUP (the terminal was closed): a normal end. Only after {@link heedSignals}. */
  readonly interrupted: Promise<void>;
  /** Until this is called a signal kills, as it does any program. Under `nohup` a SIGHUP does nothing. */
  heedSignals(underNohup: boolean): void;
  /** What is to be done when a second Ctrl-C kills: at once, nothing is waited for. */
  atKill(act: () => void): void;
  /** What is told of an error in its place, also of one that nobody waited for. */
  retellFailures(retold: (error: unknown) => unknown): void;
  readonly version: string;
}
