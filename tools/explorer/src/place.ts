// Coordinates from layers and orders. The layout says in which row of its scope each node is, and
// where in the row; which scopes are collapsed is known only here. Rows become y; x follows from
// least squares: each box as close to its neighbors as the order allows.
import type { Model } from "./model";

export const WIDTH = 168, HEIGHT = 40;
export const HEAD = 26;
const GAP_X = 22, GAP_Y = 34, PAD = 14;

export interface Box {
  key: number;      // id of a node; of a scope: -1 - its index
  parent: number;   // index of a scope; -1: none
  x: number;
  y: number;
  w: number;
  h: number;
  depth: number;
  collapsed: boolean;
}

interface Item {
  key: number;
  layer: number;
  order: number;
  w: number;
  h: number;
  x: number;  // center, in its scope
  y: number;
  near: [Item, number][];  // siblings and weights
  inner?: Item[];
  also: number[];  // other ids at the same place, in other states
}

/** Values closest to `wanted`, of which each is at least `apart[i]` above the one before. */
export function spread(wanted: number[], apart: number[]): number[] {
  const offset: number[] = [0];
  for (let i = 1; i < wanted.length; ++i) offset.push(offset[i - 1] + apart[i]);
  const sums: number[] = [], sizes: number[] = [];
  for (let i = 0; i < wanted.length; ++i) {
    sums.push(wanted[i] - offset[i]);
    sizes.push(1);
    for (let n = sums.length; n > 1 && sums[n - 2] / sizes[n - 2] >= sums[n - 1] / sizes[n - 1];
         n = sums.length) {
      sums[n - 2] += sums.pop()!;
      sizes[n - 2] += sizes.pop()!;
    }
  }
  const found: number[] = [];
  sums.forEach((sum, k) => {
    for (let i = 0; i < sizes[k]; ++i) found.push(sum / sizes[k] + offset[found.length]);
  });
  return found;
}

function align(rows: Item[][]): void {
  const apart = rows.map((row) =>
    row.map((item, i) => (i === 0 ? 0 : (row[i - 1].w + item.w) / 2 + GAP_X)));
  rows.forEach((row, r) => {
    const start = spread(row.map(() => 0), apart[r]);
    row.forEach((item, i) => (item.x = start[i]));
  });
  const sweeps = [1, -1, 1, -1, 0];
  for (const side of sweeps) {
    const order = side < 0 ? rows.map((_, i) => rows.length - 1 - i) : rows.map((_, i) => i);
    for (const r of order) {
      const row = rows[r];
      const wanted = row.map((item) => {
        let sum = 0, weight = 0;
        for (const [other, w] of item.near) {
          if (side !== 0 && Math.sign(item.layer - other.layer) !== side) continue;
          sum += w * other.x;
          weight += w;
        }
        return weight > 0 ? sum / weight : item.x;
      });
      spread(wanted, apart[r]).forEach((x, i) => (row[i].x = x));
    }
  }
}

function arrange(items: Item[]): { w: number; h: number } {
  const byLayer = new Map<number, Item[]>();
  for (const item of items) {
    const row = byLayer.get(item.layer);
    if (row) row.push(item);
    else byLayer.set(item.layer, [item]);
  }
  const rows = [...byLayer.keys()].sort((a, b) => a - b).map((k) => byLayer.get(k)!);
  for (const row of rows) row.sort((a, b) => a.order - b.order);
  align(rows);
  let least = Infinity, most = -Infinity, y = 0;
  for (const row of rows) {
    let height = 0;
    for (const item of row) height = Math.max(height, item.h);
    for (const item of row) {
      item.y = y + height / 2;
      least = Math.min(least, item.x - item.w / 2);
      most = Math.max(most, item.x + item.w / 2);
    }
    y += height + GAP_Y;
  }
  for (const item of items) item.x -= least;
  return { w: most - least, h: y - GAP_Y };
}

/** The boxes that are shown, as a tree of scopes. */
class Tree {
  private readonly boxes = new Map<number, Item>();
  private readonly parents = new Map<Item, number>();
  private readonly children: Item[][];
  private readonly top: Item[] = [];
  private readonly sizes: number[];  // places in each scope
  private readonly chains = new Map<number, Item[]>();

  constructor(private readonly model: Model, private readonly placed: Set<number>,
              private readonly collapsed: Set<number>) {
    const { scopes } = model.layout;
    this.children = scopes.map(() => []);
    this.sizes = scopes.map(() => 0);
    this.measure();
    const hidden = scopes.map(() => false);
    scopes.forEach((s, i) => {
      hidden[i] = s.parent >= 0 && (hidden[s.parent] || this.closed(s.parent));
      if (this.sizes[i] > 1 && !hidden[i]) this.add(this.item(-1 - i, s.layer, s.order), s.parent);
    });
    this.addNodes((scope) => scope >= 0 && (hidden[scope] || this.closed(scope)));
  }

