#include "tests/faults/file_hook.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

namespace tenon::faults {
namespace {

constexpr size_t kMost = 100;

std::atomic<bool> active = false;
std::atomic<int64_t> calls = 0;
std::atomic<int64_t> disturbed = 0;

// False: the call is interrupted. Otherwise it may move `bytes`.
bool Proceeds(size_t& bytes) {
  if (!active.load(std::memory_order_relaxed)) return true;
  const bool interrupted = calls.fetch_add(1) % 3 == 0;
  if (interrupted || bytes > kMost) ++disturbed;
  bytes = std::min(bytes, kMost);
  if (interrupted) errno = EINTR;
  return !interrupted;
}

ssize_t ReadFrom(int fd, void* to, size_t bytes, off_t offset) {
  return Proceeds(bytes) ? syscall(SYS_pread64, fd, to, bytes, offset) : -1;
}

}  // namespace

ShortTransfers::ShortTransfers() {
  calls = 0;
  disturbed = 0;
  active = true;
}
ShortTransfers::~ShortTransfers() { active = false; }
int64_t ShortTransfers::count() const { return disturbed; }

}  // namespace tenon::faults

#pragma GCC visibility push(default)  // libraries call them too
extern "C" {

ssize_t read(int fd, void* to, size_t bytes) {
  return tenon::faults::Proceeds(bytes) ? syscall(SYS_read, fd, to, bytes) : -1;
}
ssize_t pread(int fd, void* to, size_t bytes, off_t offset) {
  return tenon::faults::ReadFrom(fd, to, bytes, offset);
}
ssize_t pread64(int fd, void* to, size_t bytes, off_t offset) {
  return tenon::faults::ReadFrom(fd, to, bytes, offset);
}
ssize_t write(int fd, const void* from, size_t bytes) {
  return tenon::faults::Proceeds(bytes) ? syscall(SYS_write, fd, from, bytes) : -1;
}

}  // extern "C"
#pragma GCC visibility pop
