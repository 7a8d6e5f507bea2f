/** A small generator of our own, so that a seed gives the same model everywhere: xorshift over 32 bits (Marsaglia, 2003). */
export function xorshift(seed: number): () => number {
  // Spread small seeds over all bits first: xorshift stays near zero for long after a seed such as 1.
  let state = Math.imul(seed + 0x9e3779b9, 0x85ebca6b) | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

/**
 * Blocks of Q4_0 with random nibbles and one small scale. Their number is prime and about 1 MB: rows of a matrix that is filled by
 * repeating them begin at ever different blocks, so that no two rows, and thus no two logits, are alike.
 */
export function randomQ4(next: () => number): Uint8Array {
  const blocks = 58_237;
  const bytes = new Uint8Array(blocks * 18);
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < bytes.length; at += 18) {
    view.setUint16(at, 0x1d00, true); // 0.0049 in half precision: a weight's deviation is then 0.022
    for (let word = 2; word < 18; word += 4) view.setUint32(at + word, next(), true);
  }
  return bytes;
}

/** Single-precision numbers, even over -0.1 … 0.1; as many as a prime, for the same reason. */
export function randomF32(next: () => number): Uint8Array {
  const values = new Float32Array(65_537);
  for (let at = 0; at < values.length; at++) values[at] = (next() / 2 ** 32 - 0.5) / 5;
  return new Uint8Array(values.buffer);
}
