// Removes ops that pass their input on.
#include "absl/strings/str_cat.h"
#include "graph_rewrite/rule.h"
#include "graph_rewrite/rules/forward.h"

namespace tenon {

Outcome Forward(RuleContext& context, NodeId id, absl::Span<const Endpoint> values) {
  if (context.Candidate(id).op.empty()) return Outcome::NotMine();
  if (!context.shapes.Accepts(id)) return Outcome::Skip(1, "its inputs do not fit", id);
  for (const GraphInput& in : context.graph().inputs()) {
    if (in.node == id) return Outcome::Skip(1, "it is an input of the graph", id);
  }
  const std::vector<Endpoint> to(values.begin(), values.end());
  for (size_t port = 0; port < to.size(); ++port) {
    context.rw.ReplaceAllUses({id, static_cast<int>(port)}, to[port]);
  }
  context.rw.ReplaceControlUses(id, to[0].node);
  context.RemoveIfDead(id);
  return Outcome::Fired();
}

namespace {

Outcome RemoveIdentity(RuleContext& context, NodeId id) {
  const auto& inputs = context.node(id).inputs;
  if (inputs.empty()) return Outcome::NotMine();
  return Forward(context, id, std::vector<Endpoint>(inputs.begin(), inputs.end()));
}

const RuleRegistration identity({
    .name = "RemoveIdentity",
    .doc = "Identity, IdentityN, StopGradient and similar ops, and defaults that nobody feeds, are "
           "removed",
    .phase = Phase::kClean,
    .anchors = "Identity|IdentityN|StopGradient|PreventGradient|Snapshot|PlaceholderWithDefault",
    .apply = RemoveIdentity,
});

Outcome RemoveCast(RuleContext& context, NodeId id) {
  const Node& n = context.node(id);
  const DType* from = n.attr<DType>("SrcT");
  const DType* to = n.attr<DType>("DstT");
  if (from == nullptr || to == nullptr || *from != *to) {
    return Outcome::Skip(0, "it changes the dtype", id);
  }
  return Forward(context, id, {n.inputs[0]});
}

const RuleRegistration cast({
    .name = "RemoveCast",
    .doc = "a Cast to the dtype that the tensor already has is removed",
    .phase = Phase::kClean,
    .anchors = "Cast",
    .apply = RemoveCast,
});

// Whether the tensor is an argument of the function whose body this may be.
bool IsArgument(const RuleContext& context, Endpoint e) {
  while (context.node(e).op == "Identity") e = context.node(e).inputs[0];
  return context.node(e).op == "Placeholder";
}

// ConcatV2 and AddN of one tensor; AddN of two becomes AddV2, which more rules support.
Outcome SimplifySum(RuleContext& context, NodeId id) {
  const Node& n = context.node(id);
  if (n.op == "ConcatV2") {
    if (n.inputs.size() != 2) return Outcome::Skip(0, "it joins several tensors", id);
    return Forward(context, id, {n.inputs[0]});
  }
  if (n.op == "Add") {
    const DType* t = n.attr<DType>("T");
    if (t == nullptr || *t == DType::kString) return Outcome::Skip(0, "it joins strings", id);
    context.rw.SetOp(id, "AddV2");
    return Outcome::Fired();
  }
  if (n.inputs.size() == 1) return Forward(context, id, {n.inputs[0]});
  const DType* dtype = n.attr<DType>("T");
  if (n.inputs.size() != 2 || dtype == nullptr) {
    return Outcome::Skip(0, absl::StrCat("it adds ", n.inputs.size(), " tensors"), id);
  }
  if (!IsFloating(*dtype) && !IsInteger(*dtype)) return Outcome::Skip(1, "of another dtype", id);
  // AddV2 would broadcast shapes that AddN refuses.
  if (!context.shapes.Accepts(id)) return Outcome::Skip(1, "its inputs do not fit", id);
  // What adds to a loop's sum tells the shape of a term (MoveLoopSums).
  const Endpoint a = n.inputs[0], b = n.inputs[1];
  if ((IsArgument(context, a) || IsArgument(context, b)) && !context.shapes.SameShape(a, b)) {
    return Outcome::Skip(1, "its inputs are not known to have one shape", id);
  }
  context.rw.SetOp(id, "AddV2");
  context.rw.EraseAttr(id, "N");
  return Outcome::Fired();
}

const RuleRegistration sum({
    .name = "SimplifySum",
    .doc = "ConcatV2 and AddN of one tensor are that tensor; AddN of two, and Add of numbers, is "
           "AddV2",
    .phase = Phase::kClean,
    .anchors = "Add|AddN|ConcatV2",
    .apply = SimplifySum,
    .keeps_control_inputs = true,
});

}  // namespace
}  // namespace tenon