  private item(key: number, layer: number, order: number): Item {
    return { key, layer, order, w: WIDTH, h: HEIGHT, x: 0, y: 0, near: [], also: [] };
  }

  private add(one: Item, parent: number): void {
    this.boxes.set(one.key, one);
    this.parents.set(one, parent);
    (parent < 0 ? this.top : this.children[parent]).push(one);
  }

  private slotOf(i: number): string {
    const { scope, layer, order } = this.model.layout.nodes;
    return `${scope[i]} ${layer[i]} ${order[i]}`;
  }

  private measure(): void {
    const { nodes, scopes } = this.model.layout;
    const taken = new Set<string>();
    nodes.id.forEach((id, i) => {
      if (!this.placed.has(id) || taken.has(this.slotOf(i))) return;
      taken.add(this.slotOf(i));
      for (let s = nodes.scope[i]; s >= 0; s = scopes[s].parent) ++this.sizes[s];
    });
  }

  /** A scope with one node is not shown: the node stands for it. */
  private closed(scope: number): boolean {
    return this.collapsed.has(scope) && this.sizes[scope] > 1;
  }

  private addNodes(isHidden: (scope: number) => boolean): void {
    const { nodes, scopes } = this.model.layout;
    // What takes over from a removed node has its layer and order: they share one place.
    const slots = new Map<string, Item>();
    nodes.id.forEach((id, i) => {
      let scope = nodes.scope[i];
      if (!this.placed.has(id) || isHidden(scope)) return;
      const shared = slots.get(this.slotOf(i));
      if (shared) {
        shared.also.push(id);
        this.boxes.set(id, shared);
        return;
      }
      const own = this.item(id, nodes.layer[i], nodes.order[i]);
      for (; scope >= 0 && this.sizes[scope] === 1; scope = scopes[scope].parent) {
        own.layer = scopes[scope].layer;
        own.order = scopes[scope].order;
      }
      slots.set(this.slotOf(i), own);
      this.add(own, scope);
    });
  }

  /** What holds a node, outermost first, down to its own box. */
  private chain(id: number): Item[] {
    const known = this.chains.get(id);
    if (known) return known;
    const { scopes } = this.model.layout;
    const found: Item[] = [];
    const own = this.boxes.get(id);
    if (own) found.push(own);
    for (let s = this.model.scopeOf.get(id) ?? -1; s >= 0; s = scopes[s].parent) {
      const box = this.boxes.get(-1 - s);
      if (box) found.push(box);
    }
    this.chains.set(id, found.reverse());
    return found;
  }

  /** An edge draws those siblings together that hold its ends. */
  connect(from: number, to: number): void {
    if (!this.placed.has(from) || !this.placed.has(to)) return;
    const a = this.chain(from), b = this.chain(to);
    let k = 0;
    while (k < a.length && k < b.length && a[k] === b[k]) ++k;
    if (k >= a.length || k >= b.length) return;
    // The nearer, the more it matters that an edge is straight.
    const weight = 1 / Math.pow(1 + Math.abs(a[k].layer - b[k].layer), 2);
    a[k].near.push([b[k], weight]);
    b[k].near.push([a[k], weight]);
  }

  arrange(): Box[] {
    for (let i = this.children.length - 1; i >= 0; --i) {  // inner scopes come later
      const box = this.boxes.get(-1 - i);
      const inside = this.children[i];
      if (!box || this.closed(i) || inside.length === 0) continue;
      box.inner = inside;
      const size = arrange(inside);
      box.w = Math.max(WIDTH, size.w + 2 * PAD);
      box.h = size.h + HEAD + PAD;
      const shift = (box.w - size.w) / 2;
      for (const child of inside) {
        child.x += shift;
        child.y += HEAD;
      }
    }
    if (this.top.length > 0) arrange(this.top);
    const out: Box[] = [];
    this.emit(this.top, 0, 0, 0, out);
    return out;
  }

  private emit(items: Item[], x: number, y: number, depth: number, out: Box[]): void {
    for (const one of items) {
      const left = x + one.x - one.w / 2, up = y + one.y - one.h / 2;
      for (const key of [one.key, ...one.also]) {
        out.push({ key, parent: this.parents.get(one)!, x: left, y: up, w: one.w, h: one.h, depth,
                   collapsed: key < 0 && one.inner === undefined });
      }
      if (one.inner) this.emit(one.inner, left, up, depth + 1, out);
    }
  }
}

/**
 * Boxes of the nodes that `placed` has, of their scopes, and of nothing within collapsed scopes;
 * scopes before what is in them. `edges` are pairs of ids.
 */
export function place(model: Model, placed: Set<number>, edges: [number, number][],
                      collapsed: Set<number>): Box[] {
  const tree = new Tree(model, placed, collapsed);
  for (const [from, to] of edges) tree.connect(from, to);
  return tree.arrange();
}
