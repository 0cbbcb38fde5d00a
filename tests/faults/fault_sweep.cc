#include "tests/faults/fault_sweep.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <limits>

#include "absl/strings/str_cat.h"
#include "tests/faults/allocation_hook.h"
#include "tests/faults/long.h"

namespace tenon::faults {
namespace {

// What runs, for the report of a crash.
char label[256];

void SayWhere(int signal) {
  const char begin[] = "signal in the sweep of ";
  if (write(2, begin, sizeof(begin) - 1) < 0 || write(2, label, sizeof(label)) < 0) _exit(1);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

struct Outcome {
  absl::Status status;
  int64_t counted = 0;
};

// One round. Blocks that are left belong to caches of the process, or leak.
Outcome Round(const Operation& operation, int64_t n, Failing failing) {
  Outcome outcome;
  absl::Status prepared = operation.prepare();
  EXPECT_TRUE(prepared.ok()) << prepared;
  {
    AllocationFault fault(n, failing);
    outcome.status = operation.run();
    outcome.counted = fault.End();
  }
  const absl::Status checked = operation.check();
  EXPECT_TRUE(checked.ok()) << checked;
  return outcome;
}

bool Leaks(const Operation& operation, int64_t n, Failing failing) {
  constexpr int kRounds = 4;  // caches are full after the first ones
  int64_t before = LiveBlocks();
  for (int round = 0; round < kRounds; ++round) {
    Round(operation, n, failing);
    const int64_t after = LiveBlocks();
    if (after <= before) return false;
    before = after;
  }
  return true;
}

}  // namespace

void Sweep(const Operation& operation, int points) {
  for (int signal : {SIGABRT, SIGSEGV, SIGALRM}) std::signal(signal, SayWhere);
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  for (int i = 0; i < 3; ++i) Round(operation, kNone, Failing::kOne);  // fills caches
  const Outcome whole = Round(operation, kNone, Failing::kOne);
  ASSERT_TRUE(whole.status.ok()) << whole.status;
  const int64_t stride = Long() ? 1 : std::max<int64_t>(1, whole.counted / points);
  int64_t errors = 0, faults = 0;
  for (const Failing failing : {Failing::kOne, Failing::kRest}) {
    for (int64_t n = From(); n <= whole.counted && !::testing::Test::HasFailure(); n += stride) {
      std::snprintf(label, sizeof(label), "%s: allocation %lld of %lld, %s\n",
                    operation.name.c_str(), static_cast<long long>(n),
                    static_cast<long long>(whole.counted),
                    failing == Failing::kOne ? "alone" : "and all that follow");
      SCOPED_TRACE(label);
      alarm(120);  // a run that waits for ever
      const int64_t before = LiveBlocks();
      const Outcome outcome = Round(operation, n, failing);
      ++faults;
      errors += !outcome.status.ok();
      if (!outcome.status.ok()) {
        EXPECT_EQ(outcome.status.code(), absl::StatusCode::kResourceExhausted) << outcome.status;
      }
      // oneDNN leaks a product's kernel that gets no memory for its code, and leveldb an index
      // block if there is no memory for its table.
      if (LiveBlocks() > before && !RefusedLeaky()) {
        EXPECT_FALSE(Leaks(operation, n, failing));
      }
      alarm(0);
    }
  }
  EXPECT_GT(errors, 0) << operation.name;
  std::printf("%s: %lld allocations, %lld faults, %lld errors\n", operation.name.c_str(),
              static_cast<long long>(whole.counted), static_cast<long long>(faults),
              static_cast<long long>(errors));
}

}  // namespace tenon::faults
