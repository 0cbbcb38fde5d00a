// FusedBatchNorm, V2 and V3: y = (x - mean) / sqrt(variance + epsilon) * scale + offset, a value
// per channel. Training takes mean and variance from x and gives them (the variance as n / (n - 1)
// times the one used), averaged into the given ones by exponential_avg_factor where that is not 1.
#include <Eigen/Core>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "env/status.h"
#include "ops/nn/contraction.h"
#include "ops/nn/conv_geometry.h"
#include "ops/nn/reference_types.h"
#include "ops/op.h"
#include "ops/parallel.h"
#include "primitive_cache/batch_normalization.h"

namespace tenon {
namespace {

int ChannelAxis(const AttrReader& attrs, int rank) {
  const std::string format = attrs.String("data_format", "NHWC");
  return format == "NHWC" || format == "NDHWC" ? rank - 1 : 1;
}

absl::Status BatchNormShape(ShapeContext& c) {
  const Shape& x = c.input(0);
  int64_t channels = -1;
  if (x.has_rank()) {
    if (x.rank() != 4 && x.rank() != 5) {
      return InvalidArgument("input 0 must have rank 4 or 5, but is ", x.ToString());
    }
    channels = x[ChannelAxis(c.attrs(), x.rank())];
  }
  const bool training = c.attrs().Bool("is_training", true);
  for (int i = 1; i < 5; ++i) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(i, 1));
    if (!c.input(i).has_rank()) continue;
    const int64_t n = c.input(i)[0];
    if (i >= 3 && training && n == 0) continue;
    if (n >= 0 && channels >= 0 && n != channels) {
      return InvalidArgument("input ", i, " must have ", channels, " elements, but has ", n);
    }
    if (channels < 0) channels = n;
  }
  c.set_output(0, x);
  for (int i = 1; i < c.num_outputs(); ++i) {
    c.set_output(i, i == 5 ? Shape({0}) : Shape({channels}));
  }
  return absl::OkStatus();
}

struct BatchNormSpec {
  int64_t outer = 1, channels = 1, inner = 1;  // x is [outer, channels, inner] in memory
  float epsilon = 0;
  float factor = 1;  // exponential_avg_factor
  bool training = true;
  bool has_running = false;  // inputs 3 and 4 have elements
  int outputs = 5;
  int threads = 1;

  int64_t count() const { return outer * inner; }
};

// y = x * multiplier[c] + addend[c]
template <typename T>
void ScaleShift(const BatchNormSpec& s, const T* x, const float* multiplier, const float* addend,
                T* y) {
  const int64_t row = s.channels * s.inner;
  ParallelFor(
      s.threads, s.outer, ParallelGrain(static_cast<double>(row) * 0.2),
      [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const T* from = x + i * row;
          T* to = y + i * row;
          if (s.inner == 1) {
            for (int64_t c = 0; c < s.channels; ++c) {
              to[c] = static_cast<T>(static_cast<float>(from[c]) * multiplier[c] + addend[c]);
            }
            continue;
          }
          for (int64_t c = 0; c < s.channels; ++c) {
            for (int64_t k = c * s.inner; k < (c + 1) * s.inner; ++k) {
              to[k] = static_cast<T>(static_cast<float>(from[k]) * multiplier[c] + addend[c]);
            }
          }
        }
      });
}

// Mean and (biased) variance of each channel, in double.
template <typename T>
void Moments(const BatchNormSpec& s, const T* x, std::vector<double>& mean,
             std::vector<double>& variance) {
  const double n = static_cast<double>(s.count());
  auto each = [&](auto f) {
    for (int64_t o = 0; o < s.outer; ++o) {
      for (int64_t c = 0; c < s.channels; ++c) {
        const T* from = x + (o * s.channels + c) * s.inner;
        for (int64_t k = 0; k < s.inner; ++k) {
          f(static_cast<size_t>(c), static_cast<double>(static_cast<float>(from[k])));
        }
      }
    }
  };
  each([&](size_t c, double v) { mean[c] += v; });
  for (double& m : mean) m /= n;
  each([&](size_t c, double v) { variance[c] += (v - mean[c]) * (v - mean[c]); });
  for (double& v : variance) v /= n;
}

