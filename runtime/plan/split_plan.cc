#include "runtime/plan/split_plan.h"

#include <cstring>

#include "absl/container/inlined_vector.h"
#include "env/status.h"
#include "kernels/interface/parallel.h"
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
  void Add(const StepTimes& other) {
    for (size_t i = 0; i < nanoseconds_.size(); ++i) nanoseconds_[i] += other.nanoseconds_[i];
  }
  void Tell(StepObserver& observer, int threads) const {
    for (size_t i = 0; i < nanoseconds_.size(); ++i) {
      observer.OnStep(static_cast<int>(i), nanoseconds_[i] / threads);
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
  const auto members = static_cast<size_t>(threads_);
  std::vector<StepTimes> times(
      members, StepTimes(observer == nullptr ? 0 : static_cast<size_t>(part_->stats().steps)));
  std::vector<absl::Status> failed(members);
  ParallelTasks(threads_, parts_, [&](int member, int64_t part) {
    const auto m = static_cast<size_t>(member);
    if (!failed[m].ok()) return;
    failed[m] = RunPart(
        part, feeds, {.observer = observer == nullptr ? nullptr : &times[m], .stop = options.stop},
        absl::MakeSpan(outputs));
  });
  for (absl::Status& status : failed) TENON_RETURN_IF_ERROR(std::move(status));
  if (observer != nullptr) {
    for (size_t m = 1; m < members; ++m) times[0].Add(times[m]);
    times[0].Tell(*observer, threads_);
  }
  return outputs;
}

absl::Status SplitPlan::RunPart(int64_t part, absl::Span<const Tensor> feeds,
                                const RunOptions& options, absl::Span<Tensor> outputs) const {
  absl::InlinedVector<Tensor, 4> own(feeds.begin(), feeds.end());
  for (size_t i = 0; i < own.size(); ++i) {
    if (split_feeds_[i] && feeds[i].valid()) own[i] = PartOf(feeds[i], part, parts_);
  }
  absl::InlinedVector<Tensor, 4> into(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs_[i].split) into[i] = PartOf(outputs[i], part, parts_);
  }
  RunOptions part_options = options;
  part_options.into = into;
  TENON_ASSIGN_OR_RETURN(const std::vector<Tensor> results, part_->Run(own, part_options));
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs_[i].split) {
      if (part == 0) outputs[i] = results[i];
      continue;
    }
    if (results[i].shape() != into[i].shape()) {
      return Internal("output ", i, " of a part has shape ", results[i].shape().ToString(),
                      ", not ", into[i].shape().ToString());
    }
    if (results[i].raw() == into[i].raw() || into[i].bytes() == 0) continue;
    std::memcpy(into[i].raw(), results[i].raw(), into[i].bytes());
  }
  return absl::OkStatus();
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
