// Heat: numbers of nodes and scopes as colors.
import * as format from "./format";
import type { Model } from "./model";

export interface Sum {
  ms: number;
  flops: number;
  bytes: number;
  ideal: number;  // ms at the machine's peak
}

export interface Metric {
  key: string;
  label: string;
  /** undefined: nothing to show. */
  value(sum: Sum): number | undefined;
  text(value: number): string;
}

export const METRICS: Metric[] = [
  {
    key: "time",
    label: "time",
    value: (s) => (s.ms > 0 ? s.ms : undefined),
    text: format.ms,
  },
  {
    key: "flop",
    label: "FLOP",
    value: (s) => (s.flops > 0 ? s.flops : undefined),
    text: format.flop,
  },
  {
    key: "rate",
    label: "GFLOP/s",
    value: (s) => (s.ms > 0 && s.flops > 0 ? s.flops / s.ms / 1e6 : undefined),
    text: (v) => `${v.toFixed(1)} GFLOP/s`,
  },
  {
    key: "bytes",
    label: "bytes",
    value: (s) => (s.bytes > 0 ? s.bytes : undefined),
    text: format.bytes,
  },
  {
    key: "peak",
    label: "times the machine's best",
    value: (s) => (s.ms > 0 && s.ideal > 0 ? s.ms / s.ideal : undefined),
    text: format.times,
  },
];

/** What steps of these nodes of `final` cost together. */
export function sumOf(model: Model, ids: Iterable<number>): Sum {
  const { peak_flops_per_s: flops, peak_bytes_per_s: rate } = model.report.machine;
  const sum: Sum = { ms: 0, flops: 0, bytes: 0, ideal: 0 };
  for (const id of ids) {
    const step = model.step(id);
    if (!step) continue;
    sum.ms += step.ms;
    sum.flops += step.flops;
    sum.bytes += step.bytes;
    sum.ideal += 1000 * Math.max(flops ? step.flops / flops : 0, rate ? step.bytes / rate : 0);
  }
  return sum;
}

// Cividis, sampled: read alike with all kinds of color vision, and in gray.
const SCALE = [[0, 34, 78], [53, 69, 108], [102, 105, 112], [148, 142, 119], [200, 184, 102],
               [254, 232, 56]];

export function heatColor(part: number): string {
  const at = Math.max(0, Math.min(1, part)) * (SCALE.length - 1);
  const i = Math.min(Math.floor(at), SCALE.length - 2);
  const mix = SCALE[i].map((c, k) => Math.round(c + (at - i) * (SCALE[i + 1][k] - c)));
  return `rgb(${mix.join(",")})`;
}

export function inkOn(part: number): string {
  return part > 0.55 ? "#000000" : "#ffffff";
}

/** Where a value lies between the least and the largest, 0..1: by logarithms if they are far apart. */
export function partOf(value: number, least: number, most: number): number {
  if (!(most > least)) return 1;
  if (least > 0 && most / least > 20) {
    return Math.log(value / least) / Math.log(most / least);
  }
  return (value - least) / (most - least);
}
