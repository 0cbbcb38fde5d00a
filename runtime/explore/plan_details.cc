#include "runtime/explore/plan_details.h"

#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "env/status.h"
#include "ops/evaluate.h"
#include "ops/op.h"
#include "runtime/plan/model_state.h"
#include "runtime/plan/plan_builder.h"

namespace tenon {
namespace {

// What kernels say when they refuse, and the change that would help.
struct Remedy {
  const char* words;
  const char* needed;
  const char* change;
};
constexpr Remedy kRemedies[] = {
    {"channels first", "channels last", "export it with data_format=\"NHWC\""},
    {"channels are not last", "channels last", "export it with data_format=\"NHWC\""},
    {"data_format", "channels last", "export it with data_format=\"NHWC\""},
    {"not float", "float", "compute it in float"},
    {"only float", "float", "compute it in float"},
    {"no vector kernel for", "a dtype with a vector kernel", "compute it in float"},
    {"does not contract", "a dtype that oneDNN contracts", "compute it in float"},
    {"mixed dtypes", "operands of one dtype", "cast its operands to one dtype"},
    {"not constant", "constant weights", "freeze the weights into the model"},
    {"weights that change", "constant weights", "freeze the weights into the model"},
    {"not known", "a value that is known before running", "make that input a constant"},
    {"known at Run only", "a value that is known before running", "make that input a constant"},
    {"not adjacent", "adjacent axes", "transpose, so that the reduced axes are adjacent"},
    {"is broadcast", "operands of the same shape", "broadcast the operand in an op of its own"},
    {"are broadcast", "operands of the same shape", "broadcast the operand in an op of its own"},
    {"on this CPU", "a CPU with exact 8-bit products (VNNI)", "run it on a CPU with VNNI"},
    {"string", "numbers", ""},
    {"empty", "elements", "do not run it on empty tensors"},
    {"nothing to", "elements", "do not run it on empty tensors"},
};

absl::StatusOr<std::vector<TensorSpec>> Infer(const Node& node,
                                              absl::Span<const TensorSpec> inputs) {
  const OpLookup op = FindOp(node.op);
  if (!op) return Unimplemented(NodeLabel(node), ": op is not implemented");
  return InferOutputs(*op.info, node, inputs);
}

// The message of the accelerated kernel's refusal; empty if it accepts, or cannot be asked.
std::string RefusalOf(const ModelState& model, const PlanDryRun& plan, const Node& node,
                      const Services& services) {
  const OpLookup op = FindOp(node.op);
  if (!op || !op.native || op.info->row.accelerated == nullptr) return "";
  std::vector<TensorSpec> inputs;
  std::vector<Constant*> constants;
  for (const Endpoint& e : node.inputs) {
    const auto& of = plan.outputs[static_cast<size_t>(e.node)];
    if (static_cast<size_t>(e.port) >= of.size()) return "";
    inputs.push_back(of[static_cast<size_t>(e.port)]);
    constants.push_back(model.constant(e.node));
    if (!inputs.back().shape.IsComplete()) return "";
  }
  const absl::StatusOr<std::vector<TensorSpec>> outputs = InferOutputs(*op.info, node, inputs);
  if (!outputs.ok()) return "";
  PrepareContext context(node, inputs, constants, *outputs, services, Infer);
  const absl::Status status = op.info->row.accelerated(context).status();
  return absl::IsUnimplemented(status) ? std::string(status.message()) : "";
}

}  // namespace

Reason ReasonOfRefusal(const Node& node, absl::string_view refusal) {
  absl::ConsumePrefix(&refusal, absl::StrCat(NodeLabel(node), ": "));
  Reason reason = MakeReason(ReasonKind::kKernelRefused, "", "",
                             absl::StrCat("the accelerated kernel refuses it: ", refusal));
  for (const Remedy& remedy : kRemedies) {
    if (!absl::StrContains(refusal, remedy.words)) continue;
    reason.needed = remedy.needed;
    reason.change = remedy.change;
    break;
  }
  return reason;
}

absl::StatusOr<PlanDetails> DetailsOfPlan(const Graph& graph, absl::Span<const TensorSpec> inputs,
                                          absl::Span<const NodeId> reference,
                                          const Services& services) {
  SessionVariables variables;
  TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const ModelState> model,
                         ModelState::Create(graph, variables));
  TENON_ASSIGN_OR_RETURN(PlanDryRun plan, DryRunPlan(model, inputs, services));
  // The model has ids of its own.
  const auto planned = [&](NodeId id) { return model->graph().FindNode(graph.node(id).name); };
  PlanDetails details;
  for (NodeId id : reference) {
    const Node* const node = graph.Has(id) ? planned(id) : nullptr;
    if (node == nullptr) continue;
    const std::string refusal = RefusalOf(*model, plan, *node, services);
    if (!refusal.empty()) details.refusals.emplace(id, ReasonOfRefusal(*node, refusal));
  }
  details.outputs.resize(static_cast<size_t>(graph.end_id()));
  for (NodeId id : graph.NodeIds()) {
    const Node* const node = planned(id);
    if (node == nullptr) continue;
    std::vector<TensorSpec>& outputs = details.outputs[static_cast<size_t>(id)];
    outputs = std::move(plan.outputs[static_cast<size_t>(node->id)]);
    for (TensorSpec& spec : outputs) spec.value = nullptr;
  }
  return details;
}

}  // namespace tenon
