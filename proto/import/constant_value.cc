#include "proto/import/constant_value.h"

#include <utility>
#include <vector>

#include "env/flags.h"
#include "env/status.h"
#include "ops/evaluate.h"
#include "ops/op.h"
#include "proto/import/variables.h"

namespace tenon {
namespace {

constexpr int kMaxDepth = 64;

class Evaluator {
 public:
  Evaluator(const Draft& draft, const AssetFiles& assets, VariableStore* store)
      : draft_(draft), assets_(assets), store_(store) {}

  absl::StatusOr<Tensor> ValueOf(Endpoint e, int depth) const;

 private:
  const Draft& draft_;
  const AssetFiles& assets_;
  VariableStore* const store_;
};

absl::StatusOr<Tensor> Evaluator::ValueOf(Endpoint e, int depth) const {
  const Node& n = draft_.node(e.node);
  if (depth > kMaxDepth) return InvalidArgument(NodeLabel(n), ": an expression too deep");
  if (const auto it = assets_.find(n.name); it != assets_.end()) {
    return Tensor::Scalar<std::string>(it->second);
  }
  if (n.op == "ReadVariableOp" && n.inputs.size() == 1) {
    // TensorFlow 2 stores an asset's path in a variable, and assigns it just before.
    for (NodeId id = 0; id < draft_.end_id(); ++id) {
      const Node& assign = draft_.node(id);
      if (assign.op == "AssignVariableOp" && assign.inputs.size() == 2 &&
          assign.inputs[0] == n.inputs[0]) {
        return ValueOf(assign.inputs[1], depth + 1);
      }
    }
  }
  if (n.op == "Const") {
    if (const Tensor* value = n.attr<Tensor>("value")) return *value;
    return InvalidArgument(NodeLabel(n), ": has no value");
  }
  if (n.op == "RestoreV2" && store_ != nullptr) return store_->Restored(draft_, n, e.port);
  const OpLookup op = FindOp(n.op);
  if (!op || op.info->row.stateful || op.info->row.reference == nullptr || n.inputs.empty()) {
    return Unimplemented(NodeLabel(n), ": is needed when the model is loaded, and not constant");
  }
  std::vector<Tensor> inputs;
  for (const Endpoint& input : n.inputs) {
    TENON_ASSIGN_OR_RETURN(Tensor value, ValueOf(input, depth + 1));
    inputs.push_back(std::move(value));
  }
  Node complete = n;
  TENON_RETURN_IF_ERROR(CompleteAttrs(*op.info, complete));
  const Flags flags;
  const Services services{.flags = &flags};
  TENON_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, Evaluate(complete, inputs, services));
  if (static_cast<size_t>(e.port) >= outputs.size()) {
    return InvalidArgument(NodeLabel(n), ": has no output ", e.port);
  }
  return outputs[static_cast<size_t>(e.port)];
}

}  // namespace

absl::StatusOr<Tensor> ConstantValue(const Draft& draft, Endpoint e, const AssetFiles& assets,
                                     VariableStore* store) {
  return Evaluator(draft, assets, store).ValueOf(e, 0);
}

}  // namespace tenon
