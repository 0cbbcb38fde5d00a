#include "kernels/random/truncated_normal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "env/status.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/types.h"
#include "kernels/random/output.h"
#include "kernels/random/philox.h"
#include "kernels/random/sequence.h"
#include "kernels/random/stateless.h"
#include "kernels/random/unit_numbers.h"

namespace tenon {
namespace {

using Types = TypeList<half, float, double>;

// Proposals for one number before it is given up; two numbers of the generator each.
constexpr int kMostTries = 1000;
// Numbers that TensorFlow computes with one set of parameters, if all have the same.
constexpr int64_t kRowsOfScalars = 100;

// Arithmetic is in T, as in TensorFlow.
template <typename T>
class TruncatedNormal {
 public:
  static absl::StatusOr<TruncatedNormal> Make(T mean, T deviation, T low, T high) {
    if (!(deviation > T(0)) || !(low < high) ||
        !(Eigen::numext::isfinite(low) || Eigen::numext::isfinite(high))) {
      return InvalidArgument("a deviation of ", static_cast<double>(deviation), " between ",
                             static_cast<double>(low), " and ", static_cast<double>(high));
    }
    // The upper bound may be infinite; if both are on one side of the mean, they are above it.
    if ((Eigen::numext::isinf(low) && low < T(0)) || high < mean) {
      std::swap(low, high);
      deviation = -deviation;
    }
    TruncatedNormal n;
    n.mean_ = mean;
    n.deviation_ = deviation;
    n.low_ = (low - mean) / deviation;
    n.high_ = (high - mean) / deviation;
    return n;
  }

  // Elements 0, stride, 2 stride … of `out`.
  absl::Status Fill(Philox& generator, T* out, int64_t stride, int64_t count) const {
    Output output{out, stride, count};
    const T kInside(1.3);
    if ((low_ < -kInside && high_ >= T(0)) || (high_ > kInside && low_ <= T(0))) {
      return FromNormal(generator, output);
    }
    const T root = Eigen::numext::sqrt(low_ * low_ + T(4));
    const T cutoff =
        T(2) * Eigen::numext::exp(T(0.5) + (low_ * (low_ - root)) / T(4)) / (low_ + root);
    return high_ - low_ < cutoff ? FromUniform(generator, output)
                                 : FromExponential(generator, output);
  }

 private:
  using Block = std::array<T, kPerBlock<T>>;

  static Block Draw(Distribution distribution, Philox& generator) {
    const Philox::Block x = generator.Next();
    Block block;
    if (distribution == Distribution::kNormal) {
      NormalBlock<T>(x.data(), block.data());
    } else {
      UniformBlock<T>(x.data(), block.data());
    }
    return block;
  }

  // Takes proposals one by one. What is left of a block when the last number is found is not used.
  struct Output {
    T* at;
    int64_t stride;
    int64_t left;
    int tries = 0;

    bool Done() const { return left == 0 || tries > kMostTries; }
    void Offer(bool accepted, T value) {
      if (Done()) return;
      if (!accepted) {
        ++tries;
        return;
      }
      tries = 0;
      *at = value;
      at += stride;
      --left;
    }
    absl::Status Result() const {
      if (left == 0) return absl::OkStatus();
      return InvalidArgument("none of ", kMostTries, " proposals is between the bounds");
    }
  };

  // At least about half of all normal numbers are between the bounds.
  absl::Status FromNormal(Philox& generator, Output& output) const {
    while (!output.Done()) {
      for (const T v : Draw(Distribution::kNormal, generator)) {
        output.Offer(v >= low_ && v <= high_, v * deviation_ + mean_);
      }
    }
    return output.Result();
  }

  // The bounds are close to each other.
  absl::Status FromUniform(Philox& generator, Output& output) const {
    const T width = high_ - low_, largest = low_ < T(0) ? T(0) : low_ * low_;
    while (!output.Done()) {
      const Block proposed = Draw(Distribution::kUniform, generator);
      const Block u = Draw(Distribution::kUniform, generator);
      for (size_t i = 0; i < kPerBlock<T>; ++i) {
        const T z = proposed[i] * width + low_;
        const T density = Eigen::numext::exp((largest - z * z) / T(2));
        output.Offer(u[i] <= density, z * deviation_ + mean_);
      }
    }
    return output.Result();
  }

  // In the tail: exponential numbers, with the rate that most of them are accepted for.
  absl::Status FromExponential(Philox& generator, Output& output) const {
    const T rate = (low_ + Eigen::numext::sqrt(low_ * low_ + T(4))) / T(2);
    while (!output.Done()) {
      const Block block = Draw(Distribution::kUniform, generator);
      for (size_t i = 0; i < kPerBlock<T>; i += 2) {
        const T z = -Eigen::numext::log(block[i]) / rate + low_;
        const T x = low_ < rate ? rate - z : low_ - rate;
        const T density = Eigen::numext::exp(-x * x / T(2));
        output.Offer(block[i + 1] <= density && z < high_, z * deviation_ + mean_);
      }
    }
    return output.Result();
  }

