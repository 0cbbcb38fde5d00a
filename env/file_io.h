// Whole reads and writes of files: the system may move fewer bytes than asked, or be interrupted by
// a signal.
#ifndef TENON_ENV_FILE_IO_H_
#define TENON_ENV_FILE_IO_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tenon {

// Reads `bytes` bytes at `offset`, and returns how many there were: fewer only at the file's end.
// Errors do not name the file.
absl::StatusOr<size_t> ReadAt(int fd, uint64_t offset, void* to, size_t bytes);

// Writes at the file's position. Errors do not name the file.
absl::Status WriteAll(int fd, const void* from, size_t bytes);

}  // namespace tenon

#endif  // TENON_ENV_FILE_IO_H_
