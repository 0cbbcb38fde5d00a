// What is shown, and how the parts of the page act on each other.
import { Chart } from "./chart";
import { closedAtFirst } from "./closed_scopes";
import { byId, h, name, replace } from "./dom";
import { saveSvg, savePng } from "./exporting";
import { Filter, matches, NO_FILTER } from "./filters";
import { readLink, writeLink } from "./link";
import { Metric } from "./metrics";
import { Model } from "./model";
import { palette } from "./paint";
import { Pane } from "./pane";
import { Panel } from "./panel";
import { memoryChart, timelineChart } from "./run_views";
import { applyHeat, boxOf, buildScene, Scene, scopeOfKey } from "./scene";
import { Slider } from "./slider";
import { differencesView, summaryView } from "./summary";
import type { PageData } from "./types";

export type ViewName = "graph" | "pair" | "memory" | "timeline" | "summary" | "differences";

interface Shown {
  pane: Pane;
  model: Model;
  slider: Slider;
}

export class App {
  readonly models: Model[];
  readonly views: ViewName[];
  view: ViewName = "graph";
  metric: Metric | null = null;
  filter: Filter = NO_FILTER;
  constants = false;
  compact = false;
  private readonly single: Shown;
  private readonly pair: Shown[];
  private readonly collapsed = new Map<Model, Set<number>>();
  private readonly marks: (Map<number, string[]> | null)[];
  private readonly partners: Map<number, number>[] = [new Map(), new Map()];
  private readonly memory: Chart;
  private readonly timeline: Chart;
  private readonly panel: Panel;
  private selection: { model: Model; key: number } | null = null;
  private syncing = false;
  changed: () => void = () => {};  // after anything that the toolbar shows

  constructor(readonly data: PageData) {
    this.models = data.models.map((m, i) => new Model(i, m.title, m.report, m.layout));
    const two = this.models.length > 1;
    this.views = ["graph", "pair", "memory", "timeline", "summary", ...(two ? ["differences" as const] : [])];
    const c = data.comparison;
    this.marks = [c ? new Map(c.marks.a) : null, c ? new Map(c.marks.b) : null];
    for (const [a, b] of c?.pairs ?? []) {
      this.partners[0].set(a, b);
      this.partners[1].set(b, a);
    }
    for (const model of this.models) this.collapsed.set(model, closedAtFirst(model));
    this.single = this.shown("Graph", this.models[0], -1);
    this.pair = two ? [this.shown(`Left: ${this.models[0].title}`, this.models[0], -1),
                       this.shown(`Right: ${this.models[1].title}`, this.models[1], -1)]
                    : [this.shown("Before", this.models[0], 0), this.shown("After", this.models[0], -1)];
    this.memory = new Chart("Memory plan", (id) => this.select(this.chartModel, id));
    this.timeline = new Chart("Timeline", (id) => this.select(this.chartModel, id));
    this.panel = new Panel(byId("panel"), {
      select: (model, id) => this.select(model, id, true),
      filterScope: (scope) => this.setFilter({ kind: "scope", value: scope }),
      say: (text) => this.say(text),
    });
    this.recolor();
  }

  private chartIndex = 0;

  /** The model of views that show one. */
  get chartModel(): Model {
    return this.models[this.chartIndex];
  }

  private shown(label: string, model: Model, stop: number): Shown {
    const pane = new Pane(label, {
      select: (p, key) => this.select(this.of(p).model, key),
      open: (p, key) => this.toggle(this.of(p).model, scopeOfKey(key)),
      hover: (p, key) => this.hover(p, key),
      moved: (p) => this.follow(p),
    });
    const slider = new Slider(model, label, stop, () => {
      this.refresh();
      this.writeHash();
    });
    return { pane, model, slider };
  }

  private of(pane: Pane): Shown {
    return [this.single, ...this.pair].find((s) => s.pane === pane)!;
  }

  get visible(): Shown[] {
    return this.view === "graph" ? [this.single] : this.view === "pair" ? this.pair : [];
  }

