#include "kernels/linalg/batches.h"

#include <algorithm>
#include <vector>

#include "env/status.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/parallel.h"

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
  constexpr double kTaskNs = 20'000, kLeastNs = 10'000;
  const auto for_range = [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) TENON_RETURN_IF_ERROR(fn(b));
    return absl::OkStatus();
  };
  const double all_ns = ns * static_cast<double>(count);
  if (threads <= 1 || count <= 1 || all_ns < kLeastNs) return for_range(0, count);
  const int64_t tasks = std::clamp(static_cast<int64_t>(std::min(all_ns / kTaskNs, 1e6)),
                                   std::min<int64_t>(threads, count), count);
  std::vector<absl::Status> results(static_cast<size_t>(tasks));
  ParallelTasks(threads, tasks, [&](int, int64_t t) {
    results[static_cast<size_t>(t)] = for_range(count * t / tasks, count * (t + 1) / tasks);
  });
  for (absl::Status& result : results) TENON_RETURN_IF_ERROR(std::move(result));
  return absl::OkStatus();
}

double NsOfMatrix(const MatrixBatch& m, double operations) {
  constexpr double kCallNs = 200, kOperationsPerNs = 4;
  return kCallNs + operations / kOperationsPerNs * static_cast<double>(m.size()) *
                       static_cast<double>(std::min(m.rows, m.cols));
}

}  // namespace tenon
