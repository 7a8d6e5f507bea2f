/**
 * What is left of several sums where something was taken from the wrong one: none is negative, as long as their total is not. Of that, the first one is.
 */
export function balanced<Key extends string>(left: Readonly<Record<Key, number>>): Record<Key, number> {
  const result: Record<Key, number> = { ...left };
  const keys = Object.keys(left) as Key[];
  let owed = 0;
  for (const key of keys) {
    if (left[key] >= 0) continue;
    owed -= left[key];
    result[key] = 0;
  }
  for (const key of keys) {
    const given = Math.min(result[key], owed);
    result[key] -= given;
    owed -= given;
  }
  if (owed > 0) result[keys[0]!] -= owed;
  return result;
}
