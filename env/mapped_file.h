// A file mapped read-only, or copied, shared by all its readers.
#ifndef TENON_ENV_MAPPED_FILE_H_
#define TENON_ENV_MAPPED_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tenon {

enum class FilePages {
  kMapped,  // shared with other processes; SIGBUS if the file becomes shorter and they are read
  kCopied,  // read once, and independent of the file
};

class MappedFile : public std::enable_shared_from_this<MappedFile> {
 public:
  // NotFound if there is no such file; InvalidArgument if it is not a regular file.
  static absl::StatusOr<std::shared_ptr<const MappedFile>> Open(
      const std::string& path, FilePages pages = FilePages::kMapped);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  const char* data() const { return data_; }
  uint64_t size() const { return size_; }

  // Keeps the mapping, or the copy, alive. When the last copy of the returned pointer is destroyed,
  // the whole pages of a mapped range leave this process's memory; a later read loads them from the
  // file again.
  std::shared_ptr<const void> Hold(uint64_t offset, uint64_t bytes) const;

  // Reads without touching the mapping's pages. OutOfRange if the file is too short.
  absl::Status Read(uint64_t offset, uint64_t bytes, void* to) const;

 private:
  MappedFile(std::string path, FilePages pages, int fd, char* data, uint64_t size)
      : path_(std::move(path)), pages_(pages), fd_(fd), data_(data), size_(size) {}

  const std::string path_;
  const FilePages pages_;
  const int fd_;
  char* const data_;
  const uint64_t size_;
};

}  // namespace tenon

#endif  // TENON_ENV_MAPPED_FILE_H_
