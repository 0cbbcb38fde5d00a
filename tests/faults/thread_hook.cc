#include "tests/faults/thread_hook.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <limits>

namespace tenon::faults {
namespace {

constexpr int kNoLimit = std::numeric_limits<int>::max();

// Threads that are alive count: those that have ended make room, as with the system's limit.
std::atomic<int> room = kNoLimit;

struct Start {
  void* (*function)(void*);
  void* argument;
};

void* Run(void* given) {
  const Start start = *static_cast<Start*>(given);
  delete static_cast<Start*>(given);
  void* const result = start.function(start.argument);
  if (room < kNoLimit / 2) ++room;
  return result;
}

}  // namespace

ThreadLimit::ThreadLimit(int allowed) { room = allowed; }
ThreadLimit::~ThreadLimit() { room = kNoLimit; }

}  // namespace tenon::faults

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*function)(void*), void* argument) noexcept {
  using namespace tenon::faults;
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  if (room >= kNoLimit / 2) return create(thread, attributes, function, argument);
  if (room.fetch_sub(1) <= 0) {
    ++room;
    return EAGAIN;
  }
  auto* const start = new Start{function, argument};
  const int error = create(thread, attributes, Run, start);
  if (error != 0) delete start;
  return error;
}