  /** Where search looks. */
  get places(): { model: Model; state: number }[] {
    const found: { model: Model; state: number }[] = [];
    for (const s of [...this.visible].reverse()) {
      if (!found.some((f) => f.model === s.model)) found.push({ model: s.model, state: s.slider.state });
    }
    if (found.length === 0) found.push({ model: this.chartModel, state: this.chartModel.history.last });
    return found;
  }

  // --- scopes

  toggle(model: Model, scope: number): void {
    const closed = this.collapsed.get(model)!;
    const open = closed.has(scope);
    if (open) closed.delete(scope);
    else closed.add(scope);
    this.say(`${model.layout.scopes[scope].name} ${open ? "opened" : "closed"}`);
    this.refresh({ keep: { model, key: -1 - scope } });
  }

  setAll(collapsed: boolean): void {
    for (const [model, closed] of this.collapsed) {
      closed.clear();
      if (collapsed) model.layout.scopes.forEach((_, i) => closed.add(i));
    }
    this.refresh();
    for (const s of this.visible) s.pane.fit();
  }

  private expandTo(model: Model, id: number): boolean {
    const closed = this.collapsed.get(model)!;
    let opened = false;
    for (let s = model.scopeOf.get(id) ?? -1; s >= 0; s = model.layout.scopes[s].parent) {
      opened = closed.delete(s) || opened;
    }
    return opened;
  }

  // --- showing

  setView(view: ViewName): void {
    this.view = view;
    const main = byId("main");
    const heads = this.models.length > 1;
    for (const s of [this.single, ...this.pair]) {
      replace(s.pane.heading, heads ? h("b", {}, name(s.model.title, 80)) : null, s.slider.root);
    }
    main.className = view;
    byId("bar").dataset.view = view;
    if (this.visible.length > 0) replace(main, ...this.visible.map((s) => s.pane.root));
    else if (view === "memory") replace(main, this.chooser(), this.memory.root);
    else if (view === "timeline") replace(main, this.chooser(), this.timeline.root);
    this.refresh();
    this.writeHash();
  }

  private chooser(): HTMLElement | null {
    if (this.models.length < 2) return null;
    const list = h("select", { "aria-label": "Model", change: () => {
      this.chartIndex = Number(list.value);
      this.refresh();
    } }, ...this.models.map((m, i) => h("option", { value: i }, m.title)));
    list.value = String(this.chartIndex);
    return h("p", {}, list);
  }

  refresh(options: { keep?: { model: Model; key: number } } = {}): void {
    const scenes = this.visible.map((s) => this.sceneOf(s));
    applyHeat(scenes);
    this.visible.forEach((s, i) => this.showScene(s, scenes[i], options.keep));
    const main = byId("main");
    if (this.view === "summary") {
      replace(main, this.chooser(), summaryView(this.chartModel, (f) => {
        this.setFilter(f);
        this.setView("graph");
      }, (id) => {
        this.setView("graph");
        this.select(this.chartModel, id, true);
      }));
    } else if (this.view === "differences" && this.data.comparison) {
      replace(main, differencesView(this.models[0], this.models[1], this.data.comparison, (model, id) => {
        this.setView("pair");
        this.select(model, id, true);
      }));
    }
    this.showSelection();
    for (const [view, chart, make] of [["memory", this.memory, memoryChart], ["timeline", this.timeline, timelineChart]] as const) {
      if (this.view !== view) continue;
      const data = make(this.chartModel);
      if (data) chart.show(data);
      else replace(main, this.chooser(), h("p", { class: "note" }, view === "memory" ? "There is no plan, so no memory plan."
        : "The model was not run: make the page with --profile."));
    }
    this.changed();
  }

