// What a pane shows: boxes with their looks, and edges between them.
import { shown, shownEnd } from "./dom";
import * as format from "./format";
import type { Change } from "./history";
import { heatColor, inkOn, Metric, partOf, sumOf } from "./metrics";
import type { Kind, Model } from "./model";
import { Box, HEAD, place } from "./place";
import type { NodeRecord } from "./types";

export interface Wanted {
  model: Model;
  state: number;
  from: number;  // changes since this state are marked; `state`: none
  planned: boolean;  // nodes that take no time are dim
  constants: boolean;
  compact: boolean;
  collapsed: Set<number>;
  metric: Metric | null;
  matches: Set<number> | null;  // nodes of any state; the others are dim
  marks: Map<number, string[]> | null;  // of a comparison
}

export type Fate = "" | "added" | "removed" | "changed";

export interface Look extends Box {
  title: string;
  detail: string;
  kind: Kind | "scope";
  value: number | undefined;  // of the metric
  fill: string | null;  // heat
  ink: string | null;
  fate: Fate;
  dim: boolean;
  nodes: number;  // of the state, within a scope
  mark: string;
}

export interface Edges {
  count: number;
  from: Int32Array;  // indices of boxes
  to: Int32Array;
  kind: Uint8Array;  // 0 data, 1 control, 2 of a vanished node
  line: Float32Array;  // x0 y0 x1 y1
}

export interface Scene {
  wanted: Wanted;
  boxes: Look[];
  index: Map<number, number>;  // key of a box
  edges: Edges;
  width: number;
  height: number;
  change: Change;
  legend: { least: number; most: number; metric: Metric } | null;
}

const NATIVE = /^_(MklNative|Mkl)?/;

/** The op without the prefix of native names. */
export function opTitle(op: string): string {
  return op.replace(NATIVE, "");
}

function placedNodes(w: Wanted, change: Change): Set<number> {
  const { model } = w;
  const graph = model.history.at(w.state);
  const placed = new Set<number>();
  const source = w.compact ? graph : model.history.all;
  for (const node of source.values()) {
    if (w.constants || !model.isConstant(node)) placed.add(node.id);
  }
  if (w.compact) {
    for (const node of change.removed.values()) {
      if (w.constants || !model.isConstant(node)) placed.add(node.id);
    }
  }
  return placed;
}

function edgesAmong(nodes: Iterable<NodeRecord>): [number, number][] {
  const edges: [number, number][] = [];
  for (const node of nodes) {
    for (const [from] of node.inputs) edges.push([from, node.id]);
    for (const from of node.controls) edges.push([from, node.id]);
  }
  return edges;
}

/** Keys of scopes' boxes are negative. */
export const scopeKey = (scope: number) => -1 - scope;
export const scopeOfKey = (key: number) => -1 - key;

class Builder {
  readonly change: Change;
  readonly looks: Look[] = [];
  readonly index = new Map<number, number>();
  private readonly inScope = new Map<number, number[]>();
  legend: Scene["legend"] = null;

  constructor(private readonly w: Wanted) {
    this.change = w.model.history.change(w.from, w.state);
  }

  build(): Scene {
    const { w } = this;
    const { model } = w;
    const graph = model.history.at(w.state);
    const placed = placedNodes(w, this.change);
    const nodes = w.compact ? [...graph.values(), ...this.change.removed.values()]
                            : [...model.history.all.values(), ...model.report.loaded];
    const boxes = place(model, placed, edgesAmong(nodes), w.collapsed);
    const present = new Map<number, NodeRecord>();
    for (const node of graph.values()) if (placed.has(node.id)) present.set(node.id, node);
    for (const node of this.change.removed.values()) {
      if (placed.has(node.id)) present.set(node.id, node);
    }
    this.fillScopes(present);
    // Scopes are below their nodes; vanished nodes below what took their place.
    const add = (box: Box, look: Look) => {
      this.index.set(box.key, this.looks.length);
      this.looks.push(look);
    };
    for (const box of boxes) {
      if (box.key < 0 && this.inScope.has(scopeOfKey(box.key))) add(box, this.scopeLook(box));
    }
    for (const gone of [true, false]) {
      for (const box of boxes) {
        const node = box.key >= 0 ? present.get(box.key) : undefined;
        if (node && this.change.removed.has(box.key) === gone) add(box, this.nodeLook(box, node));
      }
    }
    this.heat();
    let width = 1, height = 1;
    for (const b of boxes) {
      width = Math.max(width, b.x + b.w);
      height = Math.max(height, b.y + b.h);
    }
    return { wanted: w, boxes: this.looks, index: this.index, edges: this.edges(present), width,
             height, change: this.change, legend: this.legend };
  }

  private fillScopes(present: Map<number, NodeRecord>): void {
    const { scopes } = this.w.model.layout;
    for (const id of present.keys()) {
      for (let s = this.w.model.scopeOf.get(id) ?? -1; s >= 0; s = scopes[s].parent) {
        const known = this.inScope.get(s);
        if (known) known.push(id);
        else this.inScope.set(s, [id]);
      }
    }
  }

  private fate(id: number): Fate {
    if (this.change.removed.has(id)) return "removed";
    if (this.change.added.has(id)) return "added";
    return this.change.changed.has(id) ? "changed" : "";
  }

  private nodeLook(box: Box, node: NodeRecord): Look {
    const { model, planned, matches, marks } = this.w;
    const final = planned ? model.final.get(node.id) : undefined;
    const dim = (matches !== null && !matches.has(node.id)) ||
                (final !== undefined && !model.runs(final) && final.work !== "holds");
    const short = model.short(node.name);
    return {
      ...box,
      title: shown(opTitle(node.op), 26),
      detail: shownEnd(short, 30),
      kind: model.kind(node),
      value: undefined,
      fill: null,
      ink: null,
      fate: this.fate(node.id),
      dim,
      nodes: 1,
      mark: marks?.get(node.id)?.join(", ").replace(/_/g, " ") ?? "",
    };
  }

