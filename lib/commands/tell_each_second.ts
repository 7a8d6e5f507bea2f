import type { Fact } from "../events/fact.ts";
import type { Means } from "../session/means.ts";
import type { Session } from "../session/session.ts";
import { sideLook } from "../session/side_look.ts";

const EVERY_MS = 1000;

/** Looks at the machine each second, from when the run counts until its end, or until `look` gives null, and tells what is found. */
export function tellEachSecond(session: Session, means: Means, end: Promise<unknown>, look: () => Promise<readonly Fact[] | null>): void {
  let isOver = false;
  void end.then(() => isOver = true);
  const tell = async () => {
    while (!isOver) {
      const facts = await sideLook(look(), []);
      if (isOver || !facts) return;
      for (const fact of facts) session.tell(fact);
      await means.sleep(EVERY_MS);
    }
  };
  void session.counting.then(tell);
}
