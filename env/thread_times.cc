#include "env/thread_times.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "env/team.h"

namespace tenon {
namespace {

// thread == 0 if the system does not tell.
ThreadTimes TimesOfThisThread() {
  ThreadTimes times;
  const int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return times;
  char text[96];
  const ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  if (size <= 0) return times;
  text[size] = '\0';
  unsigned long long ran, waited;
  if (std::sscanf(text, "%llu %llu", &ran, &waited) != 2) return times;
  times.thread = gettid();
  times.ran = 1e-9 * static_cast<double>(ran);
  times.waited = 1e-9 * static_cast<double>(waited);
  return times;
}

}  // namespace

bool ReadTeamTimes(absl::Span<ThreadTimes> times) {
  std::fill(times.begin(), times.end(), ThreadTimes());
  RunTeam(static_cast<int>(times.size()),
          [&](int member, int) { times[static_cast<size_t>(member)] = TimesOfThisThread(); });
  return std::all_of(times.begin(), times.end(),
                     [](const ThreadTimes& t) { return t.thread != 0; });
}

}  // namespace tenon