  private scopeLook(box: Box): Look {
    const { model, matches, marks } = this.w;
    const scope = scopeOfKey(box.key);
    const ids = this.inScope.get(scope)!;
    const live = ids.filter((id) => !this.change.removed.has(id)).length;
    const added = ids.filter((id) => this.change.added.has(id)).length;
    const removed = ids.length - live;
    const badge = (added ? ` +${added}` : "") + (removed ? ` −${removed}` : "");
    const marked = marks ? ids.filter((id) => marks.has(id)).length : 0;
    return {
      ...box,
      title: shown(model.layout.scopes[scope].label, 26),
      detail: `${format.count(live, "node")}${badge}`,
      kind: "scope",
      value: undefined,
      fill: null,
      ink: null,
      fate: box.collapsed && (added || removed) ? "changed" : "",
      dim: matches !== null && !ids.some((id) => matches.has(id)),
      nodes: live,
      mark: box.collapsed && marked ? `${marked} marked` : "",
    };
  }

  private heat(): void {
    const { metric, model } = this.w;
    if (!metric) return;
    let least = Infinity, most = -Infinity;
    this.looks.forEach((look) => {
      if (look.key < 0 && !look.collapsed) return;
      const ids = look.key >= 0 ? [look.key] : this.inScope.get(scopeOfKey(look.key))!;
      const finals = new Set<number>();
      for (const id of ids) for (const f of model.becomes(id)) finals.add(f.id);
      const value = metric.value(sumOf(model, finals));
      if (value === undefined) return;
      look.value = value;
      least = Math.min(least, value);
      most = Math.max(most, value);
    });
    if (least <= most) this.legend = { least, most, metric };
  }

  private edges(present: Map<number, NodeRecord>): Edges {
    const { scopes } = this.w.model.layout;
    const boxOf = new Map<number, number>();
    for (const id of present.keys()) {
      let at = this.index.get(id);
      for (let s = this.w.model.scopeOf.get(id) ?? -1; at === undefined && s >= 0;
           s = scopes[s].parent) {
        at = this.index.get(scopeKey(s));
      }
      if (at !== undefined) boxOf.set(id, at);
    }
    const kinds = new Map<number, number>();  // from * boxes + to
    const many = this.looks.length;
    const add = (from: number, to: number, kind: number) => {
      const a = boxOf.get(from), b = boxOf.get(to);
      if (a === undefined || b === undefined || a === b) return;
      if (this.change.removed.has(from) || this.change.removed.has(to)) kind = 2;
      const known = kinds.get(a * many + b);
      if (known === undefined || kind < known) kinds.set(a * many + b, kind);
    };
    for (const node of present.values()) {
      for (const [from] of node.inputs) add(from, node.id, 0);
      for (const from of node.controls) add(from, node.id, 1);
    }
    const count = kinds.size;
    const edges: Edges = { count, from: new Int32Array(count), to: new Int32Array(count),
                           kind: new Uint8Array(count), line: new Float32Array(4 * count) };
    let i = 0;
    for (const [key, kind] of kinds) {
      const a = this.looks[Math.floor(key / many)], b = this.looks[key % many];
      edges.from[i] = Math.floor(key / many);
      edges.to[i] = key % many;
      edges.kind[i] = kind;
      edges.line.set([a.x + a.w / 2, a.y + a.h, b.x + b.w / 2, b.y], 4 * i);
      ++i;
    }
    return edges;
  }
}

export function buildScene(wanted: Wanted): Scene {
  return new Builder(wanted).build();
}

/** Colors scenes that are shown together by one scale. */
export function applyHeat(scenes: Scene[]): void {
  const legends = scenes.flatMap((s) => (s.legend ? [s.legend] : []));
  const least = Math.min(...legends.map((l) => l.least)), most = Math.max(...legends.map((l) => l.most));
  for (const scene of scenes) {
    if (scene.legend) scene.legend = { ...scene.legend, least, most };
    for (const look of scene.boxes) {
      if (look.value === undefined) continue;
      const part = partOf(look.value, least, most);
      look.fill = heatColor(part);
      look.ink = inkOn(part);
    }
  }
}

/** The innermost box at a point; -1: none. */
export function boxAt(scene: Scene, x: number, y: number): number {
  for (let i = scene.boxes.length - 1; i >= 0; --i) {
    const b = scene.boxes[i];
    if (x >= b.x && x < b.x + b.w && y >= b.y && y < b.y + b.h) {
      // An open scope is its head only: what is around its nodes belongs to nothing.
      if (b.key >= 0 || b.collapsed || y < b.y + HEAD) return i;
    }
  }
  return -1;
}

/** The box that shows a node: its own, or that of the collapsed scope that holds it; -1: none. */
export function boxOf(scene: Scene, id: number): number {
  const own = scene.index.get(id);
  if (own !== undefined) return own;
  if (id < 0) return -1;
  const { scopes } = scene.wanted.model.layout;
  const graph = scene.wanted.model.history.at(scene.wanted.state);
  if (!graph.has(id) && !scene.change.removed.has(id)) return -1;
  for (let s = scene.wanted.model.scopeOf.get(id) ?? -1; s >= 0; s = scopes[s].parent) {
    const at = scene.index.get(scopeKey(s));
    if (at !== undefined && scene.boxes[at].collapsed) return at;
  }
  return -1;
}
