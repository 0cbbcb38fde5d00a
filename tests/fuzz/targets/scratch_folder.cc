#include "tests/fuzz/targets/scratch_folder.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "tests/fuzz/targets/target.h"

namespace tenon {
namespace {

class ScratchFolder {
 public:
  // In memory if possible: a target writes many small files.
  ScratchFolder()
      : path_((std::filesystem::is_directory("/dev/shm") ? std::filesystem::path("/dev/shm")
                                                         : std::filesystem::temp_directory_path()) /
              absl::StrCat("tenon_fuzz_", getpid())) {
    std::filesystem::create_directories(path_);
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  const std::filesystem::path path_;
};

}  // namespace

std::string WriteScratchFile(const std::string& name, absl::string_view bytes) {
  static const ScratchFolder folder;
  const std::string path = (folder.path() / name).string();
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) FuzzFailure("cannot write " + path);
  return path;
}

}  // namespace tenon
