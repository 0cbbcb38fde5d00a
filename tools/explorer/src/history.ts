// The graph in every state of its rewriting. States are numbered: 0 as loaded, k after the k-th
// step of all phases; the last is the graph that is planned.
import type { NodeRecord, Report, RewriteStep } from "./types";

export type Graph = Map<number, NodeRecord>;

/** A stop of the slider: its states are first..last. */
export interface Stop {
  name: string;
  first: number;  // before its first step
  last: number;
}

export interface Change {
  added: Set<number>;
  changed: Set<number>;
  removed: Map<number, NodeRecord>;
}

export class History {
  readonly steps: RewriteStep[] = [];
  readonly stops: Stop[] = [];
  /** Every node of any state, as it was added or changed last. */
  readonly all: Graph = new Map();
  private readonly snapshots: Graph[] = [];  // at the end of each stop
  private readonly moves = new Map<number, { step: number; to: number }[]>();
  private readonly groups = new Map<number, Map<number, number[]>>();
  private readonly cache = new Map<number, Graph>();

  constructor(report: Report) {
    const graph: Graph = new Map();
    for (const node of report.loaded) graph.set(node.id, node);
    for (const [id, node] of graph) this.all.set(id, node);
    this.stops.push({ name: "loaded", first: 0, last: 0 });
    this.snapshots.push(new Map(graph));
    for (const phase of report.phases) {
      const first = this.steps.length;
      for (const step of phase.steps) {
        if (step.function) continue;
        this.steps.push(step);
        this.apply(graph, step);
        for (const node of step.added) this.all.set(node.id, node);
        for (const node of step.changed) this.all.set(node.id, node);
        for (const [from, to] of step.moved) {
          const known = this.moves.get(from);
          if (known) known.push({ step: this.steps.length, to });
          else this.moves.set(from, [{ step: this.steps.length, to }]);
        }
      }
      this.stops.push({ name: phase.phase, first, last: this.steps.length });
      this.snapshots.push(new Map(graph));
    }
    this.stops.push({ name: "plan", first: this.steps.length, last: this.steps.length });
    this.snapshots.push(this.snapshots[this.snapshots.length - 1]);
  }

  get last(): number {
    return this.steps.length;
  }

  at(state: number): Graph {
    for (let i = 0; i < this.stops.length; ++i) {
      if (this.stops[i].last === state) return this.snapshots[i];
    }
    let graph = this.cache.get(state);
    if (!graph) {
      const stop = this.stops.findIndex((s) => s.last > state) - 1;
      graph = new Map(this.snapshots[stop]);
      for (let i = this.stops[stop].last; i < state; ++i) this.apply(graph, this.steps[i]);
      if (this.cache.size > 8) this.cache.clear();
      this.cache.set(state, graph);
    }
    return graph;
  }

  /** What changed from one state to a later one. */
  change(from: number, to: number): Change {
    const before = this.at(from), after = this.at(to);
    const change: Change = { added: new Set(), changed: new Set(), removed: new Map() };
    for (let i = from; i < to; ++i) {
      for (const node of this.steps[i].added) if (after.has(node.id)) change.added.add(node.id);
      for (const node of this.steps[i].changed) if (before.has(node.id) && after.has(node.id)) change.changed.add(node.id);
      for (const id of this.steps[i].removed) {
        const node = before.get(id);
        if (node && !after.has(id)) change.removed.set(id, node);
      }
    }
    return change;
  }

  /** The nodes that compute in `state` what this node computes, or computed. */
  resolve(id: number, state: number): number[] {
    const found = new Set<number>();
    const graph = this.at(state);
    const follow = (from: number, depth: number) => {
      const moves = (this.moves.get(from) ?? []).filter((m) => m.step <= state);
      if (graph.has(from)) found.add(from);
      else if (depth < 10000) for (const m of moves) follow(m.to, depth + 1);
    };
    follow(id, 0);
    return [...found];
  }

  /** Every node, of any state, that is or became part of this node of `state`. */
  members(id: number, state: number): number[] {
    let groups = this.groups.get(state);
    if (!groups) {
      groups = new Map();
      for (const other of this.all.keys()) {
        for (const now of this.resolve(other, state)) {
          const group = groups.get(now);
          if (group) group.push(other);
          else groups.set(now, [other]);
        }
      }
      if (this.groups.size > 6) this.groups.clear();
      this.groups.set(state, groups);
    }
    return groups.get(id) ?? [];
  }

  /** The nodes of `to` that compute what a node of `from` computes: its sources, or its successor. */
  counterparts(id: number, from: number, to: number): number[] {
    if (from === to) return this.at(to).has(id) ? [id] : [];
    if (from < to) return this.resolve(id, to);
    const graph = this.at(to);
    return this.members(id, from).filter((m) => graph.has(m));
  }

  private apply(graph: Graph, step: RewriteStep): void {
    for (const id of step.removed) graph.delete(id);
    for (const node of step.added) graph.set(node.id, node);
    for (const node of step.changed) graph.set(node.id, node);
  }
}
