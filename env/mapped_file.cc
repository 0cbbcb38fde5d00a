#include "env/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "absl/cleanup/cleanup.h"
#include "env/file_io.h"
#include "env/status.h"

namespace tenon {
namespace {

// Releases the pages of a range when it is destroyed.
struct Range {
  std::shared_ptr<const MappedFile> file;
  uint64_t offset;
  uint64_t bytes;

  ~Range() {
    const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    const uint64_t begin = (offset + page - 1) / page * page;
    const uint64_t end = (offset + bytes) / page * page;
    if (begin < end) madvise(const_cast<char*>(file->data()) + begin, end - begin, MADV_DONTNEED);
  }
};

}  // namespace

absl::StatusOr<std::shared_ptr<const MappedFile>> MappedFile::Open(const std::string& path,
                                                                   FilePages pages) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  }
  absl::Cleanup closer = [fd] { close(fd); };
  struct stat info;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    return InvalidArgument(path, " is not a regular file");
  }
  const uint64_t size = static_cast<uint64_t>(info.st_size);
  char* data = nullptr;
  if (size > 0) {
    void* mapped = pages == FilePages::kMapped ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0)
                                               : mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) {
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot map ", path));
    }
    data = static_cast<char*>(mapped);
  }
  absl::Cleanup unmapper = [data, size] {
    if (data != nullptr) munmap(data, size);
  };
  auto* const opened = new MappedFile(path, pages, fd, data, size);
  std::move(unmapper).Cancel();
  std::move(closer).Cancel();
  const std::shared_ptr<const MappedFile> file(opened);
  if (pages == FilePages::kCopied) TENON_RETURN_IF_ERROR(file->Read(0, size, data));
  return file;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(data_, size_);
  close(fd_);
}

std::shared_ptr<const void> MappedFile::Hold(uint64_t offset, uint64_t bytes) const {
  if (pages_ == FilePages::kCopied) return shared_from_this();
  return std::shared_ptr<const void>(new Range{shared_from_this(), offset, bytes},
                                     [](const void* p) { delete static_cast<const Range*>(p); });
}

absl::Status MappedFile::Read(uint64_t offset, uint64_t bytes, void* to) const {
  const absl::StatusOr<size_t> got = ReadAt(fd_, offset, to, bytes);
  if (!got.ok()) return Annotate(got.status(), path_);
  if (*got < bytes) return absl::OutOfRangeError(absl::StrCat(path_, " ends too early"));
  return absl::OkStatus();
}

}  // namespace tenon
