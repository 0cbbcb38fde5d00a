#include "env/cpu.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include <algorithm>
#include <fstream>
#include <thread>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "env/cgroup.h"
#include "env/status.h"

namespace tenon {
namespace {

int AffinityCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());  // more than 1024 CPUs
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

absl::Status CheckCpu() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("sse4.2") == 0) {
    return Unimplemented("the CPU (", CpuName(), ") has no SSE 4.2, which Tenon needs");
  }
#endif
  return absl::OkStatus();
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
  // Not getrusage's: a program inherits that of the process that started it.
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    int64_t kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
  }
  rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return int64_t{usage.ru_maxrss} * 1024;
}

}  // namespace tenon
