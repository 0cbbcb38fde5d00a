// Lets the allocations of an operation fail, one after the other.
#ifndef TENON_TESTS_FAULTS_FAULT_SWEEP_H_
#define TENON_TESTS_FAULTS_FAULT_SWEEP_H_

#include <functional>
#include <string>

#include "absl/status/status.h"

namespace tenon::faults {

struct Operation {
  std::string name;
  // Makes what the operation needs; no faults yet.
  std::function<absl::Status()> prepare = [] { return absl::OkStatus(); };
  std::function<absl::Status()> run;
  // After the fault, without faults: the same objects still work. Then destroys them.
  std::function<absl::Status()> check;
};

// Runs the operation with its n-th allocation failing, for about `points` n spread over all of
// them (Long(): all), and with all from the n-th on failing. Each run must succeed or give
// ResourceExhausted, `check` must succeed, and no block may be left that was not there before.
void Sweep(const Operation& operation, int points);

}  // namespace tenon::faults

#endif  // TENON_TESTS_FAULTS_FAULT_SWEEP_H_
