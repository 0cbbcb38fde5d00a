// What a caller may ask of one run of a plan, beside its feeds.
#ifndef TENON_RUNTIME_EXECUTION_RUN_OPTIONS_H_
#define TENON_RUNTIME_EXECUTION_RUN_OPTIONS_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/tensor.h"

namespace tenon {

class Plan;

// Is notified when each step ends; for profiles. Called on the thread that runs the plan.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  // Before the first step of a session's run.
  virtual void OnRun(const std::shared_ptr<const Plan>& plan) {}
  // Before OnStep, if the step is a loop.
  virtual void OnLoop(int step, int64_t iterations) {}
  virtual void OnStep(int step, int64_t nanoseconds) = 0;
};

// Is notified of the threads that runs use; called by the threads that run, at the same time.
class ThreadsObserver {
 public:
  virtual ~ThreadsObserver() = default;
  // A run has got so many, and will give them back.
  virtual void OnStart(int threads) = 0;
  virtual void OnEnd(int threads) = 0;
};

// When a run has to end early. It is checked before each step, in the functions of control flow
// too; a step that runs is not interrupted.
struct StopCondition {
  using Clock = std::chrono::steady_clock;

  const std::atomic<bool>* cancelled = nullptr;  // any thread may set it; null: nobody will
  Clock::time_point deadline = Clock::time_point::max();

  bool never() const { return cancelled == nullptr && deadline == Clock::time_point::max(); }
  // Cancelled, DeadlineExceeded or OK.
  absl::Status Check() const {
    if (cancelled != nullptr && cancelled->load(std::memory_order_relaxed)) {
      return absl::CancelledError("the run was cancelled");
    }
    if (deadline != Clock::time_point::max() && Clock::now() >= deadline) {
      return absl::DeadlineExceededError("the run did not finish in time");
    }
    return absl::OkStatus();
  }
};

struct RunOptions {
  StepObserver* observer = nullptr;
  StopCondition stop = {};
  // Memory for the outputs, in their order; an invalid tensor, or none: new memory. It is used if
  // dtype and shape are the output's and it is aligned as Tensor::Allocate does; otherwise the
  // output has memory of its own. Must not overlap with feeds. If the run fails, its elements are
  // undefined.
  absl::Span<const Tensor> into = {};
  ThreadsObserver* threads = nullptr;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_EXECUTION_RUN_OPTIONS_H_
