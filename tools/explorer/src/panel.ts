// The side panel: everything known of the selected node or scope.
import { h, name, replace, shown } from "./dom";
import * as format from "./format";
import { sumOf } from "./metrics";
import type { Model } from "./model";
import { opTitle, scopeOfKey } from "./scene";
import type { NodeRecord, PlanStep, Reason, Weights } from "./types";

const MOST_NAMES = 40;
const WORK = { runs: "runs", holds: "holds a value", planning: "computed while planning",
               alias: "only passes memory on" };

export interface PanelEvents {
  select(model: Model, id: number): void;
  filterScope(scope: string): void;
  say(text: string): void;
}

type Row = [string, Node | string | null | undefined];

function facts(rows: Row[]): HTMLElement {
  const list = h("dl");
  for (const [term, what] of rows) {
    if (what) list.append(h("dt", {}, term), h("dd", {}, what));
  }
  return list;
}

function section(title: string, ...children: (Node | null)[]): HTMLElement {
  return h("section", {}, h("h3", {}, title), ...children);
}

export class Panel {
  constructor(private readonly root: HTMLElement, private readonly events: PanelEvents) {}

  nothing(): void {
    replace(this.root, h("h2", {}, "Nothing selected"),
            h("p", {}, "Point at a node, click it, or search for it. Double-click a scope to open or close it."));
  }

  private link(model: Model, id: number): HTMLElement {
    const node = model.history.all.get(id);
    const text = node ? model.short(node.name) : String(id);
    return h("button", { class: "link", click: () => this.events.select(model, id) }, name(text, 160));
  }

  private links(model: Model, ids: number[]): HTMLElement {
    const list = h("ul", { class: "plain" },
                   ...ids.slice(0, MOST_NAMES).map((id) => {
                     const node = model.history.all.get(id);
                     return h("li", {}, h("b", {}, name(node ? opTitle(node.op) : "", 40)), " ", this.link(model, id));
                   }));
    if (ids.length > MOST_NAMES) list.append(h("li", { class: "quiet" }, `and ${ids.length - MOST_NAMES} more`));
    return list;
  }

  private copy(text: string, what: string): HTMLElement {
    const button = h("button", { class: "copy", click: async () => {
      try {
        await navigator.clipboard.writeText(text);
      } catch {  // not allowed from files in some browsers
        const area = h("textarea", { "aria-label": "Text to copy" });
        area.value = text;
        button.after(area);
        area.select();
        document.execCommand("copy");
        area.remove();
        button.focus();
      }
      this.events.say(`${what} copied`);
    } }, `Copy ${what}`);
    return button;
  }

  scope(model: Model, state: number, key: number): void {
    const index = scopeOfKey(key);
    const { scopes } = model.layout;
    const scope = scopes[index];
    const within = scopes.map(() => false);
    scopes.forEach((s, i) => (within[i] = i === index || (s.parent >= 0 && within[s.parent])));
    const ids: number[] = [];
    const graph = model.history.at(state);
    for (const [id, s] of model.scopeOf) if (s >= 0 && within[s] && graph.has(id)) ids.push(id);
    const finals = new Set(ids.flatMap((id) => model.becomes(id).map((f) => f.id)));
    const sum = sumOf(model, finals);
    const ops = new Map<string, number>();
    for (const id of ids) ops.set(opTitle(graph.get(id)!.op), (ops.get(opTitle(graph.get(id)!.op)) ?? 0) + 1);
    const most = [...ops].sort((a, b) => b[1] - a[1]).slice(0, 12);
    replace(this.root, h("h2", {}, "Scope ", name(scope.name)),
            facts([["Nodes here", String(ids.length)], ...this.costs(model, sum)]),
            h("button", { click: () => this.events.filterScope(scope.name) }, "Show only this scope"),
            section("Ops", facts(most.map(([op, n]) => [shown(op, 60), String(n)]))));
  }

