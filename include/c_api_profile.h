// Collects the times of steps.
#ifndef TENON_INCLUDE_C_API_PROFILE_H_
#define TENON_INCLUDE_C_API_PROFILE_H_

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "runtime/execution/plan.h"
#include "tenon/tenon.h"

struct tenon_profile final : tenon::StepObserver {
  using Clock = std::chrono::steady_clock;

  // A plan that ran. It may be gone: what is told of its steps is kept.
  struct PlanSteps {
    std::weak_ptr<const tenon::Plan> plan;
    std::vector<tenon::StepInfo> steps;
  };
  struct Event {
    int step = 0;
    int64_t start_ns = 0;  // since the profile's first run
    int64_t ns = 0;
  };
  struct Run {
    size_t plan = 0;  // of `plans`
    int64_t start_ns = 0, end_ns = 0;
    std::vector<Event> events;
  };

  void OnRun(const std::shared_ptr<const tenon::Plan>& plan) override;
  void OnStep(int step, int64_t nanoseconds) override;
  // Forgets the run if it failed.
  void EndRun(bool ok);
  // As tenon_profile_trace gives it.
  std::string TraceText() const;

  Clock::time_point origin;
  std::vector<PlanSteps> plans;
  std::vector<Run> runs;
  bool running = false;

 private:
  int64_t Now() const { return (Clock::now() - origin) / std::chrono::nanoseconds(1); }
};

#endif  // TENON_INCLUDE_C_API_PROFILE_H_
