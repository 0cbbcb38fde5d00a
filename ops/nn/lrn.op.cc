// LRN, local response normalization over channels, and LRNGrad. With
// N[c] = bias + alpha * sum(x[k]^2, |k - c| <= depth_radius):
//
//   y = x N^-beta
//   x_backprop[c] = dy[c] N[c]^-beta - 2 alpha beta x[c] sum(dy[k] y[k] / N[k], |k - c| <= radius)
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "env/status.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "kernels/normalization/lrn_simd.h"
#include "ops/op.h"

namespace tenon {
namespace {

enum class Direction { kForward, kGradient };

struct Spec {
  int64_t rows = 0, channels = 0, radius = 0;
  float bias = 1, alpha = 1, beta = 0.5;
  int threads = 1;
};

absl::Status LrnShape(ShapeContext& c) {
  const int64_t radius = c.attrs().Int("depth_radius", 5);
  if (radius < 0 || radius > std::numeric_limits<int32_t>::max()) {
    return InvalidArgument("depth_radius must not be negative or beyond int32, but is ", radius);
  }
  Shape shape = Shape::UnknownOfRank(4);
  for (int i = 0; i < c.num_inputs(); ++i) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(i, 4));
    if (!shape.CompatibleWith(c.input(i))) {
      return InvalidArgument("all inputs must have one shape, but input ", i, " has ",
                             c.input(i).ToString(), ", not ", shape.ToString());
    }
    TENON_ASSIGN_OR_RETURN(shape, MergeShapes(shape, c.input(i)));
  }
  c.set_output(0, shape);
  return absl::OkStatus();
}

Spec SpecOf(const PrepareContext& p) {
  const Shape& x = p.input_shape(0);
  Spec s;
  s.channels = x[3];
  s.rows = x[0] * x[1] * x[2];
  // No window reaches further than all channels.
  s.radius = std::min(p.attrs().Int("depth_radius", 5), std::max<int64_t>(s.channels - 1, 0));
  s.bias = p.attrs().Float("bias", 1.0f);
  s.alpha = p.attrs().Float("alpha", 1.0f);
  s.beta = p.attrs().Float("beta", 0.5f);
  s.threads = p.services().threads;
  return s;
}

// f(k) summed over the channels around c.
template <typename F>
double Around(const Spec& s, int64_t c, F f) {
  double sum = 0;
  const int64_t end = std::min(s.channels, c + s.radius + 1);
  for (int64_t k = std::max<int64_t>(0, c - s.radius); k < end; ++k) sum += f(k);
  return sum;
}

template <typename T>
void ReferenceRow(const Spec& s, const RunContext& r, int64_t row, Direction direction) {
  const int64_t at = row * s.channels;
  const auto value = [at, &r](int input, int64_t c) {
    return static_cast<double>(r.input<T>(input)[at + c]);
  };
  const int x = direction == Direction::kForward ? 0 : 1;
  std::vector<double> norm(static_cast<size_t>(s.channels)), out(norm.size());
  for (int64_t c = 0; c < s.channels; ++c) {
    norm[static_cast<size_t>(c)] =
        s.bias + s.alpha * Around(s, c, [&](int64_t k) { return value(x, k) * value(x, k); });
  }
  for (int64_t c = 0; c < s.channels; ++c) {
    const double power = std::pow(norm[static_cast<size_t>(c)], -static_cast<double>(s.beta));
    double& y = out[static_cast<size_t>(c)];
    y = value(0, c) * power;
    if (direction == Direction::kForward) continue;
    const double sum = Around(
        s, c, [&](int64_t k) { return value(0, k) * value(2, k) / norm[static_cast<size_t>(k)]; });
    y -= 2.0 * s.alpha * s.beta * value(x, c) * sum;
  }
  std::transform(out.begin(), out.end(), r.output<T>(0) + at,
                 [](double v) { return static_cast<T>(v); });
}

template <Direction kDirection>
absl::StatusOr<std::unique_ptr<Kernel>> Reference(PrepareContext& p) {
  const Spec s = SpecOf(p);
  p.AllowInPlace(0, 0);
  return DispatchType(TypeList<float, half, bfloat16>{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([s](RunContext& r) {
      for (int64_t i = 0; i < s.rows; ++i) ReferenceRow<T>(s, r, i, kDirection);
      return absl::OkStatus();
    });
  });
}

// float rows straight from memory; bfloat16 rows widened into scratch.
class LrnKernel final : public Kernel {
 public:
  LrnKernel(const Spec& s, Direction direction, DType dtype)
      : spec_(s), direction_(direction), bfloat16_(dtype == DType::kBfloat16) {
    const LrnLoops loops = FindLrnLoops();
    loop_ = direction == Direction::kForward ? loops.forward : loops.gradient;
    const double ns = static_cast<double>(s.channels) * (0.6 + 0.1 * static_cast<double>(s.radius));
    grain_ = ParallelGrain(direction == Direction::kForward ? ns : 2 * ns);
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
    if (direction_ == Direction::kForward) {
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
  const Direction direction_;
  const bool bfloat16_;
  LrnRowFn loop_ = nullptr;
  int64_t grain_ = 1;
  size_t floats_ = 0;
};

template <Direction kDirection>
absl::StatusOr<std::unique_ptr<Kernel>> Vector(PrepareContext& p) {
  const DType dtype = p.input_dtype(0);
  if (dtype != DType::kFloat && dtype != DType::kBfloat16) return NoKernelFor(dtype);
  auto kernel = std::make_unique<LrnKernel>(SpecOf(p), kDirection, dtype);
  p.RequestScratch(kernel->ScratchBytes());
  p.AllowInPlace(0, 0);
  return std::unique_ptr<Kernel>(std::move(kernel));
}

const OpRegistration lrn({
    .name = "LRN",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "depth_radius: int = 5; bias: float = 1.0; alpha: float = 1.0; beta: float = 0.5; "
             "T: type = float",
    .types = "T: half bfloat16 float",
    .shape = LrnShape,
    .reference = Reference<Direction::kForward>,
    .accelerated = Vector<Direction::kForward>,
    .native = "_MklNativeLRN",
    .native_types = "float bfloat16",
});

const OpRegistration lrn_grad({
    .name = "LRNGrad",
    .inputs = "input_grads: T, input_image: T, output_image: T",
    .outputs = "output: T",
    .attrs = "depth_radius: int = 5; bias: float = 1.0; alpha: float = 1.0; beta: float = 0.5; "
             "T: type = float",
    .types = "T: half bfloat16 float",
    .shape = LrnShape,
    .reference = Reference<Direction::kGradient>,
    .accelerated = Vector<Direction::kGradient>,
    .native = "_MklNativeLRNGrad",
    .native_types = "float bfloat16",
});

}  // namespace
}  // namespace tenon