  private costs(model: Model, sum: { ms: number; flops: number; bytes: number; ideal: number }): Row[] {
    const share = model.totalMs > 0 ? ` (${format.percent(sum.ms / model.totalMs)})` : "";
    return [
      ["Time", sum.ms > 0 ? format.ms(sum.ms) + share : null],
      ["Work", sum.flops > 0 ? format.flop(sum.flops) : null],
      ["Rate", sum.ms > 0 && sum.flops > 0 ? format.rate((sum.flops / sum.ms) * 1000, "FLOP") : null],
      ["Bytes", sum.bytes > 0 ? format.bytes(sum.bytes) +
        (sum.ms > 0 ? `, ${format.rate((sum.bytes / sum.ms) * 1000, "B")}` : "") : null],
      ["Against the machine's best", sum.ms > 0 && sum.ideal > 0 ? format.times(sum.ms / sum.ideal) : null],
    ];
  }

  node(model: Model, state: number, id: number, marks: string[], note: string): void {
    const node = model.history.at(state).get(id) ?? model.history.all.get(id)!;
    const final = model.final.get(id);
    const step = model.step(id);
    const became = model.becomes(id).filter((f) => f.id !== id);
    const gone = !model.history.at(state).has(id);
    const loaded = new Set(model.report.loaded.map((n) => n.id));
    const origins = model.history.members(id, Math.max(state, 0)).filter((m) => m !== id && loaded.has(m));
    const names = (origins.length > 0 ? [...(loaded.has(id) ? [id] : []), ...origins] : [id])
      .map((m) => model.history.all.get(m)!.name);
    replace(
      this.root,
      h("h2", {}, name(opTitle(node.op), 80)),
      h("p", { class: "name" }, name(model.short(node.name), 2000)),
      gone ? h("p", { class: "note" }, "Not in the graph in this state.") : null,
      marks.length > 0 ? h("p", { class: "note" }, `Marked: ${marks.join(", ")}. ${shown(note)}`) : null,
      h("p", {}, this.copy(node.name, "name"), " ", this.copy(names.join("\n"), names.length > 1 ? `${names.length} source names` : "source name")),
      final ? this.verdict(model, final, step) : null,
      became.length > 0 ? section("Becomes", this.links(model, became.map((f) => f.id))) : null,
      final || !gone ? this.weights(model.weights.get(id)) : null,
      final?.outputs?.some(Boolean)
        ? section("Outputs", facts(final.outputs.map((o, i) => [String(i), shown(o)]))) : null,
      this.inputs(model, node),
      this.readers(model, state, id),
      Object.keys(node.attrs).length > 0
        ? section("Attributes", facts(Object.entries(node.attrs).map(([k, v]) => [shown(k, 60), name(v, 600)]))) : null,
      origins.length > 0 ? section(`Computes ${format.count(origins.length, "loaded node")}`, this.links(model, origins)) : null,
      this.story(model, id),
      this.rules(model, id),
    );
  }

  private verdict(model: Model, final: { work: keyof typeof WORK; accelerated: boolean; op: string; reason: Reason | null; id: number },
                  step: PlanStep | undefined): HTMLElement {
    const sum = sumOf(model, [final.id]);
    return section("In the plan", facts([
      ["Work", WORK[final.work] ?? final.work],
      ["Op", name(final.op, 80)],
      ["Kernel", step ? name(step.implementation, 80) : null],
      ["Runs", step ? (step.accelerated ? "accelerated" : step.dynamic ? "prepared while running" : "reference kernel") : null],
      ["Device", step?.device ? name(step.device, 60) : null],
      ["Limited by", step ? shown(step.limit) : null],
      ["Reason", final.reason ? name(final.reason.text, 2000) : null],
      ["To change", final.reason?.change ? name(final.reason.change, 600) : null],
      ...this.costs(model, sum),
    ]));
  }

  private weights(w: Weights | undefined): HTMLElement | null {
    if (!w) return null;
    const n = w.shape.reduce((a, b) => a * b, 1);
    const most = Math.max(1, ...w.histogram);
    const bars = h("div", { class: "bars", role: "img", "aria-label":
      `histogram from ${format.number(w.min)} to ${format.number(w.max)}: ${w.histogram.join(", ")}` });
    for (const c of w.histogram) {
      const bar = h("span");
      bar.style.height = `${Math.max(c > 0 ? 2 : 0, (100 * c) / most)}%`;
      bars.append(bar);
    }
    return section("Weights", facts([
      ["Shape", `${shown(w.dtype, 40)}[${w.shape.join(",")}]`],
      ["Size", format.bytes(w.bytes)],
      ["Range", `${format.number(w.min)} … ${format.number(w.max)}`],
      ["Mean, deviation", `${format.number(w.mean)}, ${format.number(w.std)}`],
      ["Zeros", `${w.zeros} of ${n}`],
      ["Not finite", w.nonfinite > 0 ? String(w.nonfinite) : null],
    ]), w.histogram.length > 0 ? bars : null);
  }