  private sceneOf(s: Shown): Scene {
    const { model, slider } = s;
    const last = slider.stop === model.history.stops.length - 1;
    const marks = this.marks[model.index];
    return buildScene({
      model, state: slider.state, from: slider.from, planned: last, constants: this.constants,
      // Only panes of the same model show nodes at the same places.
      compact: this.compact || (last && (this.view === "graph" || this.models.length > 1)), collapsed: this.collapsed.get(model)!,
      metric: this.metric, matches: matches(model, slider.state, this.filter, marks), marks: last ? marks : null,
    });
  }

  private showScene(s: Shown, scene: Scene, keep?: { model: Model; key: number }): void {
    const boxOfKey = (of: Scene | null) => (keep?.model === s.model ? of?.boxes[of.index.get(keep.key) ?? -1] : undefined);
    const before = boxOfKey(s.pane.scene), after = boxOfKey(scene);
    s.pane.show(scene);
    if (!before || !after) return;
    // What was opened stays under the pointer.
    const { scale } = s.pane.view;
    s.pane.pan((before.x - after.x + (before.w - after.w) / 2) * scale, (before.y - after.y) * scale);
  }

  recolor(): void {
    const colors = palette();
    for (const s of [this.single, ...this.pair]) s.pane.recolor(colors);
    this.memory.recolor(colors);
    this.timeline.recolor(colors);
  }

  setFilter(filter: Filter): void {
    this.filter = filter;
    this.refresh();
  }

  /** How many nodes of the graph as shown the filter lets through, and of how many. */
  filtered(): { found: number[]; all: number; shown: Shown | undefined } {
    const shown = this.visible[this.visible.length - 1];
    if (!shown) return { found: [], all: 0, shown };
    const graph = shown.model.history.at(shown.slider.state);
    const passed = matches(shown.model, shown.slider.state, this.filter, this.marks[shown.model.index]);
    return { found: passed ? [...graph.keys()].filter((id) => passed.has(id)) : [], all: graph.size, shown };
  }

  /** Selects the next node that the filter lets through. */
  nextMatch(by: number): void {
    const { found, shown } = this.filtered();
    if (!shown || found.length === 0) return;
    const at = this.selection ? found.indexOf(this.selection.key) : -1;
    const next = at < 0 ? (by > 0 ? 0 : found.length - 1) : (at + by + found.length) % found.length;
    this.select(shown.model, found[next], true);
  }

  fit(): void {
    for (const s of this.visible) s.pane.fit(true);
  }

  step(by: number): void {
    this.visible[this.visible.length - 1]?.slider.go(by);
  }

  phase(by: number): void {
    const s = this.visible[this.visible.length - 1];
    s?.slider.toStop(s.slider.stop + by);
  }

  save(as: "svg" | "png"): void {
    const s = this.visible[this.visible.length - 1];
    if (!s?.pane.scene) return;
    const title = s.model.title.replace(/[^\w.-]+/g, "_").slice(0, 80) || "graph";
    if (as === "svg") saveSvg(s.pane.scene, s.pane.colors, title);
    else savePng(s.pane.scene, s.pane.colors, title);
  }

  // --- selection

  /** `show`: bring it into view, in another state or an open scope if need be. */
  select(model: Model, key: number | null, show = false): void {
    this.selection = key === null ? null : { model, key };
    if (key !== null && key >= 0 && show && this.visible.length > 0) {
      const node = model.history.all.get(key);
      if (node && model.isConstant(node)) this.constants = true;
      if (this.expandTo(model, key) || (node && model.isConstant(node))) this.refresh();
    }
    this.showSelection();
    if (show && key !== null) {
      for (const s of this.visible) {
        for (const id of this.idsIn(s, model, key)) {
          const box = s.pane.scene ? boxOf(s.pane.scene, id) : -1;
          if (box >= 0) {
            s.pane.reveal(box);
            break;
          }
        }
      }
    }
    this.writeHash();
  }

