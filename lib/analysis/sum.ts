export function sum(figures: readonly number[]): number {
  return figures.reduce((total, one) => total + one, 0);
}
