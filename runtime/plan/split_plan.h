// A plan for a batch: another plan, for a part of its rows (slices along axis 0), is run over and
// over, so that what its steps pass on to each other stays in the CPU's caches, or by several
// threads, each on parts of its own, so that they do not wait for each other after each step.
#ifndef TENON_RUNTIME_PLAN_SPLIT_PLAN_H_
#define TENON_RUNTIME_PLAN_SPLIT_PLAN_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/execution/plan.h"

namespace tenon {

class SplitPlan final : public Plan {
 public:
  struct Output {
    TensorSpec spec;     // of the whole
    bool split = false;  // else the same for each part
  };

  // Feeds that are not split are given whole to each part. `outputs` are in the order of
  // Graph::outputs(). With several threads, `part` was built for one.
  SplitPlan(std::shared_ptr<const Plan> part, int64_t parts, std::vector<bool> split_feeds,
            std::vector<Output> outputs, int threads = 1)
      : part_(std::move(part)),
        parts_(parts),
        split_feeds_(std::move(split_feeds)),
        outputs_(std::move(outputs)),
        threads_(threads) {}

  int64_t parts() const { return parts_; }
  int threads() const { return threads_; }
  const std::vector<Output>& outputs() const { return outputs_; }

  const PlanStats& stats() const override { return part_->stats(); }
  std::vector<StepInfo> Describe() const override;
  // Of one part: all parts use the same memory.
  absl::Span<const ArenaUse> arena_use() const override { return part_->arena_use(); }
  size_t HeldBytes() const override { return part_->HeldBytes(); }
  absl::Span<const std::shared_ptr<const PreparedKernel>> kernels() const override {
    return part_->kernels();
  }

 private:
  // Part number `part`; `outputs` are those of the whole, in place if they are split.
  absl::Status RunPart(int64_t part, absl::Span<const Tensor> feeds, const RunOptions& options,
                       absl::Span<Tensor> outputs) const;
  // A step is observed once, with the time of all parts, shared by the threads.
  absl::StatusOr<std::vector<Tensor>> DoRun(absl::Span<const Tensor> feeds,
                                            const RunOptions& options) const override;

  const std::shared_ptr<const Plan> part_;
  const int64_t parts_;
  const std::vector<bool> split_feeds_;
  const std::vector<Output> outputs_;
  const int threads_;  // that run parts, each on its own
};

}  // namespace tenon

#endif  // TENON_RUNTIME_PLAN_SPLIT_PLAN_H_
