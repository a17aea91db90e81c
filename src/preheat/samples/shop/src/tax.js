const RATE = 0.2;

export function taxOf(lines) {
  return lines.reduce((sum, line) => sum + Math.round(line.cents * RATE), 0);
}
