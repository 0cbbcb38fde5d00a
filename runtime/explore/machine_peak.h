// What this machine can do at best: the yardstick of profiles.
#ifndef TENON_RUNTIME_EXPLORE_MACHINE_PEAK_H_
#define TENON_RUNTIME_EXPLORE_MACHINE_PEAK_H_

#include <string>

#include "absl/status/statusor.h"
#include "env/flags.h"
#include "graph_rewrite/pipeline.h"

namespace tenon {

struct MachinePeak {
  double flops_per_s = 0;  // of a large matrix product, multiply and add counted as two
  double bytes_per_s = 0;  // read from memory, far more than the caches hold
};

// Takes about half a second.
absl::StatusOr<MachinePeak> MeasurePeak(int threads, Precision precision);

// From the file "machine-peak.json" in the folder, where it is kept by CPU name, threads and
// precision. The first few calls measure again, and the best is kept, because a busy machine gives
// less. With an empty folder it is measured once. A file that cannot be read or written is no
// error.
absl::StatusOr<MachinePeak> PeakOf(int threads, Precision precision, const std::string& folder);

// TENON_CACHE_DIR, or else the user's cache folder.
std::string PeakFolder(const Flags& flags);

}  // namespace tenon

#endif  // TENON_RUNTIME_EXPLORE_MACHINE_PEAK_H_
