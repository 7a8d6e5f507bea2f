import { ExitCode, LlmprofError } from "../events/errors.ts";
import type { Fact } from "../events/fact.ts";
import { placesThousands } from "../machine/bpftrace.ts";
import { streamOf } from "../session/library_groups.ts";
import type { Means } from "../session/means.ts";
import type { Session } from "../session/session.ts";
import { isContinuedEarly } from "../session/standing.ts";
import { sideLook } from "../session/side_look.ts";
import { targetEnded } from "../session/target_ended.ts";
import { clientOf, WATCH_WHAT_IT_ASKS_FOR } from "../target/clients.ts";
import { hasOperators } from "../target/engine.ts";
import { hasEnded } from "../target/process.ts";
import type { Profile } from "./profile.ts";

/** A profile without the stream that it lives on is no profile. */
export async function checkSeen(
  { name, engine, requires }: Pick<Profile<unknown>, "name" | "engine" | "requires">,
  session: Session,
  means: Means,
  computesWith: string | null,
  facts: readonly Fact[],
): Promise<void> {
  const { timeline, options: { target, again, probes } } = session;
  const received = [...timeline?.tallies.values() ?? []].reduce((n, tally) => n + tally.received, 0);
  if (timeline && received === 0 && !again && target.type === "running" && await isGone(means, target.pid)) throw targetEnded(target.pid);
  const required = requires?.find(({ probe }) => probes.includes(probe));
  if (!timeline || !required || [required.probe, required.or].some((probe) => probe && session.attachedStreams.has(streamOf(probe)))) return;
  const unseen = (why: string, next: string) => new LlmprofError(ExitCode.failed, `${required.what} was never seen in the target.`, why, next);
  if (!hasOperators(computesWith)) {
    throw unseen(`It computes with ${computesWith}, which llmprof sees from outside alone.`, "Try: llmprof coldstart, io, sched or gpu");
  }
  const exit = facts.find((fact) => fact.fact === "exit");
  if (exit && exit.code !== 0) {
    throw unseen(
      `The program ended with ${exit.signal ?? `code ${exit.code}`} before it mapped the library.`,
      "Read what it has said above, and make it run without llmprof first.",
    );
  }
  if (facts.some(isContinuedEarly)) {
    throw unseen(
      "It stood for llmprof to attach, and was continued by another before that was done.",
      "See the note on who that was, and run it again without that one, or with fewer at work on this machine.",
    );
  }
  const client = target.type === "launched" ? clientOf(target.argv[0]!) : null;
  if (client !== null) {
    throw unseen(
      `What ${client} asks for runs under another process, which is none of its children.`,
      `Start it without llmprof, and watch what it asks for: ${WATCH_WHAT_IT_ASKS_FOR}`,
    );
  }
  const how = placesThousands(means.machine.bpftrace!)
    ? "is seen at --detail op, without --learn."
    : "is traced, with this bpftrace, while it runs: --pid N";
  const inside = required.probe.library?.inside
    ? " Where it is linked into a library of another name (`lib…`), attach while it runs: --pid N; into a program that was stripped, it is found by the " +
      "program's debug file (/usr/lib/debug/.build-id)."
    : "";
  // It has mapped what such libraries come with.
  const until = session.attachedStreams.size > 0 ? "it came to compute, or before probes were attached to that" : "it mapped the library";
  throw unseen(
    `${exit ? "It ended" : "It ended, or was left,"} before ${until}.`,
    `Check that this is the process that computes${exit ? "" : ", and give it more time"}.${
      name === "operators" && !engine ? ` One that uses PyTorch ${how}` : ""
    }${inside}`,
  );
}

/** What fails because its target is gone is explained by that. */
export async function whyGone(error: unknown, pid: number | undefined | null, means: Means): Promise<unknown> {
  return pid && await isGone(means, pid) ? targetEnded(pid, error) : error;
}

/** As far as can be looked: what it explains is told all the same. */
function isGone({ files }: Means, pid: number): Promise<boolean> {
  return sideLook(hasEnded(files, pid), false);
}
