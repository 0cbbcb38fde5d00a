// Runs the rewriting phases on a graph: clean, fold, fuse, precision, rename.
//
//   TENON_ASSIGN_OR_RETURN(RewriteReport report, Rewrite(graph, {.services = &services}));
//
// The gate: if flags.onednn_opts is off, nothing changes. flags.disabled_rules names rules to skip;
// an unknown name is an InvalidArgument. If a rule fails on a match, that match stays as it is, and
// the report says so. Bodies of control flow are rewritten like any graph.
#ifndef TENON_GRAPH_REWRITE_PIPELINE_H_
#define TENON_GRAPH_REWRITE_PIPELINE_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "env/containers.h"
#include "graph/graph.h"
#include "graph/rewriter.h"
#include "graph_rewrite/rule.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The precision in which contractions, and the ops between them, compute.
enum class Precision { kFloat, kBfloat16 };

// `asked`, or the value of TF_SET_ONEDNN_FPMATH_MODE. InvalidArgument if that is not BF16, STRICT
// or empty.
absl::StatusOr<Precision> ResolvePrecision(std::optional<Precision> asked, const Flags& flags);

struct RewriteOptions {
  const Services* services = nullptr;  // required: flags, threads
  // Called with the graph before the first phase ("loaded") and after each.
  std::function<void(absl::string_view phase, const Graph& graph)> dump = nullptr;
  // Only the phases from `first` to `last`.
  Phase first = Phase::kClean;
  Phase last = Phase::kRename;
  // kBfloat16 is for CPUs with the instructions (primitive_cache/isa.h); it is slow on others.
  std::optional<Precision> precision = std::nullopt;  // not given: TF_SET_ONEDNN_FPMATH_MODE
  bool record_steps = false;                          // as diffs
  bool record_edits = false;                          // as data: RewriteStep::edit
  // Skips the rules that run last (Rule::last).
  bool skip_last_rules = false;
#ifdef NDEBUG
  bool verify = false;
#else
  bool verify = true;
#endif
};

struct PhaseReport {
  Phase phase = Phase::kClean;
  double ms = 0;
  int sweeps = 0;
  int nodes_after = 0;
  bool hit_bound = false;  // rules were still firing when the sweeps ran out
  OrderedMap<std::string, int> fired;
  std::vector<RewriteStep> steps;  // with record_steps or record_edits
};

struct RewriteReport {
  bool enabled = true;  // the gate
  double ms = 0;
  OrderedMap<std::string, int> ops_before, ops_after;  // of the top graph
  std::vector<PhaseReport> phases;

  int Fired(absl::string_view rule) const;
};

absl::StatusOr<RewriteReport> Rewrite(Graph& graph, const RewriteOptions& options);

// The number of nodes per op.
OrderedMap<std::string, int> CountOps(const Graph& graph);

// VerifyGraph with the op table: known ops must have the right number of inputs and outputs.
absl::Status VerifyWithOps(const Graph& graph);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_PIPELINE_H_
