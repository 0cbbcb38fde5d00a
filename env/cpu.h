// The number of CPUs that this process may use, the CPU's name and vector units, and peak memory.
#ifndef TENON_ENV_CPU_H_
#define TENON_ENV_CPU_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace tenon {

// The number of CPUs in the affinity mask, at most the cgroup quota (v1 and v2) rounded up; at
// least 1. Read again at each call, because container limits change.
int AvailableCpus();

// "AMD EPYC 9R14 96-Core Processor", or "unknown CPU".
std::string CpuName();

// Unimplemented unless the CPU has what the vector code is compiled for: SSE 4.2 on x86.
absl::Status CheckCpu();

// Whether the CPU has AVX-512 but computes 512-bit vectors as two halves (AMD's Zen 4): its peak is
// that of 256-bit vectors.
bool Halves512BitVectors();

// Of a core; 256 KiB if the system does not report it.
size_t SecondLevelCacheBytes();

// Peak resident memory of this process so far, in bytes; 0 if the system does not report it.
int64_t PeakResidentBytes();

}  // namespace tenon

#endif  // TENON_ENV_CPU_H_
