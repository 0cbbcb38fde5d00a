#include "tools/whole_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "env/status.h"

namespace tenon {
namespace {

absl::Status CannotWrite(const std::string& path) {
  return InvalidArgument(path, ": cannot be written: ", std::strerror(errno));
}

absl::Status WriteTo(const std::string& path, absl::string_view text) {
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  out << text << std::flush;
  return out ? absl::OkStatus() : CannotWrite(path);
}

}  // namespace

absl::Status WriteWholeFile(const std::string& path, absl::string_view text) {
  std::error_code error;
  const std::filesystem::file_status there = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(there)) return InvalidArgument(path, ": is a folder");
  if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there)) {
    return WriteTo(path, text);
  }
  const std::string fresh = absl::StrCat(path, ".", getpid(), ".new");
  absl::Status status = WriteTo(fresh, text);
  if (status.ok() && std::rename(fresh.c_str(), path.c_str()) != 0) status = CannotWrite(path);
  if (!status.ok()) std::filesystem::remove(fresh, error);
  return status;
}

}  // namespace tenon
