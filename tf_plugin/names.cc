#include "tf_plugin/names.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "env/containers.h"
#include "env/status.h"
#include "ops/rename.h"
#include "tf_plugin/register.h"

namespace tenon::plugin {
namespace {

using Rows = HashMap<std::string, const OpInfo*>;

const Rows& PrivateRows() {
  static const Rows* const rows = [] {
    auto* all = new Rows;
    for (const OpInfo* op : AllOps()) {
      if (InGraphs(*op)) all->emplace(PrivateName(*op), op);
    }
    return all;
  }();
  return *rows;
}

const OpInfo* RowOf(const std::string& op) {
  if (auto it = PrivateRows().find(op); it != PrivateRows().end()) return it->second;
  const OpLookup found = FindOp(op);
  // TensorFlow's own `_FusedConv2D` has different attributes than ours.
  return found && !found.native && !found.info->row.internal ? found.info : nullptr;
}

// Rewrites pass integers through ops for which TensorFlow has no kernels of these dtypes.
bool IsQuantizedMove(const OpInfo& op, const Node& node) {
  const DType* dtype = node.attr<DType>("T");
  return dtype != nullptr && IsQuantized(*dtype) && absl::string_view(op.row.name) == "Transpose";
}

absl::StatusOr<std::string> NameOf(const OpInfo& op, const Node& node) {
  if (op.row.internal) {
    if (!InGraphs(op) && absl::string_view(op.row.name) != kSubgraphOp)
      return NotFound("op ", op.row.name, " has no name in TensorFlow");
    return PrivateName(op);
  }
  if (InGraphs(op) && (NativeName(op, node) != nullptr || IsQuantizedMove(op, node))) {
    return PrivateName(op);
  }
  return std::string(op.row.name);
}

}  // namespace

bool InGraphs(const OpInfo& op) {
  const OpRow& row = op.row;
  if (row.internal) return row.reference != nullptr || row.accelerated != nullptr;
  // An op of rewrites has its private name (_QuantizedMatMul that of QuantizedMatMul).
  if (FindOp(absl::StrCat("_", row.name))) return false;
  return row.native != nullptr && row.accelerated != nullptr && !row.elementwise && !row.alias &&
         !row.stateful;
}

std::string PrivateName(const OpInfo& op) {
  return absl::StrCat(kPrivatePrefix, absl::StripPrefix(op.row.name, "_"));
}

OneDnnName NameOfOneDnn(const OpInfo& op) {
  // op names: ops that never had a layout of their own are spelled otherwise in TensorFlow.
  static const auto* const kShort =
      new HashSet<absl::string_view>({"BatchMatMul", "BatchMatMulV2", "ConjugateTranspose",
                                      "Einsum", "MatMul", "Softmax", "Transpose"});
  const absl::string_view name = op.row.name;
  if (absl::StartsWith(name, "Quantize") || name == "Dequantize") {
    return {absl::StrCat("_Mkl", name), "QuantizedMklOp"};
  }
  const char* prefix = kShort->contains(name) ? "_Mkl" : "_MklNative";
  return {absl::StrCat(prefix, absl::StripPrefix(name, "_")), "MklNameChangeOp"};
}

const OpInfo* RowOfOneDnn(absl::string_view name) {
  if (!absl::ConsumePrefix(&name, "_MklNative") && !absl::ConsumePrefix(&name, "_Mkl")) {
    return nullptr;
  }
  OpLookup found = FindOp(name);
  if (!found) found = FindOp(absl::StrCat("_", name));
  return found ? found.info : nullptr;
}

namespace {

bool IsStateful(const std::string& op) {
  const absl::StatusOr<TensorFlowOps>& ops = OpsOfTensorFlow();
  if (!ops.ok()) return false;
  const auto found = ops->find(op);
  return found != ops->end() && found->second.stateful;
}

}  // namespace

ProcessNames NamesInTensorFlow() { return {RowOf, IsStateful, NameOf}; }

}  // namespace tenon::plugin
