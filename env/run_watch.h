// What the time of a session's run is good for.
#ifndef TENON_ENV_RUN_WATCH_H_
#define TENON_ENV_RUN_WATCH_H_

#include <atomic>

#include "env/spread_team.h"
#include "env/team_size.h"

namespace tenon {

// Measures a run from its construction to its end, looks after the placement of the run's team
// (env/spread_team.h), and tells `team_size` about it. Of one thread, which nobody else joins
// later, it measures nothing.
class RunWatch {
 public:
  // `best` is the time of the fastest run of this kind, in seconds, or infinity; it is updated.
  RunWatch(int threads, std::atomic<double>& best, TeamSize& team_size);
  ~RunWatch();
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;

 private:
  const int threads_;
  std::atomic<double>& best_;
  TeamSize& team_size_;
  const bool measures_;
  const double start_;
  TeamPlacement placement_;
};

}  // namespace tenon

#endif  // TENON_ENV_RUN_WATCH_H_
