import { readPressure } from "../machine/pressure.ts";
import type { Means } from "../session/means.ts";
import type { Session } from "../session/session.ts";

const PRESSURE_MS = 1000;

/** What the kernel says of pressure, each second of a run that adds up. */
export function tellPressure(session: Session, means: Means, end: Promise<unknown>): void {
  let isOver = false;
  void end.then(() => isOver = true);
  const tell = async () => {
    while (!isOver) {
      const pressure = await readPressure(means.files);
      if (isOver) return;
      session.tell({ fact: "pressure", pressure });
      await Promise.race([means.sleep(PRESSURE_MS), end]);
    }
  };
  void session.counting.then(tell);
}
