#include "kernels/elementwise/broadcast.h"

#include "env/status.h"

namespace tenon {

absl::StatusOr<CollapsedBroadcast> CollapseBroadcast(const std::vector<Shape>& inputs,
                                                     const Shape& output) {
  const size_t n = inputs.size();
  // The strides of every input over all dimensions of the output.
  std::vector<absl::InlinedVector<int64_t, 6>> full(n);
  for (size_t i = 0; i < n; ++i) {
    const int missing = output.rank() - inputs[i].rank();
    if (missing < 0) {
      return InvalidArgument("cannot broadcast ", inputs[i].ToString(), " to ", output.ToString());
    }
    full[i].assign(static_cast<size_t>(output.rank()), 0);
    int64_t stride = 1;
    for (int d = output.rank() - 1; d >= missing; --d) {
      const int64_t size = inputs[i].dim(d - missing);
      if (size != output.dim(d) && size != 1) {
        return InvalidArgument("cannot broadcast ", inputs[i].ToString(), " to ",
                               output.ToString());
      }
      full[i][static_cast<size_t>(d)] = size == 1 ? 0 : stride;
      stride *= size;
    }
  }

  CollapsedBroadcast out;
  out.strides.resize(n);
  for (int d = 0; d < output.rank(); ++d) {
    if (output.dim(d) == 1) continue;
    bool join = !out.dims.empty();
    for (size_t i = 0; i < n && join; ++i) {
      join = out.strides[i].back() == full[i][static_cast<size_t>(d)] * output.dim(d);
    }
    if (join) {
      out.dims.back() *= output.dim(d);
      for (size_t i = 0; i < n; ++i) out.strides[i].back() = full[i][static_cast<size_t>(d)];
    } else {
      out.dims.push_back(output.dim(d));
      for (size_t i = 0; i < n; ++i) out.strides[i].push_back(full[i][static_cast<size_t>(d)]);
    }
  }
  if (out.dims.empty()) {
    out.dims.push_back(1);
    for (size_t i = 0; i < n; ++i) out.strides[i].push_back(0);
  }
  return out;
}

}  // namespace tenon
