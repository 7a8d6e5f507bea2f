/** Looks again and again, for half a minute at most; whether it came true. */
export async function until(condition: () => Promise<boolean>): Promise<boolean> {
  for (let i = 0; i < 1500; i++) {
    if (await condition()) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}
