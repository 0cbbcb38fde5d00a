#include "env/cpu.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include <algorithm>
#include <fstream>
#include <sstream>
#include <thread>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tenon {
namespace {

constexpr int kNoLimit = 1 << 20;

int AffinityCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());  // more than 1024 CPUs
}

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

int CgroupCpus() {
  int best = kNoLimit;
  std::ifstream in("/proc/self/cgroup");  // "4:cpu,cpuacct:/a/b" (v1), "0::/a/b" (v2)
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3 || !absl::StartsWith(parts[2], "/")) continue;
    if (parts[0] == "0" && parts[1].empty()) {
      best = std::min(best, TightestLimit("/sys/fs/cgroup", parts[2], LimitV2));
      continue;
    }
    for (absl::string_view controller : absl::StrSplit(parts[1], ',')) {
      if (controller != "cpu") continue;
      best = std::min(best, TightestLimit("/sys/fs/cgroup/cpu", parts[2], LimitV1));
    }
  }
  return best;
}

bool IsZen4() {
#ifdef __x86_64__
  constexpr unsigned kZen3And4 = 0x19, kAvx512f = 1u << 16;
  unsigned eax, ebx, ecx, edx;
  if (__get_cpuid(0, &eax, &ebx, &ecx, &edx) == 0 || ebx != signature_AMD_ebx) return false;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) return false;
  const unsigned family = ((eax >> 8) & 0xf) + ((eax >> 20) & 0xff);
  return family == kZen3And4 && __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 &&
         (ebx & kAvx512f) != 0;
#else
  return false;
#endif
}

}  // namespace

int AvailableCpus() { return std::max(1, std::min(AffinityCpus(), CgroupCpus())); }

std::string CpuName() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (!absl::StartsWith(line, "model name")) continue;
    const size_t colon = line.find(':');
    if (colon != std::string::npos)
      return std::string(absl::StripAsciiWhitespace(line.substr(colon + 1)));
  }
  return "unknown CPU";
}

bool Halves512BitVectors() {
  static const bool halves = IsZen4();  // in a virtual machine, each cpuid leaves it
  return halves;
}

size_t SecondLevelCacheBytes() {
  static const size_t bytes = [] {
    constexpr size_t kSmall = 256 << 10;
    const long stated = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return stated > 0 ? static_cast<size_t>(stated) : kSmall;
  }();
  return bytes;
}

int64_t PeakResidentBytes() {
  rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return int64_t{usage.ru_maxrss} * 1024;
}

}  // namespace tenon
