/** A promise that stays pending, and how often somebody began to wait for it: so much is kept with it. */
export function pending(): { readonly promise: Promise<never>; readonly waits: number } {
  const promise = new Promise<never>(() => {});
  let waits = 0;
  promise.then = () => {
    waits++;
    return promise;
  };
  return {
    promise,
    get waits() {
      return waits;
    },
  };
}
