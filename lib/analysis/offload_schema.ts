import * as z from "zod";

const count = z.int().nonnegative();

/** Calls of one kind: what they moved, and how long they took. */
const sumSchema = z.object({ calls: count, bytes: z.number(), ns: z.number() });

const sumsSchema = z.object({ prefill: sumSchema, decode: sumSchema, other: sumSchema });

/**
 * What ggml's scheduler has each device do. A device other than the CPU may go on behind the call that asks it: its time is in `computed` as far as that
 * call waited, otherwise in `waited` and in what is read from it.
 */
export const offloadSchema = z.object({
  devices: z.array(z.object({
    /** As ggml calls it, `Vulkan0`; without a number where that was not seen. */
    name: z.string(),
    /** Layers most of whose products it computes. */
    layers: z.array(count),
    /** It computes the logits: llama.cpp counts that as one more layer. */
    output: z.boolean(),
    /** Parts of graphs that it computed, and nodes in them. */
    splits: count,
    nodes: count,
    /** Of these nodes, by operator: those that were told of. */
    operators: z.array(z.object({ name: z.string(), nodes: count })),
    computed: sumsSchema,
    waited: sumsSchema,
    moved: sumsSchema,
  })),
  /**
   * By kind of tensor, most bytes first: to a device, from the host or another device, or from one. `time`: what calls took it for; asked for, a copy is
   * made behind the call.
   */
  copies: z.array(sumSchema.extend({
    device: z.string(),
    way: z.enum(["to", "from"]),
    name: z.string(),
    time: z.enum(["copying", "asking", "computing, too"]),
    ...sumsSchema.shape,
  })),
  /** Nodes of a layer that another device computed than the layer's, in one graph; of products `ofCache`: of keys and values, not of weights. */
  elsewhere: z.array(z.object({ operator: z.string(), device: z.string(), nodes: count, ofCache: z.boolean().optional() })),
  /** Of parts of graphs: nodes that were not told of, so that layers may be missing. */
  untoldNodes: count,
});

export type OffloadResult = z.infer<typeof offloadSchema>;
