#include "graph/npz/npz.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "absl/strings/match.h"
#include "env/status.h"
#include "graph/npz/npy.h"

namespace tenon {
namespace {

// deflate compresses at most 1032 to 1.
constexpr uint64_t kMostExpansion = 1100;

struct Discard {
  void operator()(zip_t* zip) const { zip_discard(zip); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using Zip = std::unique_ptr<zip_t, Discard>;
using ZipFile = std::unique_ptr<zip_file_t, Discard>;

absl::StatusOr<Zip> Open(const std::string& path, int flags) {
  int code = 0;
  Zip zip(zip_open(path.c_str(), flags, &code));
  if (zip != nullptr) return zip;
  if (code == ZIP_ER_NOENT) return NotFound(path, ": no such file");
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string why = zip_error_strerror(&error);
  zip_error_fini(&error);
  return InvalidArgument(path, ": not a readable .npz: ", why);
}

absl::StatusOr<Tensor> ReadEntry(zip_t* zip, zip_uint64_t index, const zip_stat_t& stat) {
  if (stat.size > (uint64_t{1} << 46) || stat.size > stat.comp_size * kMostExpansion + 1024) {
    return InvalidArgument("promises ", stat.size, " bytes, but has only ", stat.comp_size,
                           " compressed bytes");
  }
  ZipFile file(zip_fopen_index(zip, index, 0));
  if (file == nullptr) return InvalidArgument(zip_strerror(zip));
  TENON_ASSIGN_OR_RETURN(Tensor t, ReadNpy(stat.size, [&](void* to, size_t size) -> absl::Status {
                           char* at = static_cast<char*>(to);
                           while (size > 0) {
                             const zip_int64_t got = zip_fread(file.get(), at, size);
                             if (got <= 0)
                               return InvalidArgument("damaged: ", zip_file_strerror(file.get()));
                             at += got;
                             size -= static_cast<size_t>(got);
                           }
                           return absl::OkStatus();
                         }));
  // libzip compares the checksum when it reaches the end.
  char beyond;
  if (zip_fread(file.get(), &beyond, 1) != 0) {
    return InvalidArgument("damaged: ", zip_file_strerror(file.get()));
  }
  return t;
}

// Whether `path`, with links followed, is a device or pipe, which must be written to and not
// replaced.
bool IsSpecial(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
         !std::filesystem::is_directory(status);
}

std::string FollowLinks(const std::string& path) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(path, error);
  return error ? path : target.string();
}

class TemporaryFile {
 public:
  explicit TemporaryFile(std::string path) : path_(std::move(path)) {}
  ~TemporaryFile() {
    if (!path_.empty()) std::remove(path_.c_str());
  }
  const std::string& path() const { return path_; }
  absl::Status CopyTo(const std::string& to) {
    std::ifstream in(path_, std::ios::binary);
    std::ofstream out(to, std::ios::binary);
    out << in.rdbuf() << std::flush;
    return out ? absl::OkStatus() : InvalidArgument(to, ": cannot be written");
  }
  absl::Status MoveTo(const std::string& to) {
    if (std::rename(path_.c_str(), to.c_str()) != 0) {
      return InvalidArgument(to, ": cannot be written: ", std::strerror(errno));
    }
    path_.clear();
    return absl::OkStatus();
  }

 private:
  std::string path_;
};

absl::Status AddEntry(zip_t* zip, const std::string& name, const NpyFile& file) {
  // One buffer per entry in libzip: fragments avoid joining header and elements.
  const zip_buffer_fragment_t parts[] = {
      {reinterpret_cast<zip_uint8_t*>(const_cast<char*>(file.header.data())), file.header.size()},
      {static_cast<zip_uint8_t*>(const_cast<void*>(file.data.raw())), file.data.bytes()}};
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source =
      zip_source_buffer_fragment_create(parts, file.data.bytes() > 0 ? 2 : 1, 0, &error);
  if (source == nullptr) return Internal("cannot store '", name, "': ", zip_error_strerror(&error));
  const zip_int64_t index =
      zip_file_add(zip, (name + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8 | ZIP_FL_OVERWRITE);
  if (index < 0) {
    zip_source_free(source);
    return InvalidArgument("cannot store '", name, "': ", zip_strerror(zip));
  }
  if (zip_set_file_compression(zip, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0) != 0) {
    return Internal("cannot store '", name, "': ", zip_strerror(zip));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::pair<std::string, Tensor>>> ReadNpz(const std::string& path) {
  TENON_ASSIGN_OR_RETURN(const Zip zip, Open(path, ZIP_RDONLY | ZIP_CHECKCONS));
  std::vector<std::pair<std::string, Tensor>> tensors;
  const zip_int64_t count = zip_get_num_entries(zip.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const zip_uint64_t index = static_cast<zip_uint64_t>(i);
    zip_stat_t stat;
    if (zip_stat_index(zip.get(), index, 0, &stat) != 0) {
      return InvalidArgument(path, ": ", zip_strerror(zip.get()));
    }
    std::string name = stat.name;
    if (absl::EndsWith(name, ".npy")) name.resize(name.size() - 4);
    absl::StatusOr<Tensor> t = ReadEntry(zip.get(), index, stat);
    if (!t.ok()) return Annotate(t.status(), absl::StrCat(path, ": '", name, "'"));
    tensors.emplace_back(std::move(name), *std::move(t));
  }
  return tensors;
}

absl::Status WriteNpz(const std::string& path,
                      absl::Span<const std::pair<std::string, Tensor>> tensors) {
  const bool special = IsSpecial(path);
  const std::string target = special ? path : FollowLinks(path);
  const std::string beside =
      special ? (std::filesystem::temp_directory_path() / "tenon").string() : target;
  TemporaryFile temporary(absl::StrCat(beside, ".", getpid(), ".tmp"));
  std::vector<NpyFile> files;  // until zip_close has read them
  files.reserve(tensors.size());
  TENON_ASSIGN_OR_RETURN(Zip zip, Open(temporary.path(), ZIP_CREATE | ZIP_TRUNCATE));
  for (const auto& [name, tensor] : tensors) {
    absl::StatusOr<NpyFile> file = FormatNpy(tensor);
    if (!file.ok()) return Annotate(file.status(), absl::StrCat(path, ": '", name, "'"));
    files.push_back(*std::move(file));
    TENON_RETURN_IF_ERROR(Annotate(AddEntry(zip.get(), name, files.back()), path));
  }
  if (tensors.empty()) return InvalidArgument(path, ": there is nothing to write");
  if (zip_close(zip.get()) != 0) {
    return InvalidArgument(path, ": cannot be written: ", zip_strerror(zip.get()));
  }
  (void)zip.release();
  return special ? temporary.CopyTo(target) : temporary.MoveTo(target);
}

}  // namespace tenon