template <typename T>
void RunBatchNorm(const BatchNormSpec& s, RunContext& r) {
  const float* const scale = r.input<float>(1);
  const float* const offset = r.input<float>(2);
  const size_t channels = static_cast<size_t>(s.channels);
  std::vector<float> multiplier(channels), addend(channels);
  std::vector<double> mean(channels), variance(channels);
  if (s.training) {
    Moments(s, r.input<T>(0), mean, variance);
  } else {
    for (size_t c = 0; c < channels; ++c) {
      mean[c] = r.input<float>(3)[c];
      variance[c] = r.input<float>(4)[c];
    }
  }
  for (size_t c = 0; c < channels; ++c) {
    const double m = scale[c] / std::sqrt(variance[c] + s.epsilon);
    multiplier[c] = static_cast<float>(m);
    addend[c] = static_cast<float>(offset[c] - mean[c] * m);
  }
  if (s.count() > 0) {
    ScaleShift(s, r.input<T>(0), multiplier.data(), addend.data(), r.output<T>(0));
  }

  const double n = static_cast<double>(s.count());
  for (size_t c = 0; c < channels; ++c) {
    double batch_mean = mean[c], batch_variance = variance[c];
    if (s.training) {
      batch_variance *= n > 1 ? n / (n - 1) : 1;
      if (s.has_running && s.factor != 1.0f) {
        batch_mean = s.factor * batch_mean + (1.0 - s.factor) * r.input<float>(3)[c];
        batch_variance = s.factor * batch_variance + (1.0 - s.factor) * r.input<float>(4)[c];
      }
      if (s.count() == 0) batch_mean = batch_variance = std::nan("");
    }
    r.output<float>(1)[c] = static_cast<float>(batch_mean);
    r.output<float>(2)[c] = static_cast<float>(batch_variance);
    // Kept for the gradient: the mean, and the variance as it was used.
    r.output<float>(3)[c] = static_cast<float>(mean[c]);
    r.output<float>(4)[c] = static_cast<float>(variance[c]);
  }
}

absl::StatusOr<std::unique_ptr<Kernel>> BatchNorm(PrepareContext& p) {
  const Shape& x = p.input_shape(0);
  BatchNormSpec s;
  const int axis = ChannelAxis(p.attrs(), x.rank());
  for (int i = 0; i < x.rank(); ++i) {
    if (i < axis) s.outer *= x[i];
    if (i > axis) s.inner *= x[i];
  }
  s.channels = x[axis];
  s.epsilon = p.attrs().Float("epsilon", 0.0001f);
  s.factor = p.attrs().Float("exponential_avg_factor", 1.0f);
  s.training = p.attrs().Bool("is_training", true);
  s.has_running = p.input_shape(3).num_elements() > 0;
  s.threads = p.services().threads;
  if (!s.training) p.AllowInPlace(0, 0);
  const DType dtype = p.input_dtype(0);
  return MakeKernel([s, dtype](RunContext& r) {
    return ForDType<float, half, bfloat16>(dtype, [&](auto t) -> absl::Status {
      RunBatchNorm<decltype(t)>(s, r);
      return absl::OkStatus();
    });
  });
}

// Inference only; the statistics go out as they came in.
class BatchNormOnednn final : public Kernel {
 public:
  BatchNormOnednn(std::shared_ptr<const Primitive> primitive, int64_t channels)
      : primitive_(std::move(primitive)), bytes_(static_cast<size_t>(channels) * sizeof(float)) {}

