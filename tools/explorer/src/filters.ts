// Which nodes a filter lets through.
import type { Model } from "./model";
import { opTitle } from "./scene";

export interface Filter {
  kind: "" | "unaccelerated" | "almost" | "marked" | "op" | "rule" | "scope";
  value: string;
}

export const NO_FILTER: Filter = { kind: "", value: "" };

/** Nodes of any state that are, become or became these nodes of the plan. */
function story(model: Model, ids: Iterable<number>): Set<number> {
  const found = new Set<number>();
  const last = model.history.last;
  for (const id of ids) {
    for (const now of model.history.resolve(id, last)) {
      for (const m of model.history.members(now, last)) found.add(m);
    }
    found.add(id);
  }
  return found;
}

function ofRule(model: Model, rule: string): Set<number> {
  const found = new Set<number>();
  for (const step of model.history.steps) {
    if (step.rule !== rule) continue;
    for (const node of step.added) found.add(node.id);
    for (const id of step.removed) found.add(id);
    // What only reads something else now is not what the rule is about.
    if (step.added.length === 0) for (const [, to] of step.moved) found.add(to);
    if (step.added.length + step.moved.length === 0) for (const node of step.changed) found.add(node.id);
  }
  return found;
}

/** Nodes of all states; null: no filter. */
export function matches(model: Model, state: number, filter: Filter,
                        marks: Map<number, string[]> | null): Set<number> | null {
  const { report } = model;
  switch (filter.kind) {
    case "":
      return null;
    case "unaccelerated":
      return story(model, report.final.filter((f) => f.reason !== null).map((f) => f.id));
    case "almost":
      return story(model, report.near_misses.flatMap((m) => (m.function ? m.now : [...m.nodes, ...m.now])));
    case "marked":
      return story(model, marks ? marks.keys() : []);
    case "rule":
      return ofRule(model, filter.value);
    case "op": {
      const found = new Set<number>();
      for (const node of model.history.all.values()) if (opTitle(node.op) === filter.value) found.add(node.id);
      for (const node of model.history.at(state).values()) {
        if (opTitle(node.op) === filter.value) found.add(node.id);
      }
      return found;
    }
    case "scope": {
      const found = new Set<number>();
      const within = model.layout.scopes.map(() => false);
      model.layout.scopes.forEach((s, i) => {
        within[i] = s.name === filter.value || (s.parent >= 0 && within[s.parent]);
      });
      for (const [id, scope] of model.scopeOf) if (scope >= 0 && within[scope]) found.add(id);
      return found;
    }
  }
}

/** What the second list offers for a kind of filter. */
export function choices(model: Model, state: number, kind: Filter["kind"]): string[] {
  const found = new Set<string>();
  if (kind === "op") for (const n of model.history.at(state).values()) found.add(opTitle(n.op));
  if (kind === "rule") for (const s of model.history.steps) found.add(s.rule);
  if (kind === "scope") return model.layout.scopes.map((s) => s.name);
  return [...found].sort();
}
