import { setTimeout as pause } from "node:timers/promises";
import { mustRun } from "../harness/command.ts";
import { engineFolder } from "../harness/places.ts";
import { temporary } from "../harness/temporary.ts";
import type { ShapeName } from "../workloads/shapes.ts";
import { PinnedEngine, SETTLED_MS, type Stretch, tokenCost } from "./pinned_engine.ts";

/** What a token cost the traced engine in a stretch: in CPU microseconds, and in tokens of the other one. */
export interface TokenCost {
  microseconds(stretch: Stretch): number;
  relative(stretch: Stretch): number;
}

/**
 * Two engines on the same processors, which compute a token in turn. Probes go into the files of one of them, the other has copies of its own. What
 * neighbours on a shared machine do to caches and memory changes from second to second by several percent, and befalls both alike: what a token
 * costs is told in tokens of the other engine, which were computed between. Pairs of windows differ by a third of what they do without. What tracing itself
 * does to caches and memory befalls both, too, and is not in that: windows.ts tells a token's own time as well.
 */
export class EnginesInTurn implements AsyncDisposable {
  private constructor(readonly traced: PinnedEngine, readonly reference: PinnedEngine, readonly resources: AsyncDisposableStack) {}

  static async start(shape: ShapeName, threads: number): Promise<EnginesInTurn> {
    await using resources = new AsyncDisposableStack();
    const folder = resources.use(temporary());
    const [first, second, engine] = [folder.file("first"), folder.file("second"), folder.file("engine")];
    await mustRun(["mkfifo", first, second]);
    await mustRun(["cp", "--recursive", engineFolder, engine]);
    const traced = resources.use(await PinnedEngine.start(shape, threads, { myTurn: first, otherTurn: second }));
    const reference = resources.use(await PinnedEngine.start(shape, threads, { myTurn: second, otherTurn: first, engine }));
    // Until now both have stood.
    Deno.writeTextFileSync(first, ".");
    await pause(SETTLED_MS);
    return new EnginesInTurn(traced, reference, resources.move());
  }

  /** Ends both, and returns how to reckon what a token cost the traced one. */
  async end(): Promise<TokenCost> {
    this.traced.askToEnd();
    this.reference.askToEnd();
    const [traced, reference] = await Promise.all([this.traced.end(), this.reference.end()]);
    const microseconds = (stretch: Stretch) => tokenCost(stretch, traced);
    return { microseconds, relative: (stretch) => microseconds(stretch) / tokenCost(stretch, reference) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.resources.disposeAsync();
  }
}
