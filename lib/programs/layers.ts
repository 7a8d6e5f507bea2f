/** What `record` can put on one timeline, in the order in which it is told: each is a command of its own. */
export const layers = ["coldstart", "operators", "gpu", "io", "sched"] as const;
export type Layer = typeof layers[number];

/** Unless somebody says otherwise. */
export const usualLayers: readonly Layer[] = ["operators", "io", "sched"];
