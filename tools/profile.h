// Time per node and per op, collected over several runs of one plan.
#ifndef TENON_TOOLS_PROFILE_H_
#define TENON_TOOLS_PROFILE_H_

#include <string>
#include <vector>

#include "runtime/execution/plan.h"

namespace tenon {

class Profile final : public StepObserver {
 public:
  explicit Profile(const Plan& plan)
      : steps_(plan.Describe()), nanoseconds_(steps_.size(), 0), fastest_(steps_.size(), 0) {}

  void OnStep(int step, int64_t nanoseconds) override {
    const size_t i = static_cast<size_t>(step);
    nanoseconds_[i] += nanoseconds;
    if (runs_ == 0 || nanoseconds < fastest_[i]) fastest_[i] = nanoseconds;
  }
  void EndRun() { ++runs_; }

  // The time of each step in its fastest run, because other load on the machine only adds. 0
  // without runs.
  std::vector<double> FastestMilliseconds() const;
  // Two tables; "ref" marks steps that ran a reference kernel, or oneDNN's own reference.
  std::string Text() const;

 private:
  std::vector<StepInfo> steps_;
  std::vector<int64_t> nanoseconds_;  // of all runs
  std::vector<int64_t> fastest_;
  int runs_ = 0;
};

}  // namespace tenon

#endif  // TENON_TOOLS_PROFILE_H_
