#include "kernels/normalization/lrn.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "env/status.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "kernels/normalization/lrn_simd.h"

namespace tenon {
namespace {

struct Spec {
  int64_t rows = 0, channels = 0, radius = 0;
  float bias = 1, alpha = 1, beta = 0.5;
  int threads = 1;
};

Spec SpecOf(const PrepareContext& p) {
  const Shape& x = p.input_shape(0);
  Spec s;
  s.channels = x[3];
  s.rows = x[0] * x[1] * x[2];
  // No window extends beyond the channels.
  s.radius = std::min(p.attrs().Int("depth_radius", 5), std::max<int64_t>(s.channels - 1, 0));
  s.bias = p.attrs().Float("bias", 1.0f);
  s.alpha = p.attrs().Float("alpha", 1.0f);
  s.beta = p.attrs().Float("beta", 0.5f);
  s.threads = p.services().threads;
  return s;
}

// Sums f(k) over the channels around c.
template <typename F>
double Around(const Spec& s, int64_t c, F f) {
  double sum = 0;
  const int64_t end = std::min(s.channels, c + s.radius + 1);
  for (int64_t k = std::max<int64_t>(0, c - s.radius); k < end; ++k) sum += f(k);
  return sum;
}

template <typename T>
void LrnReferenceRow(const Spec& s, const RunContext& r, int64_t row, LrnDirection direction) {
  const int64_t at = row * s.channels;
  const auto value = [at, &r](int input, int64_t c) {
    return static_cast<double>(r.input<T>(input)[at + c]);
  };
  const int x = direction == LrnDirection::kForward ? 0 : 1;
  std::vector<double> norm(static_cast<size_t>(s.channels)), out(norm.size());
  for (int64_t c = 0; c < s.channels; ++c) {
    norm[static_cast<size_t>(c)] =
        s.bias + s.alpha * Around(s, c, [&](int64_t k) { return value(x, k) * value(x, k); });
  }
  for (int64_t c = 0; c < s.channels; ++c) {
    const double power = std::pow(norm[static_cast<size_t>(c)], -static_cast<double>(s.beta));
    double& y = out[static_cast<size_t>(c)];
    y = value(0, c) * power;
    if (direction == LrnDirection::kForward) continue;
    const double sum = Around(
        s, c, [&](int64_t k) { return value(0, k) * value(2, k) / norm[static_cast<size_t>(k)]; });
    y -= 2.0 * s.alpha * s.beta * value(x, c) * sum;
  }
  std::transform(out.begin(), out.end(), r.output<T>(0) + at,
                 [](double v) { return static_cast<T>(v); });
}

// float rows are read directly from memory; bfloat16 rows are widened into scratch.
class LrnKernel final : public Kernel {
 public:
  LrnKernel(const Spec& s, LrnDirection direction, DType dtype)
      : spec_(s), direction_(direction), bfloat16_(dtype == DType::kBfloat16) {
    const LrnLoops loops = FindLrnLoops();
    loop_ = direction == LrnDirection::kForward ? loops.forward : loops.gradient;
    const double ns = static_cast<double>(s.channels) * (0.6 + 0.1 * static_cast<double>(s.radius));
    grain_ = ParallelGrain(direction == LrnDirection::kForward ? ns : 2 * ns);
    floats_ = LrnScratch(static_cast<size_t>(s.channels), static_cast<size_t>(s.radius)) +
              (bfloat16_ ? 4 * static_cast<size_t>(s.channels) : 0);
  }
  size_t ScratchBytes() const {
    return floats_ * sizeof(float) *
           static_cast<size_t>(ParallelRanges(spec_.threads, spec_.rows, grain_));
  }

  absl::Status Run(RunContext& r) const override {
    ParallelForRanges(
        spec_.threads, spec_.rows, grain_, [&](int range, int64_t begin, int64_t end) {
          float* scratch = static_cast<float*>(r.scratch()) + static_cast<size_t>(range) * floats_;
          for (int64_t i = begin; i < end; ++i) One(r, i * spec_.channels, scratch);
        });
    return absl::OkStatus();
  }
  std::string Implementation() const override {
    return absl::StrCat("vector:", VectorTargetName());
  }

 private:
  void One(RunContext& r, int64_t at, float* scratch) const {
    const size_t n = static_cast<size_t>(spec_.channels);
    LrnRow row;
    row.n = n;
    row.radius = static_cast<size_t>(spec_.radius);
    row.bias = spec_.bias;
    row.alpha = spec_.alpha;
    row.beta = spec_.beta;
    row.scratch = scratch;
    float* widened = scratch + LrnScratch(n, row.radius);
    const auto input = [&](int i) -> const float* {
      if (!bfloat16_) return r.input<float>(i) + at;
      WidenBfloat16(r.input<uint16_t>(i) + at, widened, n);
      widened += n;
      return widened - n;
    };
    if (direction_ == LrnDirection::kForward) {
      row.x = input(0);
    } else {
      row.dy = input(0);
      row.x = input(1);
      row.y = input(2);
    }
    row.out = bfloat16_ ? widened : r.output<float>(0) + at;
    loop_(row);
    if (bfloat16_) NarrowToBfloat16(row.out, r.output<uint16_t>(0) + at, n);
  }

  const Spec spec_;
  const LrnDirection direction_;
  const bool bfloat16_;
  LrnRowFn loop_ = nullptr;
  int64_t grain_ = 1;
  size_t floats_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> LrnReference(PrepareContext& p, LrnDirection direction) {
  const Spec s = SpecOf(p);
  p.AllowInPlace(0, 0);
  return DispatchType(TypeList<float, half, bfloat16>{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& r) {
      for (int64_t i = 0; i < s.rows; ++i) LrnReferenceRow<T>(s, r, i, direction);
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> LrnVector(PrepareContext& p, LrnDirection direction) {
  const DType dtype = p.input_dtype(0);
  if (dtype != DType::kFloat && dtype != DType::kBfloat16) return NoKernelFor(dtype);
  const Spec spec = SpecOf(p);
  // The vector code's power is for positive numbers.
  if (!(spec.alpha >= 0) || !(spec.bias > 0)) return Unimplemented("sums that may be negative");
  auto kernel = std::make_unique<LrnKernel>(spec, direction, dtype);
  p.RequestScratch(kernel->ScratchBytes());
  p.AllowInPlace(0, 0);
  return std::unique_ptr<Kernel>(std::move(kernel));
}

}  // namespace tenon
