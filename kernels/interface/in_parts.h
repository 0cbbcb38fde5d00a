// A loop over the thread pool whose iterations may fail, and collect what they find: each range of
// iterations has a part of its own, and the result is the parts in order.
//
//   TENON_ASSIGN_OR_RETURN(auto parts, InParts<Words>(threads, n, /*ns=*/50, AddWords));
//   return InParts<NoPart>(threads, n, ns, [&](NoPart&, int64_t i) { return Check(i); }).status();
#ifndef TENON_KERNELS_INTERFACE_IN_PARTS_H_
#define TENON_KERNELS_INTERFACE_IN_PARTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "env/status.h"
#include "kernels/interface/parallel.h"

namespace tenon {

struct NoPart {};

// Calls add(part, i), which returns a Status, for i = 0 ... n - 1; `ns` is the cost of one. There
// is one part at least. The error is that of the first iteration that fails; others of the same
// range that come after it do not run.
template <typename Part, typename F>
absl::StatusOr<std::vector<Part>> InParts(int threads, int64_t n, double ns, F&& add) {
  const int64_t grain = ParallelGrain(ns);
  std::vector<Part> parts(static_cast<size_t>(ParallelRanges(threads, n, grain)));
  std::vector<absl::Status> statuses(parts.size());
  ParallelForRanges(threads, n, grain, [&](int range, int64_t begin, int64_t end) {
    const size_t r = static_cast<size_t>(range);
    for (int64_t i = begin; i < end && statuses[r].ok(); ++i) statuses[r] = add(parts[r], i);
  });
  for (const absl::Status& status : statuses) TENON_RETURN_IF_ERROR(status);
  return parts;
}

}  // namespace tenon

#endif  // TENON_KERNELS_INTERFACE_IN_PARTS_H_
