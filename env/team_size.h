// How many threads a session's runs use while other programs keep CPUs busy.
//
// A step ends when the slowest thread has done its part. If one of two threads gets 40% of a CPU,
// because another program runs there, too, both compute less than one thread alone does on a CPU of
// its own. So a team is never larger than the number of CPUs that its threads get, which follows
// from how long they ran and how long they waited for a CPU. From time to time a run uses all
// threads again, to see whether they get more.
#ifndef TENON_ENV_TEAM_SIZE_H_
#define TENON_ENV_TEAM_SIZE_H_

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/types/span.h"
#include "env/thread_times.h"

namespace tenon {

// The decisions. Times are in seconds.
class TeamSizeRule {
 public:
  explicit TeamSizeRule(int most) : most_(most), threads_(most) {}

  int threads() const { return threads_; }
  // `busy`: the time of the runs in an interval that ended at `now`; `members`: what the team's
  // threads did in this interval.
  void Decide(double now, double busy, absl::Span<const ThreadTimes> members);
  // Whether it is time for all threads again; then threads() are all.
  bool TryAll(double now);

 private:
  const int most_;
  int threads_;
  int crowded_ = 0;       // intervals in a row, with all threads
  double all_after_ = 0;  // when all threads are tried again
  double patience_ = 0;   // for how long they were not
};

// The largest team that computes faster than one of all members, each of which got a share of a
// CPU: `members` if none does.
int BestTeamSize(double busy, absl::Span<const ThreadTimes> members);

// Of a session, whose runs may be several at a time.
class TeamSize {
 public:
  // `fixed`: always `most`.
  TeamSize(int most, bool fixed);

  // For the next run.
  int threads() const { return threads_.load(std::memory_order_relaxed); }
  // A run on `threads`, by the calling thread's team, ended at `now` and took `elapsed`. Allocates
  // nothing.
  void Count(int threads, double now, double elapsed);
  // Whether threads() may change.
  bool watching() const { return watching_.load(std::memory_order_relaxed); }
  // From now on all threads, always.
  void Fix();

 private:
  // Runs of one thread between two looks at its team's times.
  struct Interval {
    std::thread::id caller;
    int threads = 0;
    double began = 0;
    double busy = 0;  // the time of the runs
  };

  void Begin(int threads, double now);

  const int most_;
  // Guards the rule and the interval. Nobody waits for it: in the child of a fork it may be locked
  // for good.
  std::mutex mutex_;
  TeamSizeRule rule_;
  Interval interval_;
  std::vector<ThreadTimes> before_, now_;  // of interval_.threads, at its beginning and its end
  std::atomic<bool> watching_;
  std::atomic<int> threads_;
};

}  // namespace tenon

#endif  // TENON_ENV_TEAM_SIZE_H_
