// The names of Tenon's ops in TensorFlow's process. `_MklNativeConv2D` and others already exist
// there, so private ops are called `_TenonConv2D` and so on, one for each row that graphs may
// contain.
#ifndef TENON_TF_PLUGIN_NAMES_H_
#define TENON_TF_PLUGIN_NAMES_H_

#include <string>

#include "absl/strings/string_view.h"
#include "ops/op.h"
#include "proto/process/process_graph.h"

namespace tenon::plugin {

// Whether graphs may contain the row as a private op: ops that rewrites create, and ops with an
// accelerated kernel worth the call. Elementwise ops that were not fused remain TensorFlow's own.
bool InGraphs(const OpInfo& op);

// The op of a part of a graph that runs as one node (subgraphs.h).
inline constexpr char kSubgraphOp[] = "_Subgraph";

// How the names of private ops begin.
inline constexpr char kPrivatePrefix[] = "_Tenon";
// "_TenonConv2D" for Conv2D, "_TenonFusedConv2D" for _FusedConv2D.
std::string PrivateName(const OpInfo& op);

// The name that TensorFlow's oneDNN rewrite gives the op, and the label of its kernels:
// "_MklNativeConv2D", but "_MklMatMul".
struct OneDnnName {
  std::string op;
  const char* label;
};
OneDnnName NameOfOneDnn(const OpInfo& op);
// The row of the op with that name; null if there is none.
const OpInfo* RowOfOneDnn(absl::string_view name);

ProcessNames NamesInTensorFlow();

}  // namespace tenon::plugin

#endif  // TENON_TF_PLUGIN_NAMES_H_
