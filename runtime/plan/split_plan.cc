#include "runtime/plan/split_plan.h"

#include <cstring>

#include "env/status.h"
#include "runtime/execution/flat_plan.h"

namespace tenon {
namespace {

// Sums the times of each step over the parts.
class StepTimes : public StepObserver {
 public:
  explicit StepTimes(size_t steps) : nanoseconds_(steps, 0) {}
  void OnStep(int step, int64_t nanoseconds) override {
    nanoseconds_[static_cast<size_t>(step)] += nanoseconds;
  }
  void Tell(StepObserver& observer) const {
    for (size_t i = 0; i < nanoseconds_.size(); ++i) {
      observer.OnStep(static_cast<int>(i), nanoseconds_[i]);
    }
  }

 private:
  std::vector<int64_t> nanoseconds_;
};

// The rows of part number `part`, as a view of `whole`.
Tensor PartOf(const Tensor& whole, int64_t part, int64_t parts) {
  std::vector<int64_t> dims(whole.shape().dims().begin(), whole.shape().dims().end());
  dims[0] /= parts;
  char* const data = static_cast<char*>(const_cast<void*>(whole.raw()));
  const size_t bytes = whole.bytes() / static_cast<size_t>(parts);
  return Tensor::FromExternal(whole.dtype(), Shape(dims), data + bytes * static_cast<size_t>(part),
                              nullptr);
}

// "node 'x' (Op)", or the output's number if the plan does not know its node.
std::string NameOfOutput(const Plan& plan, size_t output) {
  const auto* const flat = dynamic_cast<const FlatPlan*>(&plan);
  if (flat == nullptr) return absl::StrCat("output ", output);
  return NodeLabel(flat->graph->node(flat->graph->outputs()[output].source.node));
}

}  // namespace

absl::StatusOr<std::vector<Tensor>> SplitPlan::DoRun(absl::Span<const Tensor> feeds,
                                                     const RunOptions& options) const {
  StepObserver* const observer = options.observer;
  std::vector<Tensor> outputs(outputs_.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs_[i].split) continue;
    const TensorSpec& spec = outputs_[i].spec;
    if (i < options.into.size() && options.into[i].dtype() == spec.dtype &&
        options.into[i].shape() == spec.shape) {
      outputs[i] = options.into[i];
      continue;
    }
    absl::StatusOr<Tensor> made = Tensor::Allocate(spec.dtype, spec.shape);
    if (!made.ok()) return Annotate(made.status(), NameOfOutput(*part_, i));
    outputs[i] = *std::move(made);
  }
  StepTimes times(observer == nullptr ? 0 : static_cast<size_t>(part_->stats().steps));
  const RunOptions part_options{.observer = observer == nullptr ? nullptr : &times,
                                .stop = options.stop};
  std::vector<Tensor> part(feeds.begin(), feeds.end());
  for (int64_t p = 0; p < parts_; ++p) {
    for (size_t i = 0; i < part.size(); ++i) {
      if (split_feeds_[i] && feeds[i].valid()) part[i] = PartOf(feeds[i], p, parts_);
    }
    TENON_ASSIGN_OR_RETURN(const std::vector<Tensor> results, part_->Run(part, part_options));
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs_[i].split) {
        Tensor place = PartOf(outputs[i], p, parts_);
        if (results[i].shape() != place.shape()) {
          return Internal("output ", i, " of a part has shape ", results[i].shape().ToString(),
                          ", not ", place.shape().ToString());
        }
        if (place.bytes() > 0) std::memcpy(place.raw(), results[i].raw(), place.bytes());
      } else {
        outputs[i] = results[i];
      }
    }
  }
  if (observer != nullptr) times.Tell(*observer);
  return outputs;
}

std::vector<StepInfo> SplitPlan::Describe() const {
  std::vector<StepInfo> infos = part_->Describe();
  for (StepInfo& info : infos) {
    info.flops *= static_cast<double>(parts_);
    info.bytes *= parts_;
  }
  return infos;
}

}  // namespace tenon
