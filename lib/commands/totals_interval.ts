/** Milliseconds from one sum to the next, unless somebody says otherwise. */
export const INTERVAL_MS = 5000;
