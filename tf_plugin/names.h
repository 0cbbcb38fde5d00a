// How Tenon's ops are called in TensorFlow's process: `_MklNativeConv2D` and others exist there, so
// private ops have names of their own, `_TenonConv2D`, one for each row that graphs may hold.
#ifndef TENON_TF_PLUGIN_NAMES_H_
#define TENON_TF_PLUGIN_NAMES_H_

#include <string>

#include "absl/strings/string_view.h"
#include "ops/op.h"
#include "proto/process/process_graph.h"

namespace tenon::plugin {

// Whether graphs may hold the row as a private op: what rewrites make, and ops with an accelerated
// kernel worth its call. Elementwise ops that nothing was fused with stay TensorFlow's own.
bool InGraphs(const OpInfo& op);

// "_TenonConv2D" for Conv2D, "_TenonFusedConv2D" for _FusedConv2D.
std::string PrivateName(const OpInfo& op);

// What TensorFlow's own oneDNN rewrite calls the op, and the label of its kernels:
// "_MklNativeConv2D", but "_MklMatMul".
struct OneDnnName {
  std::string op;
  const char* label;
};
OneDnnName NameOfOneDnn(const OpInfo& op);
// The row of an op that is called so; null: none.
const OpInfo* RowOfOneDnn(absl::string_view name);

ProcessNames NamesInTensorFlow();

}  // namespace tenon::plugin

#endif  // TENON_TF_PLUGIN_NAMES_H_
