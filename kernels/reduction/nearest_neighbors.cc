#include "kernels/reduction/nearest_neighbors.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/interface/late_kernel.h"
#include "kernels/interface/parallel.h"

namespace tenon {
namespace {

using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int64_t kPointsAtOnce = 64;

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> NearestNeighbors(PrepareContext& p) {
  if (p.value(2) == nullptr) return PrepareLate(p, NearestNeighbors, {2});
  p.InputNotRead(2);
  const int64_t n = p.input_shape(0).dim(0), width = p.input_shape(0).dim(1);
  const int64_t count = p.input_shape(1).dim(0), k = p.output_shape(0).dim(1);
  const int threads = p.services().threads;
  return MakeKernel([=](RunContext& r) {
    if (k == 0) return absl::OkStatus();
    const Eigen::Map<const Rows> centers(r.input<float>(1), count, width);
    const Eigen::VectorXf norms = 0.5f * centers.rowwise().squaredNorm();
    const double cost = static_cast<double>(count) * static_cast<double>(width / 8 + 8);
    ParallelFor(threads, n, ParallelGrain(cost), [&](int64_t begin, int64_t end) {
      std::vector<int64_t> order(static_cast<size_t>(count));
      for (; begin < end; begin += kPointsAtOnce) {
        const int64_t rows = std::min(kPointsAtOnce, end - begin);
        const Eigen::Map<const Rows> points(r.input<float>(0) + begin * width, rows, width);
        // Half the squared distances, without the points' part.
        const Rows parts = (-(points * centers.transpose())).rowwise() + norms.transpose();
        for (int64_t i = 0; i < rows; ++i) {
          const float half_norm = 0.5f * points.row(i).squaredNorm();
          std::iota(order.begin(), order.end(), 0);
          std::partial_sort(order.begin(), order.begin() + k, order.end(),
                            [&](int64_t a, int64_t b) {
                              const float x = parts(i, a), y = parts(i, b);
                              if (std::isnan(x) != std::isnan(y)) return std::isnan(y);
                              return x < y || (!(y < x) && a < b);
                            });
          for (int64_t j = 0; j < k; ++j) {
            const int64_t center = order[static_cast<size_t>(j)], to = (begin + i) * k + j;
            r.output<int64_t>(0)[to] = center;
            r.output<float>(1)[to] = 2 * (half_norm + parts(i, center));
          }
        }
      }
    });
    return absl::OkStatus();
  });
}

}  // namespace tenon
