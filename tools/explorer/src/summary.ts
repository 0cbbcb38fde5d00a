// Tables: what runs where, what the rules did, what almost fused, what to try; and, with two models, how
// they differ.
import { h, name, shown } from "./dom";
import type { Filter } from "./filters";
import * as format from "./format";
import type { Model } from "./model";
import { opTitle } from "./scene";
import type { Comparison, FinalNode } from "./types";

type Cell = string | Node;

function table(title: string, heads: string[], rows: Cell[][], id: string): HTMLElement {
  if (rows.length === 0) return h("section", {}, h("h3", {}, title), h("p", { class: "quiet" }, "none"));
  return h("section", {}, h("h3", { id }, title),
           h("div", { class: "scroll", tabindex: 0, role: "region", "aria-labelledby": id },
             h("table", {},
               h("thead", {}, h("tr", {}, ...heads.map((t) => h("th", { scope: "col" }, t)))),
               h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map((c, i) =>
                 h("td", { class: i > 0 && typeof c === "string" && /^[-\d]/.test(c) ? "num" : "" }, c))))))));
}

function tally<T>(items: Iterable<T>, key: (item: T) => string): Map<string, T[]> {
  const found = new Map<string, T[]>();
  for (const item of items) {
    const k = key(item);
    const same = found.get(k);
    if (same) same.push(item);
    else found.set(k, [item]);
  }
  return found;
}

/** The counts of `tenon dump --stats`. */
export function counts(model: Model): { accelerated: number; alias: number; planning: number; left: number } {
  const of = (test: (f: FinalNode) => boolean) => model.report.final.filter(test).length;
  return {
    accelerated: of((f) => f.work === "runs" && f.accelerated),
    alias: of((f) => f.work === "alias"),
    planning: of((f) => f.work === "planning"),
    left: of((f) => f.work === "runs" && !f.accelerated),
  };
}