  T mean_{}, deviation_{}, low_{}, high_{};  // bounds: in deviations from the mean
};

absl::Status CheckRows(const Shape& parameter, int64_t rows) {
  if (parameter.rank() == 0 || parameter.dim(0) == 1 || parameter.dim(0) == rows) {
    return absl::OkStatus();
  }
  return InvalidArgument("a parameter of shape ", parameter.ToString(), " for ", rows, " rows");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> StatefulTruncatedNormals(PrepareContext& p) {
  const Shape planned = p.output_shape(0);
  const DType shape_type = p.input_dtype(0);
  const int64_t rank = p.input_shape(0).dim(0);
  std::array<Shape, 4> shapes;
  for (size_t i = 0; i < 4; ++i) shapes[i] = p.input_shape(static_cast<int>(i) + 1);
  const bool same = (shapes[0].rank() == 0 || shapes[0].dim(0) == 1) &&
                    (shapes[1].rank() == 0 || shapes[1].dim(0) == 1) && shapes[2].rank() == 0 &&
                    shapes[3].rank() == 0;
  const auto sequence = RandomSequence::Of(p.attrs());
  return DispatchType(Types{}, p.output_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      TENON_ASSIGN_OR_RETURN(const Shape shape, ShapeAtRun(run, shape_type, rank));
      if (shape.rank() == 0) return InvalidArgument("shape must not be empty");
      int64_t rows = shape.dim(0);
      for (const Shape& parameter : shapes) TENON_RETURN_IF_ERROR(CheckRows(parameter, rows));
      TENON_ASSIGN_OR_RETURN(const RandomOutput out, OutputAtRun(run, planned, shape_type, rank));
      if (out.count == 0) return absl::OkStatus();
      int64_t width = out.count / rows;
      if (same) {
        width = kRowsOfScalars;
        rows = (out.count + width - 1) / width;
      }
      const uint64_t blocks =
          static_cast<uint64_t>(rows) * 2 * kMostTries * static_cast<uint64_t>(width + 3) / 4;
      Philox generator = sequence->Take(4 * blocks);
      for (int64_t row = 0; row < rows; ++row) {
        auto parameter = [&](size_t i) {
          const bool one = shapes[i].num_elements() == 1;
          return run.input<T>(static_cast<int>(i) + 1)[one ? 0 : row];
        };
        TENON_ASSIGN_OR_RETURN(
            const auto normal,
            TruncatedNormal<T>::Make(parameter(0), parameter(1), parameter(2), parameter(3)));
        TENON_RETURN_IF_ERROR(normal.Fill(generator, static_cast<T*>(out.data) + row * width, 1,
                                          std::min(width, out.count - row * width)));
      }
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> StatelessTruncatedNormals(PrepareContext& p) {
  const Shape planned = p.output_shape(0);
  const DType shape_type = p.input_dtype(0), seed_type = p.input_dtype(1);
  const int64_t rank = p.input_shape(0).dim(0);
  std::array<Shape, 4> shapes;
  Shape parameters;
  for (size_t i = 0; i < 4; ++i) {
    shapes[i] = p.input_shape(static_cast<int>(i) + 2);
    TENON_ASSIGN_OR_RETURN(parameters, BroadcastShapes(parameters, shapes[i]));
  }
  return DispatchType(Types{}, p.output_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      TENON_ASSIGN_OR_RETURN(const Shape shape, ShapeAtRun(run, shape_type, rank));
      TENON_RETURN_IF_ERROR(ExpectEndsWith(shape, parameters));
      TENON_ASSIGN_OR_RETURN(const RandomOutput out, OutputAtRun(run, planned, shape_type, rank));
      if (out.count == 0) return absl::OkStatus();
      Philox generator = PhiloxOfSeed(seed_type, run.input(1));
      const int64_t sets = parameters.num_elements();
      for (int64_t set = 0; set < sets; ++set) {
        auto parameter = [&](size_t i) {
          return run.input<T>(static_cast<int>(i) +
                              2)[BroadcastElement(shapes[i], parameters, set)];
        };
        TENON_ASSIGN_OR_RETURN(
            const auto normal,
            TruncatedNormal<T>::Make(parameter(0), parameter(1), parameter(2), parameter(3)));
        TENON_RETURN_IF_ERROR(
            normal.Fill(generator, static_cast<T*>(out.data) + set, sets, out.count / sets));
      }
      return absl::OkStatus();
    });
  });
}

}  // namespace tenon