  /** The nodes of a pane that compute what a node of a model does. */
  private idsIn(s: Shown, model: Model, key: number, from?: number): number[] {
    if (key < 0) return s.model === model ? [key] : [];
    const history = model.history;
    if (s.model === model) {
      const graph = history.at(s.slider.state);
      if (from !== undefined) return history.counterparts(key, from, s.slider.state);
      if (graph.has(key)) return [key];
      const now = history.resolve(key, s.slider.state);
      if (now.length > 0) return now;
      // It comes later: its sources.
      return history.members(key, history.last).filter((m) => graph.has(m));
    }
    const partners = this.partners[model.index];
    const found = new Set<number>();
    for (const f of model.becomes(key)) {
      const partner = partners.get(f.id);
      if (partner === undefined) continue;
      for (const id of s.model.history.counterparts(partner, s.model.history.last, s.slider.state)) found.add(id);
    }
    return [...found];
  }

  private showSelection(): void {
    const chosen = this.selection;
    for (const s of this.visible) {
      s.pane.selected = chosen ? this.idsIn(s, chosen.model, chosen.key) : [];
      s.pane.lit = [];
      s.pane.repaint();
    }
    for (const chart of [this.memory, this.timeline]) {
      chart.selected = chosen && chosen.model === this.chartModel && chosen.key >= 0
        ? chosen.model.becomes(chosen.key).map((f) => f.id) : [];
      chart.repaint();
    }
    if (!chosen) {
      this.panel.nothing();
      return;
    }
    const shown = this.visible.find((s) => s.model === chosen.model && (chosen.key < 0 || s.model.history.at(s.slider.state).has(chosen.key))) ??
                  this.visible.find((s) => s.model === chosen.model);
    const state = shown ? shown.slider.state : chosen.model.history.last;
    if (chosen.key < 0) this.panel.scope(chosen.model, state, chosen.key);
    else {
      const side = chosen.model.index === 0 ? "a" : "b";
      const row = this.data.comparison?.rows.find((r) => r[side] === chosen.key);
      this.panel.node(chosen.model, state, chosen.key, this.marks[chosen.model.index]?.get(chosen.key) ?? [], row?.text ?? "");
    }
    this.say(shown?.pane.describe() ?? "");
  }

  private hover(pane: Pane, key: number | null): void {
    const from = this.of(pane);
    for (const s of this.visible) {
      if (s.pane === pane) continue;
      s.pane.lit = key === null ? [] : this.idsIn(s, from.model, key, from.slider.state);
      s.pane.repaint();
    }
  }

  /** Both panes of one model show the same part. */
  private follow(pane: Pane): void {
    if (this.syncing || this.view !== "pair" || this.models.length > 1 || this.compact) return;
    this.syncing = true;
    for (const s of this.pair) if (s.pane !== pane) {
      s.pane.view = { ...pane.view };
      s.pane.repaint();
    }
    this.syncing = false;
  }

  say(text: string): void {
    byId("live").textContent = text;
  }

  // --- links

  private writeHash(): void {
    const chosen = this.selection;
    const node = chosen && chosen.key >= 0 ? chosen.model.history.all.get(chosen.key) : undefined;
    const { slider } = this.single;
    const { stops } = this.single.model.history;
    const hash = writeLink({
      node: node && node.name.length < 2000 ? chosen!.model.short(node.name) : undefined,
      view: this.view === "graph" ? undefined : this.view,
      state: this.view === "graph" && slider.stop < stops.length - 1 ? slider.state : undefined,
      model: node && chosen!.model.index > 0 ? chosen!.model.index : undefined,
    });
    if (hash === location.hash) return;
    try {
      history.replaceState(null, "", hash || location.pathname + location.search);
    } catch {  // within a notebook the page has no address
    }
  }

  readHash(): void {
    const link = readLink(location.hash);
    this.setView(this.views.find((v) => v === link.view) ?? this.view);
    const model = this.models[link.model ?? 0] ?? this.models[0];
    if (link.state !== undefined && link.state <= model.history.last) this.single.slider.toState(link.state);
    if (link.node === undefined) return;
    const id = model.find(link.node);
    if (id !== undefined) this.select(model, id, true);
    else this.say(`no node is named ${link.node}`);
  }
}