export function summaryView(model: Model, filter: (f: Filter) => void,
                            select: (id: number) => void): HTMLElement {
  const { report } = model;
  const button = (text: string, f: Filter) => h("button", { class: "link", click: () => filter(f) }, name(text, 80));
  const c = counts(model);
  const m = report.machine;
  const before = tally(report.loaded, (n) => opTitle(n.op));
  const after = tally(report.final, (f) => opTitle(f.op));
  const ops = [...new Set([...before.keys(), ...after.keys()])]
    .sort((a, b) => (before.get(b)?.length ?? 0) + (after.get(b)?.length ?? 0) - (before.get(a)?.length ?? 0) - (after.get(a)?.length ?? 0));
  const fired = new Map<string, number>();
  for (const p of report.phases) for (const r of p.rules) fired.set(r.rule, (fired.get(r.rule) ?? 0) + r.fired);
  const steps = report.steps ?? [];
  const where = [...tally(steps, (s) => `${opTitle(s.op)}, ${s.implementation}`)]
    .map(([key, of]) => ({ key, of, ms: of.reduce((t, s) => t + s.ms, 0), flops: of.reduce((t, s) => t + s.flops, 0) }))
    .sort((a, b) => b.ms - a.ms || b.flops - a.flops);
  const left = tally(report.final.filter((f) => f.reason), (f) => `${f.op}\n${f.reason!.text}`);
  const title = report.model.source.split("/").slice(-3).join("/");
  const share = (part: number, all: number) => (all > 0 ? format.percent(part / all) : "-");
  return h("div", { class: "summary", tabindex: 0, role: "region", "aria-label": `Summary of ${shown(model.title)}` },
    h("h2", {}, name(model.title, 200)),
    h("p", {}, name(title, 300), `, ${shown(m.cpu)}, ${format.count(m.threads, "thread")}, ${shown(m.precision)}. `,
      report.inputs ? `Inputs: ${shown(report.inputs.map((i) => `${i.name}=[${i.shape.join(",")}]`).join(" "))}. ` : "",
      report.profile ? `${format.ms(report.profile.ms)} a run, over ${format.count(report.profile.runs, "run")}.` : "Not run: no times."),
    report.planning ? h("p", { class: "note" }, `No plan: ${shown(report.planning, 1000)}`) : null,
    h("p", { id: "counts" }, `${report.loaded.length} nodes as loaded, ${report.final.length} after rewriting: ` +
      `${c.accelerated} nodes accelerated, ${c.alias} only pass memory on, ${c.planning} are computed while planning, ${c.left} left on reference kernels.`),
    table("What to try first", ["What", "Why", "Saves"], report.advice.map((a) =>
      [name(a.what, 400), name(a.why, 600), a.saves_ms > 0 ? format.ms(a.saves_ms) : "-"]), "t-try"),
    table("What runs where", ["Op, implementation", "Nodes", "Time", "Share", "FLOP", "GFLOP/s"], where.map((w) =>
      [button(w.key, { kind: "op", value: opTitle(w.of[0].op) }), String(w.of.length), w.ms > 0 ? format.ms(w.ms) : "-", share(w.ms, model.totalMs),
       share(w.flops, model.totalFlops), w.ms > 0 && w.flops > 0 ? (w.flops / w.ms / 1e6).toFixed(1) : "-"]), "t-where"),
    table("Left on reference kernels", ["Op", "Nodes", "Why"], [...left.values()].map((of) =>
      [button(of[0].op, { kind: "op", value: opTitle(of[0].op) }), String(of.length), name(of[0].reason!.text, 1000)]), "t-left"),
    table("Almost fused", ["Rule", "At", "Reason", "Saves"], report.near_misses.slice(0, 200).map((n) =>
      [button(n.rule, { kind: "almost", value: "" }), link(model, n.now[0] ?? model.find(n.at), n.at, select), name(n.reason.text, 1000),
       n.saves_ms > 0 ? format.ms(n.saves_ms) : "-"]), "t-almost"),
    table("Rules", ["Rule", "Fired"], [...fired].sort((a, b) => b[1] - a[1]).map(([rule, n]) =>
      [button(rule, { kind: "rule", value: rule }), String(n)]), "t-rules"),
    table("Ops", ["Op", "As loaded", "After rewriting"], ops.map((op) =>
      [button(op, { kind: "op", value: op }), String(before.get(op)?.length ?? 0), String(after.get(op)?.length ?? 0)]), "t-ops"),
  );
}

function link(model: Model, id: number | undefined | null, title: string, select: (id: number) => void): HTMLElement {
  if (id === undefined || id === null) return name(model.short(title), 160);
  return h("button", { class: "link", click: () => select(id) }, name(model.short(title), 160));
}

export function differencesView(a: Model, b: Model, comparison: Comparison,
                                select: (model: Model, id: number) => void): HTMLElement {
  const cell = (model: Model, id: number | null) =>
    id === null ? null : link(model, id, model.history.all.get(id)?.name ?? String(id), (i) => select(model, i));
  const both = (one: number | null, other: number | null): Node => {
    const first = cell(a, one), second = cell(b, other);
    if (!first || !second) return first ?? second ?? h("span", {}, "-");
    return first.textContent === second.textContent ? first : h("span", {}, first, " / ", second);
  };
  return h("div", { class: "summary differ", tabindex: 0, role: "region", "aria-label": "Differences" },
    h("h2", {}, "Differences"),
    ...comparison.summary.map((s) => h("p", {}, name(s, 1000))),
    table("Nodes that differ", ["Node", shown(a.title, 60), shown(b.title, 60), "Marks", "What"],
          comparison.rows.slice(0, 1000).map((r) =>
            [both(r.a, r.b), r.a_ms > 0 ? format.ms(r.a_ms) : "-", r.b_ms > 0 ? format.ms(r.b_ms) : "-",
             shown(r.marks.join(", ").replace(/_/g, " ")), name(r.text, 600)]), "t-differ"));
}
