// Numbers as text.

export function ms(value: number): string {
  if (value === 0) return "0 ms";
  if (value < 0.001) return `${(value * 1e6).toFixed(0)} ns`;
  if (value < 1) return `${(value * 1000).toFixed(value < 0.01 ? 2 : 1)} µs`;
  return `${value.toFixed(value < 100 ? 2 : 1)} ms`;
}

function scaled(value: number, units: string[], step: number): string {
  let unit = 0;
  while (value >= step && unit + 1 < units.length) {
    value /= step;
    ++unit;
  }
  const digits = unit === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${units[unit]}`;
}

export function bytes(value: number): string {
  return scaled(value, ["B", "KiB", "MiB", "GiB", "TiB"], 1024);
}

export function flop(value: number): string {
  return scaled(value, ["FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP"], 1000);
}

export function rate(perSecond: number, unit: string): string {
  return `${(perSecond / 1e9).toFixed(perSecond < 1e11 ? 1 : 0)} G${unit}/s`;
}

export function percent(part: number): string {
  return `${(100 * part).toFixed(part < 0.1 ? 1 : 0)} %`;
}

export function times(value: number): string {
  return `${value.toFixed(value < 10 ? 1 : 0)}×`;
}

export function count(n: number, what: string): string {
  return `${n} ${n === 1 ? what : /(s|x|ch)$/.test(what) ? `${what}es` : `${what}s`}`;
}

/** A short number for tables. */
export function number(value: number | null): string {
  return value === null ? "-" : Math.abs(value) < 1e-3 && value !== 0 ? value.toExponential(2)
                                                                      : String(+value.toPrecision(5));
}
