// The memory plan and the timeline of a run, as charts.
import type { Bar, ChartData } from "./chart";
import { shown } from "./dom";
import * as format from "./format";
import type { Model } from "./model";
import { opTitle } from "./scene";
import type { PlanStep } from "./types";

function fillOf(step: PlanStep | undefined): string {
  return step === undefined ? "input" : step.accelerated ? "accelerated" : step.reason ? "reference" : "planning";
}

export function memoryChart(model: Model): ChartData | null {
  const { memory, steps } = model.report;
  if (!memory || !steps) return null;
  const bars = memory.items.map((item): Bar => {
    const step = item.first >= 0 ? steps[item.first] : undefined;
    const id = item.node ?? step?.node ?? null;
    const title = item.name ?? (id !== null ? model.history.all.get(id)?.name : step?.name) ?? "input";
    const label = (item.scratch ? "scratch of " : "") + model.short(title);
    const until = Math.min(item.last, steps.length - 1);
    return {
      x0: Math.max(item.first, 0), x1: Math.max(until, item.first, 0) + 1,
      y0: item.offset, y1: item.offset + item.bytes, id,
      fill: item.scratch ? "constant" : fillOf(step), label,
      text: `${shown(label, 200)}: ${format.bytes(item.bytes)} at offset ${item.offset}, steps ` +
            `${Math.max(item.first, 0)} to ${until}`,
    };
  });
  bars.sort((a, b) => a.x0 - b.x0 || a.y0 - b.y0);
  const saved = memory.unshared_bytes > 0 ? 1 - memory.arena_bytes / memory.unshared_bytes : 0;
  return {
    title: `${format.count(bars.length, "tensor")} in an arena of ${format.bytes(memory.arena_bytes)}; without sharing ` +
           `${format.bytes(memory.unshared_bytes)} (${format.percent(saved)} saved)`,
    bars,
    x: { least: 0, most: Math.max(1, steps.length), label: "step", text: (v) => String(Math.round(v)) },
    y: { least: 0, most: Math.max(1, memory.arena_bytes), label: "offset in the arena", text: format.bytes, binary: true },
  };
}

/** Without a recorded run, the steps' times laid end to end. */
export function timelineChart(model: Model): ChartData | null {
  const { steps, timeline } = model.report;
  if (!steps || (!timeline && model.totalMs === 0)) return null;
  let events = timeline?.events;
  if (!events) {
    let at = 0;
    events = steps.map((s, i): [number, number, number, number] => {
      const start = at;
      at += 1000 * s.ms;
      return [i, start, 1000 * s.ms, 0];
    });
  }
  const end = events.reduce((most, [, start, took]) => Math.max(most, start + took), 1e-3);
  const lanes = events.reduce((most, e) => Math.max(most, e[3] + 1), 1);
  const bars = events.map(([i, start, took, lane]): Bar => {
    const step = steps[i];
    return {
      x0: start, x1: start + took, y0: lanes - 1 - lane + 0.1, y1: lanes - lane - 0.1, id: step.node,
      fill: fillOf(step), label: opTitle(step.op),
      text: `${shown(opTitle(step.op), 60)} ${shown(model.short(step.name), 200)}: ${format.ms(took / 1000)} from ` +
            `${format.ms(start / 1000)}, ${shown(step.implementation, 60)}`,
    };
  });
  return {
    title: `${format.count(bars.length, "step")} in ${format.ms(end / 1000)}` +
           (timeline ? ", one run" : ", times of the steps laid end to end"),
    bars,
    x: { least: 0, most: end, label: "time", text: (v) => format.ms(v / 1000) },
    y: { least: 0, most: lanes, label: lanes > 1 ? "threads" : "", text: (v) => (lanes > 1 && v % 1 === 0 && v < lanes ? String(lanes - 1 - v) : "") },
  };
}
