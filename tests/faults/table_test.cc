// Tables that a model reads from files: each allocation fails.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "env/exceptions.h"
#include "env/mapped_file.h"
#include "env/status.h"
#include "proto/checkpoint/table_file.h"
#include "proto/import/table_text.h"
#include "tests/faults/allocation_hook.h"
#include "tests/faults/fault_sweep.h"
#include "tests/support/source_dir.h"

namespace tenon {
namespace {

using faults::AllocationFault;
using faults::Failing;

// A table is read as a whole, or is an error: it never ends early.
TEST(TableFaults, TextFiles) {
  const std::string path =
      absl::StrCat(std::filesystem::temp_directory_path().string(), "/tenon_", getpid(), "_table");
  {
    std::FILE* const file = std::fopen(path.c_str(), "w");
    ASSERT_NE(file, nullptr);
    for (int i = 0; i < 30; ++i) {
      std::fprintf(file, "a key of more than fifteen characters %d\t%d\n", i, i * i);
    }
    std::fclose(file);
  }
  const TableText text = {.path = path, .key_index = 0, .value_index = 1};
  const auto expected = ReadTableText(text, DType::kString, DType::kInt32);
  ASSERT_TRUE(expected.ok()) << expected.status();
  ASSERT_EQ(expected->second.num_elements(), 30);
  const auto read = [&]() -> absl::Status {
    return CatchExceptions([&]() -> absl::Status {
      TENON_ASSIGN_OR_RETURN(const auto table, ReadTableText(text, DType::kString, DType::kInt32));
      if (!Identical(table.first, expected->first) || !Identical(table.second, expected->second)) {
        return Internal("the table differs");
      }
      return absl::OkStatus();
    });
  };
  faults::Sweep({.name = "a table of text", .run = read, .check = read}, 100'000);
  std::filesystem::remove(path);
}

std::string Index() { return SourcePath("tests/models/mlp/saved_model/variables/variables.index"); }

absl::StatusOr<int> CountEntries(const MappedFile& file) {
  int entries = 0;
  TENON_RETURN_IF_ERROR(CatchExceptions([&] {
    entries = 0;
    return ReadTable(file, [&](absl::string_view, absl::string_view) {
      ++entries;
      return absl::OkStatus();
    });
  }));
  return entries;
}

// In a new process: leveldb makes what it keeps until the process ends when it is first used.
[[noreturn]] void FailFirstUses() {
  const auto file = MappedFile::Open(Index());
  if (!file.ok()) _exit(1);
  for (int64_t n = 1; n <= 40; ++n) {
    const pid_t pid = fork();
    if (pid == 0) {
      alarm(60);
      {
        AllocationFault fault(n, Failing::kRest);
        (void)CountEntries(**file).ok();
      }
      const auto entries = CountEntries(**file);
      if (!entries.ok()) std::fprintf(stderr, "%s\n", entries.status().ToString().c_str());
      _exit(entries.ok() && *entries > 0 ? 0 : 2);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    if (status != 0) {
      std::fprintf(stderr, "after allocation %lld: the process ended with status %d\n",
                   static_cast<long long>(n), status);
      _exit(3);
    }
  }
  _exit(0);
}

TEST(TableFaults, FirstUseOfLeveldb) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(FailFirstUses(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tenon
