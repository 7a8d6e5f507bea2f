/**
 * A tensor's name without its layer and without the number that ggml gives to nameless ones, so that the same tensor of every layer falls
 * into one row: `ffn_gate-3` → `ffn_gate`, `cache_k_l3 (view)` → `cache_k (view)`, `blk.3.attn_q.weight` → `blk.attn_q.weight`,
 * `node_512` → `node`.
 */
export function tensorKind(name: string): string {
  return name
    .replace(/^(node|leaf)_\d+/, "$1")
    .replace(/^blk\.\d+\./, "blk.")
    .replace(/-\d+(?=$| )/, "")
    .replace(/^(cache_\w+?)_l\d+\b/, "$1");
}
