// The CPUs that this process may use, and their name.
#ifndef TENON_ENV_CPU_H_
#define TENON_ENV_CPU_H_

#include <cstdint>
#include <string>

namespace tenon {

// CPUs in the affinity mask, no more than the cgroup quota (v1 and v2) rounded up; at least 1.
// Read anew at each call: containers change both.
int AvailableCpus();

// "AMD EPYC 9R14 96-Core Processor", or "unknown CPU".
std::string CpuName();

// Peak resident memory of this process so far, in bytes; 0 where the system does not tell.
int64_t PeakResidentBytes();

}  // namespace tenon

#endif  // TENON_ENV_CPU_H_
