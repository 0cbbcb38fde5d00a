#include "kernels/reduction/segments.h"

#include <limits>

#include "kernels/interface/axis.h"

namespace tenon {

std::vector<int64_t> IntegersAt(DType dtype, const void* data, int64_t n) {
  std::vector<int64_t> out(static_cast<size_t>(n));
  VisitTypes(Ints{}, dtype, [&]<typename I>() {
    const I* in = static_cast<const I*>(data);
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<int64_t>(in[i]);
  });
  return out;
}

absl::StatusOr<int64_t> CheckSortedIds(const std::vector<int64_t>& ids) {
  if (ids.empty()) return 0;
  if (ids[0] < 0) return InvalidArgument("segment ids must be >= 0, but the first is ", ids[0]);
  for (size_t i = 1; i < ids.size(); ++i) {
    if (ids[i] < ids[i - 1]) {
      return InvalidArgument("segment ids must be sorted: ", ids[i], " follows ", ids[i - 1]);
    }
  }
  if (ids.back() == std::numeric_limits<int64_t>::max()) {
    return InvalidArgument("segment id ", ids.back(), " is too large");
  }
  return ids.back() + 1;
}

absl::StatusOr<int64_t> NumSegments(const Tensor& t) {
  TENON_ASSIGN_OR_RETURN(const int64_t n, ScalarInteger(t, "num_segments"));
  if (n < 0) return InvalidArgument("num_segments must not be negative, but is ", n);
  return n;
}

}  // namespace tenon
