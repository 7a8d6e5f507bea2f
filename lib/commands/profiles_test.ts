import assert from "node:assert/strict";
import { MAPS_OF_SUMS } from "../machine/needs/surroundings.ts";
import { profiles } from "./profiles.ts";

for (const [name, load] of Object.entries(profiles)) {
  Deno.test(`profiles: '${name}': keys of maps have in the templates as many numbers as their probes say`, async () => {
    for (const { name, template, maps, sums } of (await load()).probes) {
      for (const [map, { key }] of Object.entries({ ...maps, ...sums })) {
        const used = [...template.matchAll(new RegExp(`@${map}\\[([^\\]]*)\\]`, "g"))].map(([, numbers]) => numbers!.split(","));
        assert.ok(used.length > 0, `${name}: @${map}`);
        for (const numbers of used) {
          assert.equal(numbers.length, key.length, `${name}: @${map}[${numbers}]`);
          assert.equal(/^\$?(pid|of)$/.test(numbers[0]!), key[0] === "pid", `${name}: @${map}[${numbers}]`);
        }
      }
    }
  });
}

Deno.test("profiles: `io` has as many maps of sums as doctor reckons with", async () => {
  const unasked = (await profiles.io!()).probes.filter(({ asked }) => asked === undefined);
  assert.equal(unasked.flatMap(({ maps, sums }) => Object.keys({ ...maps, ...sums })).length, MAPS_OF_SUMS);
});
