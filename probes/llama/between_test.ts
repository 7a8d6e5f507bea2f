import assert from "node:assert/strict";
import { Decoding } from "../../tests/harness/decoding.ts";
import { between } from "./between.ts";

Deno.test("between: text to tokens and back, with what went in and what came out", () => {
  const d = new Decoding(between);
  d.event(10, "llama/between.tokenize", { bytes: 31 });
  d.event(12, "llama/between.detokenize", { tokens: 5 }, "100/101");
  d.event(15, "llama/between.tokenize_return", { tokens: 7 });
  d.event(16, "llama/between.detokenize_return", { bytes: -40 }, "100/101");
  d.event(20, "llama/between.piece");
  d.event(21, "llama/between.piece_return", { bytes: 3 });
  assert.deepEqual(d.end(30), [
    '100/100 llama.tokenize "llama_tokenize" 10–15 bytes=31 tokens=7',
    '100/101 llama.detokenize "llama_detokenize" 12–16 tokens=5 wanted=40',
    '100/100 llama.detokenize "llama_token_to_piece" 20–21 bytes=3',
  ]);
});

Deno.test("between: a function of state that calls another one is one call, and what never ends is drawn as far as it was seen", () => {
  const d = new Decoding(between);
  d.event(10, "llama/between.save");
  d.event(11, "llama/between.save");
  d.event(14, "llama/between.save_return");
  d.event(15, "llama/between.save_return");
  d.event(16, "llama/between.restore_return");
  d.event(20, "llama/between.restore");
  assert.deepEqual(d.end(30), [
    '100/100 llama.save "llama_state_get_data" 10–15',
    '100/100 llama.restore "llama_state_set_data" 20–30 (open)',
  ]);
});

Deno.test("between: what is done to the cache says to which sequence and positions", () => {
  const d = new Decoding(between);
  d.event(10, "llama/between.clear");
  d.event(11, "llama/between.seq_rm", { sequence: 2, from: 5, to: -1 });
  d.event(12, "llama/between.seq_cp", { sequence: 0, into: 3, from: -1, to: 9 });
  d.event(13, "llama/between.seq_keep", { sequence: 3 });
  d.event(14, "llama/between.seq_add", { sequence: 0, from: 9, to: -1, by: -4 });
  d.event(15, "llama/between.seq_div", { sequence: 0, from: 0, to: 8, by: 2 });
  // Of libraries that have no other names for these.
  d.event(16, "llama/between.defrag");
  d.event(17, "llama/between.update");
  assert.deepEqual(d.end(30), [
    '100/100 llama.memory "llama_memory_clear" 10',
    '100/100 llama.memory "llama_memory_seq_rm" 11 sequence=2 from=5 to=-1',
    '100/100 llama.memory "llama_memory_seq_cp" 12 sequence=0 into=3 from=-1 to=9',
    '100/100 llama.memory "llama_memory_seq_keep" 13 sequence=3',
    '100/100 llama.memory "llama_memory_seq_add" 14 sequence=0 from=9 to=-1 by=-4',
    '100/100 llama.memory "llama_memory_seq_div" 15 sequence=0 from=0 to=8 by=2',
    '100/100 llama.memory "llama_kv_self_defrag" 16',
    '100/100 llama.memory "llama_kv_self_update" 17',
  ]);
});
