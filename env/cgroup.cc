#include "env/cgroup.h"

#include <algorithm>
#include <fstream>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace tenon {
namespace {

constexpr int kNoLimit = 1 << 20;

std::string FirstLine(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

int FromQuota(double quota, double period) {
  if (quota <= 0 || period <= 0) return kNoLimit;
  return std::max(1, static_cast<int>((quota + period - 1) / period));
}

int LimitV2(const std::string& folder) {
  // "max 100000" or "150000 100000"
  const std::vector<std::string> parts = absl::StrSplit(FirstLine(folder + "/cpu.max"), ' ');
  double quota = 0, period = 0;
  if (parts.size() != 2 || !absl::SimpleAtod(parts[0], &quota) ||
      !absl::SimpleAtod(parts[1], &period)) {
    return kNoLimit;
  }
  return FromQuota(quota, period);
}

int LimitV1(const std::string& folder) {
  double quota = 0, period = 0;
  if (!absl::SimpleAtod(FirstLine(folder + "/cpu.cfs_quota_us"), &quota) ||
      !absl::SimpleAtod(FirstLine(folder + "/cpu.cfs_period_us"), &period)) {
    return kNoLimit;
  }
  return FromQuota(quota, period);
}

// The tightest limit from `path` up to the mount point. (Inside a container, the path may not exist
// below the mount; then only the mount point counts.)
template <typename Limit>
int TightestLimit(const std::string& mount, std::string path, Limit limit) {
  int best = limit(mount);
  while (!path.empty() && path != "/") {
    best = std::min(best, limit(mount + path));
    path.resize(path.find_last_of('/'));
  }
  return best;
}

}  // namespace

int CgroupCpus(const std::string& root) {
  int best = kNoLimit;
  std::ifstream in(root + "/proc/self/cgroup");  // "4:cpu,cpuacct:/a/b" (v1), "0::/a/b" (v2)
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3 || !absl::StartsWith(parts[2], "/")) continue;
    if (parts[0] == "0" && parts[1].empty()) {
      best = std::min(best, TightestLimit(root + "/sys/fs/cgroup", parts[2], LimitV2));
      continue;
    }
    for (absl::string_view controller : absl::StrSplit(parts[1], ',')) {
      if (controller != "cpu") continue;
      best = std::min(best, TightestLimit(root + "/sys/fs/cgroup/cpu", parts[2], LimitV1));
    }
  }
  return best;
}

}  // namespace tenon
