const RATE = 0.2;

export function taxOf(lines) {
  return Math.round(lines.reduce((sum, line) => sum + line.cents, 0) * RATE);
}
