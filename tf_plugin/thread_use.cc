#include "tf_plugin/thread_use.h"

#include <atomic>

#include "env/cpu.h"

namespace tenon::plugin {
namespace {

void Raise(std::atomic<int>& most, int to) {
  int now = most.load(std::memory_order_relaxed);
  while (now < to && !most.compare_exchange_weak(now, to, std::memory_order_relaxed)) {
  }
}

std::atomic<int> at_work = 0;
std::atomic<int> most_at_once = 0;
std::atomic<int> most_of_an_op = 0;

class Counter final : public ThreadsObserver {
 public:
  void OnStart(int threads) override {
    Raise(most_of_an_op, threads);
    Raise(most_at_once, at_work.fetch_add(threads, std::memory_order_relaxed) + threads);
  }
  void OnEnd(int threads) override { at_work.fetch_sub(threads, std::memory_order_relaxed); }
};

Counter counter;

}  // namespace

ThreadsObserver& CountedRuns() { return counter; }

CountedThreads::CountedThreads(int threads) : threads_(threads) { counter.OnStart(threads); }
CountedThreads::~CountedThreads() { counter.OnEnd(threads_); }

}  // namespace tenon::plugin

// The most threads used by one op, and by all ops at once, since the last call; and the number of
// CPUs.
extern "C" __attribute__((visibility("default"))) void TenonThreadUse(int* of_an_op, int* at_once,
                                                                      int* cpus) {
  using namespace tenon::plugin;
  *of_an_op = most_of_an_op.exchange(0, std::memory_order_relaxed);
  *at_once = most_at_once.exchange(0, std::memory_order_relaxed);
  *cpus = tenon::AvailableCpus();
}
