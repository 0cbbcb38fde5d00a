#include "runtime/plan/branch_forms.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "env/containers.h"
#include "graph/rewriter.h"
#include "ops/control/branch.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr size_t kMostInputs = 3;  // there may be two forms for each

// Whether a predicate may be computed by the op from other predicates.
bool IsLogic(const Node& node) {
  // op names: the logic of single booleans
  return node.op == "Identity" || node.op == "LogicalNot" || node.op == "LogicalAnd" ||
         node.op == "LogicalOr" || node.op == "PlaceholderWithDefault";
}

// Whether some branch depends on the node's value alone, or with others'.
bool DecidesBranch(const Graph& graph, NodeId input) {
  HashSet<NodeId> follows = {input};
  const absl::StatusOr<std::vector<NodeId>> order = graph.TopologicalOrder();
  if (!order.ok()) return false;
  for (NodeId id : *order) {
    const Node& node = graph.node(id);
    if (!BranchesOf(node).empty() && !node.inputs.empty() &&
        follows.contains(node.inputs[0].node)) {
      return true;
    }
    if (!IsLogic(node)) continue;
    for (const Endpoint& e : node.inputs) {
      if (follows.contains(e.node)) follows.insert(id);
    }
  }
  return false;
}

bool HasState(const Graph& graph) {
  for (NodeId id : graph.NodeIds()) {
    const OpLookup op = FindOp(graph.node(id).op);
    if (!op || op.info->row.stateful) return true;
  }
  for (const auto& [name, function] : graph.functions()) {
    if (HasState(*function)) return true;
  }
  return false;
}

// The readers of input `position` read a constant instead.
void Fix(Rewriter& rewriter, size_t position, const Tensor& value) {
  const NodeId input = rewriter.graph().inputs()[position].node;
  Node constant;
  constant.name = absl::StrCat(rewriter.node(input).name, "/value");
  constant.op = "Const";
  constant.attrs["dtype"] = DType::kBool;
  constant.attrs["value"] = value;
  rewriter.ReplaceAllUses({input, 0}, {rewriter.AddNode(std::move(constant)), 0});
}

}  // namespace

const Tensor* KnownBool(const Tensor& t) {
  static const Tensor* const no = new Tensor(Tensor::Scalar<bool>(false));
  static const Tensor* const yes = new Tensor(Tensor::Scalar<bool>(true));
  if (!t.valid() || t.dtype() != DType::kBool || t.shape().rank() != 0) return nullptr;
  return *t.data<bool>() ? yes : no;
}

std::unique_ptr<const BranchForms> BranchForms::Of(const Graph& graph) {
  std::vector<size_t> inputs;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const Node& node = graph.node(graph.inputs()[i].node);
    const DType* dtype = node.attr<DType>("dtype");
    if (dtype == nullptr || *dtype != DType::kBool) continue;
    if (DecidesBranch(graph, node.id)) inputs.push_back(i);
  }
  if (inputs.empty() || inputs.size() > kMostInputs) return nullptr;
  return absl::WrapUnique(new BranchForms(std::move(inputs), graph));
}

absl::StatusOr<std::shared_ptr<const ModelState>> BranchForms::For(
    absl::Span<const TensorSpec> feeds, SessionVariables& variables, Rewrite rewrite) const {
  std::vector<const Tensor*> values;
  size_t which = 0;
  for (size_t i : inputs_) {
    const Tensor* value = feeds[i].value == nullptr ? nullptr : KnownBool(*feeds[i].value);
    if (value == nullptr) return nullptr;
    which |= size_t{*value->data<bool>()} << values.size();
    values.push_back(value);
  }
  MutexLock lock(&mutex_);
  std::optional<std::shared_ptr<const ModelState>>& form = forms_[which];
  if (form.has_value()) return *form;
  Graph graph = graph_;
  {
    Rewriter rewriter(graph);
    for (size_t k = 0; k < values.size(); ++k) Fix(rewriter, inputs_[k], *values[k]);
  }
  absl::StatusOr<std::shared_ptr<const ModelState>> made = nullptr;
  if (absl::Status status = rewrite(graph); !status.ok()) {
    made = status;
  } else if (!HasState(graph)) {
    made = ModelState::Create(std::move(graph), variables);
  }
  if (absl::IsResourceExhausted(made.status())) return made.status();
  // A form is for speed alone: without it, the model still runs.
  form = made.ok() ? *std::move(made) : nullptr;
  return *form;
}

void BranchForms::ForEach(absl::FunctionRef<void(const ModelState&)> visit) const {
  MutexLock lock(&mutex_);
  for (const auto& form : forms_) {
    if (form.has_value() && *form != nullptr) visit(**form);
  }
}

}  // namespace tenon
