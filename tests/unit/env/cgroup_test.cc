#include "env/cgroup.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;

constexpr int kMoreThanAnyMachine = 1 << 16;

class Cgroup : public ::testing::Test {
 protected:
  Cgroup() : root_(fs::path(::testing::TempDir()) / absl::StrCat("cgroup_", getpid())) {
    fs::remove_all(root_);
  }
  ~Cgroup() override { fs::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    const fs::path file = root_ / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text << '\n';
  }
  int Cpus() const { return CgroupCpus(root_.string()); }

  const fs::path root_;
};

// A container's limit may change at any time.
TEST_F(Cgroup, IsReadAgainAtEachCall) {
  Write("proc/self/cgroup", "0::/");
  EXPECT_GT(Cpus(), kMoreThanAnyMachine);
  Write("sys/fs/cgroup/cpu.max", "max 100000");
  EXPECT_GT(Cpus(), kMoreThanAnyMachine);
  Write("sys/fs/cgroup/cpu.max", "400000 100000");
  EXPECT_EQ(Cpus(), 4);
  Write("sys/fs/cgroup/cpu.max", "150000 100000");
  EXPECT_EQ(Cpus(), 2);  // rounded up
  Write("sys/fs/cgroup/cpu.max", "1000 100000");
  EXPECT_EQ(Cpus(), 1);
  Write("sys/fs/cgroup/cpu.max", "max 100000");
  EXPECT_GT(Cpus(), kMoreThanAnyMachine);
}

TEST_F(Cgroup, TheTightestOfAllLevelsCounts) {
  Write("proc/self/cgroup", "0::/pods/one");
  Write("sys/fs/cgroup/cpu.max", "800000 100000");
  Write("sys/fs/cgroup/pods/cpu.max", "300000 100000");
  Write("sys/fs/cgroup/pods/one/cpu.max", "max 100000");
  EXPECT_EQ(Cpus(), 3);
  Write("sys/fs/cgroup/pods/one/cpu.max", "200000 100000");
  EXPECT_EQ(Cpus(), 2);
}

TEST_F(Cgroup, VersionOne) {
  Write("proc/self/cgroup", "5:memory:/a\n4:cpu,cpuacct:/a\n0::/");
  Write("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "50000");
  Write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1");
  EXPECT_GT(Cpus(), kMoreThanAnyMachine);
  Write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "150000");
  EXPECT_EQ(Cpus(), 3);
}

TEST_F(Cgroup, FilesThatMakeNoSenseSetNoLimit) {
  EXPECT_GT(Cpus(), kMoreThanAnyMachine);  // no files at all
  Write("proc/self/cgroup", "nonsense\n0::relative\n0::/a");
  for (const char* text : {"", "2", "x 100000", "200000 0", "-1 100000", "1 2 3"}) {
    Write("sys/fs/cgroup/a/cpu.max", text);
    EXPECT_GT(Cpus(), kMoreThanAnyMachine) << text;
  }
}

}  // namespace
}  // namespace tenon
