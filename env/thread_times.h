// How long threads have run, and how long they have waited for a CPU, as Linux counts it
// (/proc/thread-self/schedstat).
#ifndef TENON_ENV_THREAD_TIMES_H_
#define TENON_ENV_THREAD_TIMES_H_

#include <sys/types.h>

#include "absl/types/span.h"

namespace tenon {

// Since the thread started, in seconds. A thread that sleeps neither runs nor waits.
struct ThreadTimes {
  pid_t thread = 0;
  double ran = 0;
  double waited = 0;  // it could have run, but its CPU ran another thread
};

// Of each member of the calling thread's team of times.size() threads, in a parallel region of its
// own, which takes some 10 us. False if the system does not tell, or the team is smaller. Allocates
// nothing.
bool ReadTeamTimes(absl::Span<ThreadTimes> times);

}  // namespace tenon

#endif  // TENON_ENV_THREAD_TIMES_H_
