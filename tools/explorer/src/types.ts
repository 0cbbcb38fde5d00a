// What the page reads: reports (docs/explore.schema.json) with a layout each.

export interface NodeRecord {
  id: number;
  name: string;
  op: string;
  inputs: [number, number][];  // node, port
  controls: number[];
  attrs: Record<string, string>;
}

export interface Reason {
  kind: string;
  node: string;
  op: string;
  found: string;
  needed: string;
  change: string;
  text: string;
}

export interface RewriteStep {
  rule: string;
  node: string;
  function: string;
  removed: number[];
  added: NodeRecord[];
  changed: NodeRecord[];
  moved: [number, number][];
}

export interface Phase {
  phase: string;
  ms: number;
  nodes: number;
  rules: { rule: string; fired: number }[];
  steps: RewriteStep[];
}

export interface FinalNode {
  id: number;
  name: string;
  op: string;
  work: "runs" | "holds" | "planning" | "alias";
  accelerated: boolean;
  origins: number[];
  reason: Reason | null;
  outputs?: string[];  // dtype and shape of each
}

export interface PlanStep {
  node: number | null;
  name: string;
  op: string;
  implementation: string;
  accelerated: boolean;
  dynamic: boolean;
  device: string;
  flops: number;
  bytes: number;
  limit: string;
  reason: Reason | null;
  ms: number;
}

export interface ArenaItem {
  offset: number;
  bytes: number;
  first: number;
  last: number;
  scratch: boolean;
  node?: number | null;
  port?: number;
  name?: string;
}

export interface Weights {
  node: number;
  dtype: string;
  shape: number[];
  bytes: number;
  min: number | null;
  max: number | null;
  mean: number | null;
  std: number | null;
  zeros: number;
  nonfinite: number;
  histogram: number[];
}

export interface NearMiss {
  phase: string;
  rule: string;
  at: string;
  function?: string;  // of the graph's library, whose ids `nodes` are; empty: the graph itself
  reason: Reason;
  nodes: number[];
  now: number[];
  saves_ms: number;
}

export interface WhyNot {
  phase: string;
  rule: string;
  at: number;
  function?: string;
  matched: number[];
  reason: Reason;
}

export interface Report {
  schema: string;
  version: number;
  model: { source: string; format: string; signature: string };
  machine: {
    cpu: string;
    cpus: number;
    threads: number;
    precision: string;
    peak_flops_per_s: number | null;
    peak_bytes_per_s: number | null;
  };
  onednn_opts: boolean;
  loaded: NodeRecord[];
  phases: Phase[];
  final: FinalNode[];
  outputs: { name: string; node: number; port: number }[];
  near_misses: NearMiss[];
  why_nots: WhyNot[];
  scopes: { prefix: string };
  planning: string;
  inputs: { name: string; dtype: string; shape: number[] }[] | null;
  steps: PlanStep[] | null;
  profile: { runs: number; ms: number } | null;
  memory: { arena_bytes: number; unshared_bytes: number; items: ArenaItem[] } | null;
  advice: { kind: string; what: string; why: string; saves_ms: number }[];
  weights?: Weights[];
  // Of one run: step, start and duration in microseconds, lane.
  timeline?: { ms: number; events: [number, number, number, number][] } | null;
}

// Columns: entry i of each belongs to node i. Layer and order count within the parent scope.
export interface Layout {
  nodes: { id: number[]; scope: number[]; layer: number[]; order: number[] };
  scopes: { name: string; label: string; parent: number; layer: number; order: number }[];
}

export interface ComparisonRow {
  a: number | null;
  b: number | null;
  a_ms: number;
  b_ms: number;
  marks: string[];
  text: string;
}

export interface Comparison {
  pairs: [number, number][];  // nodes of `final` of both that compute the same
  marks: { a: [number, string[]][]; b: [number, string[]][] };
  rows: ComparisonRow[];
  summary: string[];
}

export interface PageData {
  schema: string;
  version: number;
  models: { title: string; report: Report; layout: Layout }[];
  comparison: Comparison | null;
}