  private inputs(model: Model, node: NodeRecord): HTMLElement | null {
    if (node.inputs.length + node.controls.length === 0) return null;
    const row = (id: number, what: string) => {
      const from = model.history.all.get(id);
      const w = model.weights.get(id);
      const shape = w ? `${w.dtype}[${w.shape.join(",")}]` : model.final.get(id)?.outputs?.[0] ?? from?.attrs["value"] ?? "";
      return h("li", {}, h("span", { class: "quiet" }, what), " ", h("b", {}, name(from ? opTitle(from.op) : "?", 40)), " ",
               this.link(model, id), shape ? h("span", { class: "quiet" }, " ", name(shape, 80)) : null);
    };
    return section("Inputs", h("ul", { class: "plain" },
                               ...node.inputs.slice(0, MOST_NAMES).map(([id, port], i) => row(id, port ? `${i} (port ${port})` : String(i))),
                               ...node.controls.slice(0, MOST_NAMES).map((id) => row(id, "control"))));
  }

  private readers(model: Model, state: number, id: number): HTMLElement | null {
    const readers: number[] = [];
    for (const other of model.history.at(state).values()) {
      if (other.inputs.some(([from]) => from === id) || other.controls.includes(id)) readers.push(other.id);
    }
    return readers.length > 0 ? section("Readers", this.links(model, readers)) : null;
  }

  private story(model: Model, id: number): HTMLElement | null {
    const rows: HTMLElement[] = [];
    const followed = new Set([id]);
    const { steps, stops } = model.history;
    steps.forEach((step, i) => {
      const phase = stops.find((s) => i >= s.first && i < s.last)?.name ?? "";
      const taken = step.moved.find(([from]) => followed.has(from));
      const made = step.added.some((n) => n.id === id);
      const renamed = step.changed.some((n) => n.id === id) && step.added.length + step.removed.length === 0;
      if (!taken && !made && !renamed && !step.removed.some((r) => followed.has(r))) return;
      const what = h("li", {}, `${phase}: `, h("b", {}, name(step.rule, 60)), " ");
      if (taken) {
        what.append("now part of ", this.link(model, taken[1]));
        followed.add(taken[1]);
      } else what.append(made ? "made it" : renamed ? "changed it" : "removed it");
      rows.push(what);
    });
    return rows.length > 0 ? section("Story", h("ol", { class: "plain" }, ...rows.slice(0, 60))) : null;
  }

  private rules(model: Model, id: number): HTMLElement | null {
    const here = new Set(model.final.has(id) ? [id, ...model.history.members(id, model.history.last)] : [id]);
    const title = model.history.all.get(id)!.name;
    const rows: HTMLElement[] = [];
    const row = (sign: string, phase: string, rule: string, reason: Reason, more: string) =>
      rows.push(h("li", {}, `${sign} ${phase}: `, h("b", {}, name(rule, 60)), ": ", name(reason.text, 1000),
                  reason.change ? h("em", {}, " To change: ", name(reason.change, 600)) : null, more));
    for (const m of model.report.near_misses) {
      if (m.function) continue;
      if (m.at === title || m.now.includes(id) || m.nodes.some((n) => here.has(n))) {
        row("almost", m.phase, m.rule, m.reason, m.saves_ms > 0 ? ` May save ${format.ms(m.saves_ms)}.` : "");
      }
    }
    for (const w of model.report.why_nots) {
      if (!w.function && here.has(w.at)) row("no", w.phase, w.rule, w.reason, "");
    }
    return rows.length > 0 ? section("Rules that did not fire", h("ul", { class: "plain verdicts" }, ...rows.slice(0, 80))) : null;
  }
}
