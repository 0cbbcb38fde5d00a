#include "env/file_io.h"

#include <unistd.h>

#include <cerrno>

namespace tenon {

absl::StatusOr<size_t> ReadAt(int fd, uint64_t offset, void* to, size_t bytes) {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t got =
        pread(fd, static_cast<char*>(to) + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return absl::ErrnoToStatus(errno, "cannot read");
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

absl::Status WriteAll(int fd, const void* from, size_t bytes) {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t put = write(fd, static_cast<const char*>(from) + done, bytes - done);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return absl::ErrnoToStatus(errno, "cannot write");
    done += static_cast<size_t>(put);
  }
  return absl::OkStatus();
}

}  // namespace tenon
