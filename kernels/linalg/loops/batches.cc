#include "kernels/linalg/loops/batches.h"

#include <algorithm>

#include "kernels/interface/axis.h"
#include "kernels/interface/in_parts.h"

namespace tenon {

MatrixBatch BatchOf(const Shape& shape) {
  const int rank = shape.rank();
  return {Product(shape, 0, rank - 2), shape.dim(rank - 2), shape.dim(rank - 1)};
}

Shape BatchShape(const Shape& shape) {
  return Shape(shape.dims().subspan(0, static_cast<size_t>(shape.rank() - 2)));
}

int64_t BatchIndex(const Shape& batch, const Shape& out, int64_t index) {
  int64_t at = 0, stride = 1;
  for (int k = 1; k <= out.rank(); ++k) {
    const int64_t d = out.dim(out.rank() - k), i = index % d;
    index /= d;
    if (k > batch.rank()) continue;
    const int64_t size = batch.dim(batch.rank() - k);
    if (size != 1) at += i * stride;
    stride *= size;
  }
  return at;
}

absl::Status ForMatrices(int threads, int64_t count, double ns,
                         absl::FunctionRef<absl::Status(int64_t)> fn) {
  return InParts<NoPart>(threads, count, ns, [&](NoPart&, int64_t b) { return fn(b); }).status();
}

double NsOfMatrix(const MatrixBatch& m, double operations) {
  constexpr double kCallNs = 200, kOperationsPerNs = 4;
  return kCallNs + operations / kOperationsPerNs * static_cast<double>(m.size()) *
                       static_cast<double>(std::min(m.rows, m.cols));
}

}  // namespace tenon
