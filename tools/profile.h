// Time per node, op, implementation or scope, collected over several runs of one plan.
#ifndef TENON_TOOLS_PROFILE_H_
#define TENON_TOOLS_PROFILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/execution/plan.h"
#include "runtime/explore/machine_peak.h"

namespace tenon {

// Whether the step runs a reference kernel, or oneDNN's own reference.
bool IsReference(const StepInfo& step);

// What one line of a profile stands for.
enum class ProfileBy { kNode, kOp, kImplementation, kScope };
absl::StatusOr<ProfileBy> ProfileByFromName(const std::string& name);

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
  int runs() const { return runs_; }

  // The time of each step in its fastest run, because other load on the machine only adds. 0
  // without runs.
  std::vector<double> FastestMilliseconds() const;
  // A table of mean times, longest first; "ref" marks what ran a reference kernel, or oneDNN's own
  // reference. A scope has the time of everything in it; scopes that all nodes share are left out.
  std::string Text(ProfileBy by, const MachinePeak& peak) const;

 private:
  std::vector<StepInfo> steps_;
  std::vector<int64_t> nanoseconds_;  // of all runs
  std::vector<int64_t> fastest_;
  int runs_ = 0;
};

}  // namespace tenon

#endif  // TENON_TOOLS_PROFILE_H_
