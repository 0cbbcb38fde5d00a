// Limits of a real cgroup, of CPUs and of memory, that change while a session runs. They need a
// cgroup that this process may make below its own, as root has in most containers.
#include "env/cgroup.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "graph/npz/npz.h"
#include "runtime/session/session.h"
#include "tests/support/settings.h"
#include "tests/support/source_dir.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;

// Writes a cgroup's file; whether the kernel took it.
bool Write(const fs::path& file, const std::string& text) {
  std::ofstream out(file);
  out << text;
  out.flush();
  return out.good();
}
int64_t ReadNumber(const fs::path& file) {
  int64_t value = 0;
  std::ifstream(file) >> value;
  return value;
}

// The folder of this process's cgroup that has the controller; empty: not found. Version 1 has a
// tree per controller, version 2 one for all.
fs::path OwnFolder(const std::string& controller, bool& version2) {
  std::ifstream list("/proc/self/cgroup");
  fs::path found;
  version2 = false;
  for (std::string line; std::getline(list, line);) {
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    const std::string below = parts[2] == "/" ? "" : parts[2];
    const std::vector<std::string> names = absl::StrSplit(parts[1], ',');
    if (std::find(names.begin(), names.end(), controller) != names.end()) {
      const fs::path folder = absl::StrCat("/sys/fs/cgroup/", parts[1], below);
      if (fs::exists(folder)) return folder;
    }
    if (parts[0] == "0" && fs::exists("/sys/fs/cgroup/cgroup.controllers")) {
      found = absl::StrCat("/sys/fs/cgroup", below);
      version2 = true;
    }
  }
  return found;
}

class CgroupFaults : public ::testing::Test {
 protected:
  ~CgroupFaults() override {
    if (!folder_.empty()) rmdir(folder_.c_str());
  }
  // Makes a cgroup with that controller, whose limit is in one of these files.
  void MakeGroup(const std::string& controller, const char* file1, const char* file2) {
    const fs::path own = OwnFolder(controller, version2_);
    if (own.empty()) GTEST_SKIP() << "no cgroup with " << controller;
    if (version2_) Write(own / "cgroup.subtree_control", "+" + controller);
    const fs::path folder = own / absl::StrCat("tenon_test_", getpid());
    std::error_code error;
    fs::create_directory(folder, error);
    if (error) GTEST_SKIP() << folder << ": " << error.message();
    folder_ = folder;
    limit_ = folder / (version2_ ? file2 : file1);
    if (!fs::exists(limit_)) GTEST_SKIP() << "the cgroup has no " << limit_;
  }
  // Runs `f` in a process of its own in the cgroup.
  void InTheGroup(const std::function<void()>& f) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(120);
      if (!Write(folder_ / "cgroup.procs", absl::StrCat(getpid()))) _exit(77);
      f();
      _exit(HasFailure() ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "cannot join " << folder_;
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  }

  static std::unique_ptr<Session> Load(int threads) {
    auto session =
        Session::Load(SourcePath("tests/models/mlp/saved_model"), {}, DefaultOptions(threads));
    EXPECT_TRUE(session.ok()) << session.status();
    return session.ok() ? *std::move(session) : nullptr;
  }
  // Runs the session in two threads while `change` is called for each of some rounds.
  static void RunWhile(Session& session, const std::function<void(int)>& change) {
    const auto inputs = ReadNpz(SourcePath("tests/models/mlp/inputs.npz")).value();
    const auto expected = session.Run(inputs).value();
    std::atomic<bool> stop = false;
    std::atomic<int> runs = 0;
    std::vector<std::thread> callers;
    for (int i = 0; i < 2; ++i) {
      callers.emplace_back([&] {
        while (!stop) {
          const auto outputs = session.Run(inputs);
          ASSERT_TRUE(outputs.ok()) << outputs.status();
          EXPECT_TRUE(Identical((*outputs)[0].second, expected[0].second));
          ++runs;
        }
      });
    }
    for (int round = 0; round < 10; ++round) {
      change(round);
      const int before = runs;
      while (runs < before + 20) std::this_thread::yield();
    }
    stop = true;
    for (std::thread& caller : callers) caller.join();
  }

  bool version2_ = false;
  fs::path folder_, limit_;
};

TEST_F(CgroupFaults, CpusChangeWhileASessionRuns) {
  MakeGroup("cpu", "cpu.cfs_quota_us", "cpu.max");
  if (IsSkipped()) return;
  const auto allow = [&](int percent) {  // of one CPU; 0: all
    const std::string quota = absl::StrCat(percent * 1000);
    const std::string none = version2_ ? "max" : "-1";
    return Write(limit_, percent == 0 ? none : quota);
  };
  InTheGroup([&] {
    const int all = CgroupCpus();
    ASSERT_TRUE(allow(100));
    EXPECT_EQ(CgroupCpus(), 1);
    EXPECT_EQ(Load(0)->threads(), 1);
    ASSERT_TRUE(allow(0));
    EXPECT_EQ(CgroupCpus(), all);
    const auto session = Load(2);
    RunWhile(*session, [&](int round) {
      ASSERT_TRUE(allow(round % 2 == 0 ? 30 : 0));
      EXPECT_EQ(session->threads(), 2);
      // New ones count anew.
      EXPECT_TRUE(round % 2 != 0 || Load(0)->threads() == 1);
    });
  });
}

// What the kernel does when a limit is exceeded is not tested: it ends a process.
TEST_F(CgroupFaults, MemoryChangesWhileASessionRuns) {
  MakeGroup("memory", "memory.limit_in_bytes", "memory.max");
  if (IsSkipped()) return;
  const fs::path usage = folder_ / (version2_ ? "memory.current" : "memory.usage_in_bytes");
  InTheGroup([&] {
    const auto session = Load(2);
    RunWhile(*session, [&](int round) {
      const int64_t room = int64_t{round % 2 == 0 ? 64 : 1024} << 20;
      EXPECT_TRUE(Write(limit_, absl::StrCat(ReadNumber(usage) + room)));
      EXPECT_GT(Load(1)->threads(), 0);
    });
  });
}

}  // namespace
}  // namespace tenon
