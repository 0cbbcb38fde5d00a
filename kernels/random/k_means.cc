#include "kernels/random/k_means.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "env/status.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/random/philox.h"

namespace tenon {
namespace {

using Points =
    Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

PhiloxStream StreamOf(int64_t seed) {
  return PhiloxStream(Philox::FromSeeds(static_cast<uint64_t>(seed), 0));
}

class Centers {
 public:
  Centers(const Points& points, int64_t seed)
      : points_(points),
        half_norms_(0.5f * points.rowwise().squaredNorm()),
        distances_(
            Eigen::VectorXf::Constant(points.rows(), std::numeric_limits<float>::infinity())),
        sums_(points.rows()),
        is_center_(static_cast<size_t>(points.rows()), false),
        random_(StreamOf(seed)) {}

  // The index of another center, the best of `draws` draws.
  int64_t Next(int64_t draws) {
    if (count_ > 0) {
      std::partial_sum(distances_.data(), distances_.data() + distances_.size(), sums_.data());
    }
    int64_t best = -1;
    float least = std::numeric_limits<float>::infinity();
    Eigen::VectorXf nearest;
    for (int64_t i = 0; i < draws; ++i) {
      const int64_t index = Draw();
      Eigen::VectorXf with_index = distances_.cwiseMin(HalfDistances(index));
      const float sum = with_index.sum();
      if (best >= 0 && !(sum < least)) continue;
      best = index;
      least = sum;
      nearest.swap(with_index);
    }
    distances_.swap(nearest);
    is_center_[static_cast<size_t>(best)] = true;
    ++count_;
    return best;
  }

 private:
  int64_t Draw() {
    const uint64_t n = static_cast<uint64_t>(points_.rows());
    if (count_ == 0) return static_cast<int64_t>(random_.NextBelow(n));
    constexpr int kMostDraws = 1000;  // all distances may be those of centers
    for (int i = 0; i < kMostDraws; ++i) {
      const float total = sums_(points_.rows() - 1);
      int64_t index = 0;
      if (total > 0) {
        const float *const begin = sums_.data(), *const end = begin + sums_.size();
        index = std::upper_bound(begin, end, random_.NextFloat() * total) - begin;
        index = std::min<int64_t>(index, points_.rows() - 1);
      } else {
        index = static_cast<int64_t>(random_.NextBelow(n));
      }
      if (!is_center_[static_cast<size_t>(index)]) return index;
    }
    return std::find(is_center_.begin(), is_center_.end(), false) - is_center_.begin();
  }

  // Half the squared distances of all points from one.
  Eigen::VectorXf HalfDistances(int64_t index) const {
    const Eigen::VectorXf products = points_ * points_.row(index).transpose();
    return (half_norms_ - products).array() + half_norms_(index);
  }

  const Points points_;
  const Eigen::VectorXf half_norms_;
  Eigen::VectorXf distances_;  // half the squared ones, from the nearest center
  Eigen::VectorXf sums_;       // of the distances up to each point
  std::vector<bool> is_center_;
  int64_t count_ = 0;
  PhiloxStream random_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> KMeansPlusPlus(PrepareContext& p) {
  if (p.value(1) == nullptr) return PrepareLate(p, KMeansPlusPlus, {1});
  p.InputNotRead(1);
  const int64_t n = p.input_shape(0).dim(0), width = p.input_shape(0).dim(1);
  const int64_t count = p.output_shape(0).dim(0);
  return MakeKernel([=](RunContext& r) -> absl::Status {
    int64_t retries = *r.input<int64_t>(3);
    if (retries < 0) retries = 2 + static_cast<int64_t>(std::log(count));
    if (retries > kMostRetries) {
      return InvalidArgument("num_retries_per_sample must be at most ", kMostRetries, ", is ",
                             retries);
    }
    Centers centers(Points(r.input<float>(0), n, width), *r.input<int64_t>(2));
    for (int64_t i = 0; i < count; ++i) {
      const float* const from = r.input<float>(0) + centers.Next(retries + 1) * width;
      std::copy_n(from, width, r.output<float>(0) + i * width);
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> KMeansChain(PrepareContext& p) {
  const int64_t n = p.input_shape(0).dim(0);
  return MakeKernel([n](RunContext& r) {
    const float* const distances = r.input<float>(0);
    PhiloxStream random = StreamOf(*r.input<int64_t>(1));
    int64_t last = 0;
    for (int64_t i = 1; i < n; ++i) {
      if (distances[i] > random.NextFloat() * distances[last]) last = i;
    }
    *r.output<int64_t>(0) = last;
    return absl::OkStatus();
  });
}

}  // namespace tenon
