// If and Case whose selector is constant become the nodes of the branch that it selects. Shapes and
// values then pass through, other rules see what was hidden in the function, and the conditions of
// further branches may become constants, too.
#include <memory>
#include <string>
#include <vector>

#include "env/status.h"
#include "graph_rewrite/inline_body.h"
#include "graph_rewrite/rule.h"
#include "ops/control/branch.h"
#include "ops/op.h"

namespace tenon {
namespace {

// The function that the node calls, if its nodes can take the node's place.
absl::StatusOr<std::shared_ptr<const Graph>> BranchToInline(RuleContext& context, const Node& n) {
  const Tensor* selector = context.Constant(n.inputs[0]);
  if (selector == nullptr) return WhyNot("its selector is not constant");
  const int chosen = ChosenBranch(n, *selector);
  const std::vector<const FuncRef*> branches = BranchesOf(n);
  if (chosen < 0 || branches[static_cast<size_t>(chosen)] == nullptr) {
    return WhyNot("it selects no branch");
  }
  const std::shared_ptr<const Graph> branch =
      context.FindFunction(branches[static_cast<size_t>(chosen)]->name);
  if (branch == nullptr) return WhyNot("the branch is not in the library");
  const Graph& body = *branch;
  if (!body.functions().empty()) return WhyNot("the branch has functions of its own");
  if (!body.targets().empty()) return WhyNot("the branch has side effects");
  const OpLookup op = FindOp(n.op);
  TENON_ASSIGN_OR_RETURN(const std::vector<DType> results, OutputDTypes(*op.info, n));
  if (body.inputs().size() + 1 != n.inputs.size() || body.outputs().size() != results.size()) {
    return WhyNot("the branch has another signature");
  }
  for (size_t i = 0; i < body.inputs().size(); ++i) {
    const DType* dtype = body.node(body.inputs()[i].node).attr<DType>("dtype");
    if (dtype == nullptr || context.shapes.dtype(n.inputs[i + 1]) != *dtype) {
      return WhyNot("an argument of the branch has another dtype");
    }
  }
  return branch;
}

Outcome InlineBranch(RuleContext& context, NodeId id) {
  const Node call = context.node(id);
  const auto body = BranchToInline(context, call);
  if (!body.ok()) return Outcome::Skip(0, std::string(body.status().message()), id);
  if (!context.IsUnordered(id)) {
    return Outcome::Skip(1, "other nodes wait for it, or it is a target", id);
  }
  std::vector<Endpoint> ends;
  for (const GraphOutput& output : (*body)->outputs()) ends.push_back(output.source);
  const absl::StatusOr<std::vector<Endpoint>> results =
      InlineBody(context, **body, absl::MakeConstSpan(call.inputs).subspan(1), ends);
  if (!results.ok()) return Outcome::Skip(1, std::string(results.status().message()), id);
  for (size_t i = 0; i < results->size(); ++i) {
    context.rw.ReplaceAllUses({id, static_cast<int>(i)}, (*results)[i]);
  }
  context.shapes.ExpectMore();
  context.RemoveIfDead(id);
  return Outcome::Fired();
}

const RuleRegistration inline_branch({
    .name = "InlineBranch",
    .doc = "If and Case whose selector is constant become the nodes of the branch",
    .phase = Phase::kFold,
    .anchors = "If|StatelessIf|Case|StatelessCase",
    .apply = InlineBranch,
});

}  // namespace
}  // namespace tenon
