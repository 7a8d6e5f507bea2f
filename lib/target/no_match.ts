import { ExitCode, LlmprofError } from "../events/errors.ts";

/** Nothing that runs is what was asked for; waiting may help. */
export class NoMatch extends LlmprofError {
  constructor(what: string, why: string, next: string) {
    super(ExitCode.usage, what, why, next);
  }
}
