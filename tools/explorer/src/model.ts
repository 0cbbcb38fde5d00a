// A report with what follows from it: what each node became, its step, its class.
import { History } from "./history";
import type { FinalNode, Layout, NodeRecord, PlanStep, Report, Weights } from "./types";

/** What a node is for whoever wants it fast. */
export type Kind = "accelerated" | "reference" | "planning" | "input" | "constant" | "gone";

const CONSTANTS = new Set(["Const", "VarHandleOp", "ReadVariableOp", "VariableV2"]);
const INPUTS = new Set(["Placeholder", "PlaceholderWithDefault", "_Arg"]);

export class Model {
  readonly history: History;
  readonly final = new Map<number, FinalNode>();
  readonly stepOf = new Map<number, number>();  // of a node of `final`: index in report.steps
  readonly weights = new Map<number, Weights>();
  readonly scopeOf = new Map<number, number>();  // innermost; -1: none
  readonly outputs = new Set<number>();
  readonly totalMs: number;
  readonly totalFlops: number;
  private readonly lowered = new Map<number, string>();

  constructor(readonly index: number, readonly title: string, readonly report: Report,
              readonly layout: Layout) {
    this.history = new History(report);
    for (const node of report.final) this.final.set(node.id, node);
    const steps = report.steps ?? [];
    steps.forEach((step, i) => {
      if (step.node !== null && !this.stepOf.has(step.node)) this.stepOf.set(step.node, i);
    });
    for (const w of report.weights ?? []) this.weights.set(w.node, w);
    for (const o of report.outputs) this.outputs.add(o.node);
    layout.nodes.id.forEach((id, i) => this.scopeOf.set(id, layout.nodes.scope[i]));
    this.totalMs = steps.reduce((sum, s) => sum + s.ms, 0);
    this.totalFlops = steps.reduce((sum, s) => sum + s.flops, 0);
  }

  /** The name without the scopes that nearly all names share. */
  short(name: string): string {
    const prefix = this.report.scopes.prefix;
    return prefix && name.startsWith(prefix) ? name.slice(prefix.length) : name;
  }

  node(id: number, state: number): NodeRecord | undefined {
    return this.history.at(state).get(id);
  }

  /** The nodes of the plan that compute what this node computes. */
  becomes(id: number): FinalNode[] {
    const found: FinalNode[] = [];
    for (const to of this.history.resolve(id, this.history.last)) {
      const node = this.final.get(to);
      if (node) found.push(node);
    }
    return found;
  }

  step(id: number): PlanStep | undefined {
    const i = this.stepOf.get(id);
    return i === undefined ? undefined : this.report.steps![i];
  }

  isConstant(node: NodeRecord): boolean {
    return CONSTANTS.has(node.op) && !this.outputs.has(node.id);
  }

  kind(node: NodeRecord): Kind {
    if (this.isConstant(node)) return "constant";
    if (INPUTS.has(node.op)) return "input";
    const now = this.becomes(node.id);
    if (now.length === 0) return "gone";
    if (now.some((f) => f.reason !== null)) return "reference";
    if (now.some((f) => this.runs(f))) return "accelerated";
    return "planning";
  }

  /** Whether it takes time in a run. */
  runs(node: FinalNode): boolean {
    return node.work === "runs";
  }

  lower(id: number): string {
    let text = this.lowered.get(id);
    if (text === undefined) {
      const node = this.history.all.get(id)!;
      text = `${this.short(node.name)}\n${node.op}`.toLowerCase();
      this.lowered.set(id, text);
    }
    return text;
  }

  find(name: string): number | undefined {
    const full = this.report.scopes.prefix + name;
    let found: number | undefined;
    for (const node of this.history.all.values()) {
      if (node.name !== name && node.name !== full) continue;
      if (this.final.has(node.id)) return node.id;
      found = found ?? node.id;
    }
    return found;
  }
}