  absl::Status Run(RunContext& r) const override {
    auto in = [&r](int i) { return const_cast<void*>(r.input(i)); };
    void* const pointers[] = {in(0), in(3), in(4), in(1), in(2), r.output(0)};
    TENON_RETURN_IF_ERROR(primitive_->Execute(pointers, r.scratch()));
    for (int i = 1; i < 5; ++i) std::memcpy(r.output(i), r.input(i % 2 == 1 ? 3 : 4), bytes_);
    return absl::OkStatus();
  }
  std::string Implementation() const override { return primitive_->implementation(); }
  size_t HeldBytes() const override { return primitive_->bytes(); }

 private:
  const std::shared_ptr<const Primitive> primitive_;
  const size_t bytes_;
};

absl::StatusOr<std::unique_ptr<Kernel>> Onednn(PrepareContext& p) {
  if (p.attrs().Bool("is_training", true)) return Unimplemented("training");
  const Shape& x = p.input_shape(0);
  if (x.num_elements() == 0) return Unimplemented("empty");
  BatchNormalizationProblem problem;
  TENON_ASSIGN_OR_RETURN(const ElementType type, ElementTypeOf(p.input_dtype(0)));
  const int axis = ChannelAxis(p.attrs(), x.rank());
  Dims spatial;
  for (int i = 1; i < x.rank(); ++i) {
    if (i != axis) spatial.push_back(x[i]);
  }
  problem.src = ImageDesc(type, axis != 1, x[0], x[axis], spatial);
  problem.epsilon = p.attrs().Float("epsilon", 0.0001f);
  problem.threads = p.services().threads;
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<const Primitive> primitive,
                         GetBatchNormalization(problem, p.services().cache));
  if (primitive->scratch_bytes() > 0) p.RequestScratch(primitive->scratch_bytes());
  p.AllowInPlace(0, 0);
  return std::make_unique<BatchNormOnednn>(std::move(primitive), x[axis]);
}

const OpRegistration v1({
    .name = "FusedBatchNorm",
    .inputs = "x: T, scale: T, offset: T, mean: T, variance: T",
    .outputs = "y: T, batch_mean: T, batch_variance: T, reserve_space_1: T, reserve_space_2: T",
    .attrs = "T: type; epsilon: float = 0.0001; exponential_avg_factor: float = 1.0; "
             "data_format: string = NHWC; is_training: bool = true",
    .types = "T: float",
    .shape = BatchNormShape,
    .reference = BatchNorm,
    .accelerated = Onednn,
    .native = "_MklNativeFusedBatchNorm",
    .native_types = "float",
    .example = "1,56,56,64 64 64 64 64",
});

const OpRegistration v2({
    .name = "FusedBatchNormV2",
    .inputs = "x: T, scale: U, offset: U, mean: U, variance: U",
    .outputs = "y: T, batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U",
    .attrs = "T: type; U: type; epsilon: float = 0.0001; exponential_avg_factor: float = 1.0; "
             "data_format: string = NHWC; is_training: bool = true",
    .types = "T: half bfloat16 float; U: float",
    .shape = BatchNormShape,
    .reference = BatchNorm,
    .accelerated = Onednn,
    .native = "_MklNativeFusedBatchNormV2",
    .native_types = "float bfloat16",
    .example = "1,56,56,64 64 64 64 64",
});

const OpRegistration v3({
    .name = "FusedBatchNormV3",
    .inputs = "x: T, scale: U, offset: U, mean: U, variance: U",
    .outputs = "y: T, batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U, "
               "reserve_space_3: U",
    .attrs = "T: type; U: type; epsilon: float = 0.0001; exponential_avg_factor: float = 1.0; "
             "data_format: string = NHWC; is_training: bool = true",
    .types = "T: half bfloat16 float; U: float",
    .shape = BatchNormShape,
    .reference = BatchNorm,
    .accelerated = Onednn,
    .native = "_MklNativeFusedBatchNormV3",
    .native_types = "float bfloat16",
    .example = "1,56,56,64 64 64 64 64",
});

}  // namespace
}  // namespace tenon
