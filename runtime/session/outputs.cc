#include "runtime/session/outputs.h"

#include <algorithm>
#include <cstring>

#include "env/status.h"
#include "runtime/plan/plan_builder.h"

namespace tenon {
namespace {

bool Overlap(const Tensor& a, const Tensor& b) {
  if (!a.valid() || !b.valid() || a.bytes() == 0 || b.bytes() == 0) return false;
  const char* const a_begin = static_cast<const char*>(a.raw());
  const char* const b_begin = static_cast<const char*>(b.raw());
  return a_begin < b_begin + b.bytes() && b_begin < a_begin + a.bytes();
}

}  // namespace

std::vector<Shape> InferOutputShapes(const std::shared_ptr<const ModelState>& model,
                                     absl::Span<const TensorInfo> inputs,
                                     const Services& services) {
  std::vector<TensorSpec> feeds;
  for (const TensorInfo& input : inputs) feeds.push_back({input.dtype, input.shape, nullptr});
  const std::vector<GraphOutput>& outputs = model->graph().outputs();
  std::vector<Shape> shapes(outputs.size(), Shape::Unknown());
  const absl::StatusOr<PlanDryRun> plan = DryRunPlan(model, feeds, services);
  if (!plan.ok()) return shapes;  // a run with complete shapes may still succeed
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto& ports = plan->outputs[static_cast<size_t>(outputs[i].source.node)];
    const auto port = static_cast<size_t>(outputs[i].source.port);
    if (port < ports.size()) shapes[i] = ports[port].shape;
  }
  return shapes;
}

absl::StatusOr<CallersOutputs> CallersOutputs::Create(absl::Span<const Tensor> inputs,
                                                      absl::Span<const TensorInfo> outputs,
                                                      absl::Span<const Tensor> given) {
  if (given.size() > outputs.size()) {
    return InvalidArgument("memory for ", given.size(), " outputs; the model has ", outputs.size());
  }
  CallersOutputs made;
  made.outputs_ = outputs;
  made.given_ = given;
  for (size_t i = 0; i < given.size(); ++i) {
    const Tensor& t = given[i];
    made.in_place_.emplace_back();
    if (!t.valid()) continue;
    if (outputs[i].dtype != DType::kInvalid && t.dtype() != outputs[i].dtype) {
      return InvalidArgument("output '", outputs[i].name, "' is ", Name(outputs[i].dtype),
                             ", but the tensor given for it is ", Name(t.dtype()));
    }
    for (size_t k = 0; k < i; ++k) {
      if (!Overlap(t, given[k])) continue;
      return InvalidArgument("the tensors given for outputs '", outputs[k].name, "' and '",
                             outputs[i].name, "' share memory");
    }
    const bool shared = std::any_of(inputs.begin(), inputs.end(),
                                    [&](const Tensor& input) { return Overlap(t, input); });
    if (!shared) made.in_place_.back() = t;
  }
  return made;
}

absl::Status CallersOutputs::Fill(std::vector<Tensor>& results) const {
  for (size_t i = 0; i < given_.size(); ++i) {
    if (!given_[i].valid()) continue;
    if (given_[i].shape() == results[i].shape() && given_[i].dtype() == results[i].dtype()) {
      continue;
    }
    return InvalidArgument("output '", outputs_[i].name, "' is ", Name(results[i].dtype()),
                           " of shape ", results[i].shape().ToString(),
                           ", but the tensor given for it is ", Name(given_[i].dtype()),
                           " of shape ", given_[i].shape().ToString());
  }
  for (size_t i = 0; i < given_.size(); ++i) {
    Tensor to = given_[i];
    if (!to.valid()) continue;
    if (!to.SharesBufferWith(results[i])) {
      if (to.dtype() == DType::kString) {
        std::copy_n(results[i].data<std::string>(), to.num_elements(), to.data<std::string>());
      } else if (to.bytes() > 0) {
        std::memcpy(to.raw(), results[i].raw(), to.bytes());
      }
    }
    results[i] = std::move(to);
  }
  return absl::OkStatus();
}

}  // namespace tenon
