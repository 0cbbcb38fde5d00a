// tenon cache: lists the files of the disk cache, or deletes them.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "env/flags.h"
#include "env/status.h"
#include "runtime/disk_cache/cache_folder.h"
#include "tools/command.h"
#include "tools/table.h"

namespace tenon {
namespace {

struct CacheArgs {
  std::string folder;
  bool clear = false;
};

std::string Megabytes(int64_t bytes) {
  return absl::StrFormat("%.1f", static_cast<double>(bytes) / (1 << 20));
}

std::string Age(const CachedFile& file) {
  const auto age = std::filesystem::file_time_type::clock::now() - file.used;
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(age).count();
  if (minutes < 120) return absl::StrCat(minutes, " min");
  return minutes < 48 * 60 ? absl::StrCat(minutes / 60, " h")
                           : absl::StrCat(minutes / (24 * 60), " days");
}

absl::Status ListOrClear(const CacheArgs& args) {
  TENON_ASSIGN_OR_RETURN(const Flags flags, Flags::FromEnvironment());
  const std::string folder = args.folder.empty() ? flags.cache_dir : args.folder;
  if (folder.empty()) {
    return InvalidArgument("no folder: give --cache-dir, or set TENON_CACHE_DIR");
  }
  if (args.clear) {
    TENON_ASSIGN_OR_RETURN(const int deleted, TrimCacheFolder(folder, 0, ""));
    std::printf("%d files deleted\n", deleted);
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<CachedFile> files, ListCacheFolder(folder));
  Table table({"file", "MB", "last used"});
  int64_t bytes = 0;
  for (const CachedFile& file : files) {
    table.Add(
        {std::filesystem::path(file.path).filename().string(), Megabytes(file.bytes), Age(file)});
    bytes += file.bytes;
  }
  if (!files.empty()) Print(table, /*markdown=*/false);
  const std::string limit =
      flags.cache_dir_bytes > 0 ? Megabytes(flags.cache_dir_bytes) + " MB" : "none";
  std::printf("%d files, %s MB; limit: %s\n", static_cast<int>(files.size()),
              Megabytes(bytes).c_str(), limit.c_str());
  return absl::OkStatus();
}

}  // namespace

Command AddCacheCommand(CLI::App& parent) {
  auto args = std::make_shared<CacheArgs>();
  CLI::App* app = parent.add_subcommand("cache", "Lists the files of the disk cache");
  app->add_option("--cache-dir", args->folder, "Its folder; default: TENON_CACHE_DIR");
  app->add_flag("--clear", args->clear, "Deletes them");
  return {app, [args] { return ListOrClear(*args); }};
}

}  // namespace tenon
