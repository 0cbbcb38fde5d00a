// A file mapped read-only, shared by everything that looks into it.
#ifndef TENON_ENV_MAPPED_FILE_H_
#define TENON_ENV_MAPPED_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tenon {

class MappedFile : public std::enable_shared_from_this<MappedFile> {
 public:
  // NotFound where there is no such file; InvalidArgument where it is not a regular one.
  static absl::StatusOr<std::shared_ptr<const MappedFile>> Open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  const char* data() const { return data_; }
  uint64_t size() const { return size_; }

  // Keeps the mapping alive. When the last copy of what it returns goes, the whole pages of the
  // range leave this process's memory; a page that somebody reads again comes back from the file.
  std::shared_ptr<const void> Hold(uint64_t offset, uint64_t bytes) const;

  // Reads without touching the mapping's pages. OutOfRange where the file is too short.
  absl::Status Read(uint64_t offset, uint64_t bytes, void* to) const;

 private:
  MappedFile(std::string path, int fd, char* data, uint64_t size)
      : path_(std::move(path)), fd_(fd), data_(data), size_(size) {}

  const std::string path_;
  const int fd_;
  char* const data_;
  const uint64_t size_;
};

}  // namespace tenon

#endif  // TENON_ENV_MAPPED_FILE_H_
