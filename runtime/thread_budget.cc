#include "runtime/thread_budget.h"

#include <omp.h>

#include <algorithm>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "env/cpu.h"

namespace tenon {
namespace {

struct Budget {
  absl::Mutex mutex;
  const int total = AvailableCpus();
  int free ABSL_GUARDED_BY(mutex) = total;
};

Budget& TheBudget() {
  static Budget* const budget = new Budget;
  return *budget;
}

}  // namespace

ThreadsInUse::ThreadsInUse(int threads) : previous_(omp_get_max_threads()) {
  Budget& budget = TheBudget();
  taken_ = std::clamp(threads, 1, budget.total);
  struct Wanted {
    Budget* budget;
    int count;
  } wanted{&budget, taken_};
  const auto enough = [](Wanted* w)
                          ABSL_NO_THREAD_SAFETY_ANALYSIS { return w->budget->free >= w->count; };
  {
    absl::MutexLock lock(&budget.mutex);
    budget.mutex.Await(absl::Condition(+enough, &wanted));
    budget.free -= taken_;
  }
  if (previous_ != threads) omp_set_num_threads(threads);
}

ThreadsInUse::~ThreadsInUse() {
  if (omp_get_max_threads() != previous_) omp_set_num_threads(previous_);
  Budget& budget = TheBudget();
  absl::MutexLock lock(&budget.mutex);
  budget.free += taken_;
}

}  // namespace tenon
