import type { Analysis } from "../analysis/analysis.ts";
import type { OperatorsResult } from "../analysis/operators_schema.ts";
import { presentOperators } from "../analysis/operators_present.ts";
import { presentTorch } from "../analysis/torch_present.ts";
import type { TorchResult } from "../analysis/torch_schema.ts";
import { operatorsProfile } from "./operators.ts";
import { streamOf } from "../session/library_groups.ts";
import { shapes } from "../../probes/torch/shapes.ts";
import type { Profile } from "./profile.ts";
import { everyOperator, torchProfile } from "./torch.ts";

const TORCH = streamOf(everyOperator);
const GGML = operatorsProfile.probes.flatMap((probe) => probe.library ? streamOf(probe) : []);

type Result = OperatorsResult | TorchResult;

/** Of a program that has not begun: what it computes with is seen when it loads that. One that uses both is asked for its tokens. */
export const anyEngineProfile: Profile<Result> = {
  name: "operators",
  engine: "any",
  probes: [...operatorsProfile.probes, everyOperator, shapes],
  waits: false,
  requires: operatorsProfile.requires!.map(({ probe, what }) => ({ probe, or: everyOperator, what: `${what}, or PyTorch (libtorch_cpu.so),` })),
  analyse(header): Analysis<Result> {
    const [ggml, torch] = [operatorsProfile.analyse(header), torchProfile.analyse(header)];
    const loaded = new Set<string>();
    return {
      span(span) {
        if (span.type === "mark" && span.kind === "window") loaded.add(span.stream);
        if (span.type !== "slice" || span.category !== "torch.op") ggml.span(span);
        if (span.type !== "slice" || span.category === "torch.op" || span.category === "llmprof.stopped") torch.span(span);
      },
      result() {
        const tokens = ggml.result(), operators = torch.result();
        if (tokens.tokens.prefillCalls + tokens.tokens.decodeCalls > 0) return tokens;
        return operators.operators.length > 0 || (loaded.has(TORCH) && !GGML.some((stream) => loaded.has(stream))) ? operators : tokens;
      },
    };
  },
  told: operatorsProfile.told!,
  present: (result) => "engine" in result ? presentTorch(result) : presentOperators(result),
};
