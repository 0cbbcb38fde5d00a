#include "kernels/random/rejection.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "env/status.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

// Blocks of the generator that belong to one output; an output that needs more reads on.
constexpr uint64_t kBlocksPerSample = 256;
// Binomial numbers from sums of geometric ones have fewer.
constexpr uint64_t kBlocksPerInversion = 42;
// From this mean on, numbers come from a transformed uniform distribution.
constexpr double kLargeMean = 10;

// Numbers of one distribution, a block of the generator at a time, each block from its last number
// to its first.
class Draws {
 public:
  Draws(Distribution distribution, Philox& generator)
      : distribution_(distribution), generator_(generator) {}
  double Next() {
    if (left_ == 0) {
      FillRandom(distribution_, DType::kDouble, generator_, block_.data(), kBlock);
      generator_.Skip(1);
      left_ = kBlock;
    }
    return block_[static_cast<size_t>(--left_)];
  }

 private:
  static constexpr int kBlock = 2;
  const Distribution distribution_;
  Philox& generator_;
  std::array<double, kBlock> block_{};
  int left_ = 0;
};

// Marsaglia and Tsang, "A simple method for generating gamma variables". Below 1, the number for
// alpha + 1 times the power 1 / alpha of a uniform one.
double Gamma(double alpha, Philox generator) {
  // 0 gives 0. No distribution has a negative one; TensorFlow computes with it as far as it can.
  if (!(alpha > -2.0 / 3)) return std::numeric_limits<double>::quiet_NaN();
  Draws uniform(Distribution::kUniform, generator);
  if (alpha == 1) return -std::log1p(-uniform.Next());
  Draws normal(Distribution::kNormal, generator);
  const double d = alpha + (alpha < 1 ? 2.0 / 3 : -1.0 / 3);
  const double c = 1.0 / 3 / std::sqrt(d);
  for (;;) {
    const double x = normal.Next(), root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root, u = uniform.Next(), square = x * x;
    const bool inside = u < 1 - 0.0331 * square * square;
    if (!inside && !(std::log(u) < 0.5 * square + d * (1 - v + std::log(v)))) continue;
    return alpha < 1 ? d * v * std::pow(uniform.Next(), 1 / alpha) : d * v;
  }
}

// Events of a Poisson process: for small rates as long as the product of uniform numbers is above
// exp(-rate) (Knuth), otherwise by transformed rejection (Hörmann, "The transformed rejection
// method for generating Poisson random variables").
double Poisson(double rate, Philox generator) {
  if (!(rate >= 0) || std::isinf(rate)) return std::numeric_limits<double>::quiet_NaN();
  Draws uniform(Distribution::kUniform, generator);
  if (rate < kLargeMean) {
    const double end = std::exp(-rate);
    double events = 0;
    for (double product = uniform.Next(); product > end; product *= uniform.Next()) ++events;
    return events;
  }
  const double b = 0.931 + 2.53 * std::sqrt(rate);
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double log_rate = std::log(rate);
  for (;;) {
    const double u = uniform.Next() - 0.5, v = uniform.Next();
    const double edge = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / edge + b) * u + rate + 0.43);
    if (edge >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2)) return k;
    if (k < 0 || (edge < 0.013 && v > edge)) continue;
    const double height = std::log(v * inverse_alpha / (a / (edge * edge) + b));
    if (height <= -rate + k * log_rate - std::lgamma(k + 1)) return k;
  }
}

// Successes: geometric numbers until their sum is above the count.
double BinomialByInversion(double count, double probability, Philox generator) {
  Draws uniform(Distribution::kUniform, generator);
  const double scale = std::log1p(-probability);
  double successes = 0;
  for (double sum = 0;; ++successes) {
    sum += std::ceil(std::log(uniform.Next()) / scale);
    if (sum > count) return successes;
  }
}

// log(k!) minus the leading terms of Stirling's approximation.
double StirlingRest(double k) {
  constexpr std::array<double, 10> kSmall = {
      0.0810614667953272,  0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
      0.0166446911898211,  0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
      0.00925546218271273, 0.00833056343336287};
  if (k <= 9) return kSmall[static_cast<size_t>(k)];
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

// Hörmann, "The generation of binomial random variates", algorithm BTRS.
double BinomialByRejection(double n, double p, Philox generator) {
  Draws uniform(Distribution::kUniform, generator);
  const double deviation = std::sqrt(n * p * (1 - p));
  const double b = 1.15 + 2.53 * deviation;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double c = n * p + 0.5;
  const double odds = p / (1 - p);
  const double alpha = (2.83 + 5.1 / b) * deviation;
  const double mode = std::floor((n + 1) * p);
  for (;;) {
    const double first = uniform.Next(), v = uniform.Next(), u = first - 0.5;
    const double edge = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / edge + b) * u + c);
    if (edge >= 0.07 && v <= 0.92 - 4.2 / b) return k;
    if (k < 0 || k > n) continue;
    const double height = std::log(v * alpha / (a / (edge * edge) + b));
    const double bound = (mode + 0.5) * std::log((mode + 1) / (odds * (n - mode + 1))) +
                         (n + 1) * std::log((n - mode + 1) / (n - k + 1)) +
                         (k + 0.5) * std::log(odds * (n - k + 1) / (k + 1)) + StirlingRest(mode) +
                         StirlingRest(n - mode) - StirlingRest(k) - StirlingRest(n - k);
    if (height <= bound) return k;
  }
}

// Counts and probabilities of type T; `at` is the output's number.
template <typename T>
double Binomial(T count, T probability, Philox generator, uint64_t at) {
  const auto n = static_cast<double>(count);
  if (n <= 0 || probability <= T(0)) return 0;
  if (probability >= T(1)) return n;
  if (!std::isfinite(n) || !(probability < T(1))) return std::numeric_limits<double>::quiet_NaN();
  const bool likely = probability > T(0.5);
  const T p = likely ? static_cast<T>(T(1) - probability) : probability;
  const bool large = static_cast<T>(count * p) >= T(kLargeMean);
  generator.Skip((large ? kBlocksPerSample : kBlocksPerInversion) * at);
  const auto number = large ? BinomialByRejection(n, static_cast<double>(p), generator)
                            : BinomialByInversion(n, static_cast<double>(p), generator);
  return likely ? n - number : number;
}

// A number that the integer type may not have becomes its least one, as in TensorFlow on x86.
template <typename U, typename C>
U Rounded(C v) {
  if constexpr (kIsInt<U>) {
    constexpr auto kLimit = static_cast<double>(std::numeric_limits<U>::max());
    const auto d = static_cast<double>(v);
    if (!(d > -kLimit && d < kLimit)) return std::numeric_limits<U>::min();
  }
  return static_cast<U>(v);
}

using ParameterTypes = TypeList<half, bfloat16, float, double, int32_t, int64_t>;

}  // namespace

RejectionSampler RejectionSampler::Of(PrepareContext& p, Sampled what, int first, bool appended,
                                      int shape) {
  RejectionSampler s;
  s.what_ = what;
  s.first_ = first;
  s.appended_ = appended;
  s.shape_ = shape;
  s.shape_type_ = p.input_dtype(shape);
  s.parameter_type_ = p.input_dtype(first);
  s.output_type_ = p.output_dtype(0);
  s.rank_ = p.input_shape(shape).dim(0);
  s.planned_ = p.output_shape(0);
  s.parameters_ = Shape();
  for (int i = first; i < p.num_inputs(); ++i) {
    s.shapes_.push_back(p.input_shape(i));
    const auto both = BroadcastShapes(s.parameters_, s.shapes_.back());
    s.parameters_ = both.ok() ? *both : Shape::Unknown();
  }
  return s;
}

absl::StatusOr<RandomOutput> RejectionSampler::OutputAt(RunContext& run) const {
  if (!parameters_.has_rank()) return InvalidArgument("the parameters do not broadcast");
  Shape shape = planned_;
  if (!planned_.IsComplete()) {
    TENON_ASSIGN_OR_RETURN(shape, ShapeAtRun(run, shape_type_, rank_, shape_));
    if (appended_) {
      std::vector<int64_t> sizes(shape.dims().begin(), shape.dims().end());
      sizes.insert(sizes.end(), parameters_.dims().begin(), parameters_.dims().end());
      shape = Shape(sizes);
    }
  }
  TENON_RETURN_IF_ERROR(ExpectEndsWith(shape, parameters_));
  if (planned_.IsComplete()) return RandomOutput{run.output(0), shape.num_elements()};
  TENON_ASSIGN_OR_RETURN(void* data, run.AllocateOutput(0, shape));
  return RandomOutput{data, shape.num_elements()};
}

void RejectionSampler::Fill(RunContext& run, const RandomOutput& output,
                            const Philox& generator) const {
  if (output.count == 0) return;
  const int64_t parameters = parameters_.num_elements(), samples = output.count / parameters;
  VisitTypes(ParameterTypes{}, parameter_type_, [&]<typename T>() {
    const T* const first = run.input<T>(first_);
    const T* const second = shapes_.size() > 1 ? run.input<T>(first_ + 1) : nullptr;
    VisitTypes(ParameterTypes{}, output_type_, [&]<typename U>() {
      // Outputs are numbered parameter by parameter.
      for (int64_t i = 0; i < parameters; ++i) {
        const T a = first[BroadcastElement(shapes_[0], parameters_, i)];
        const T b = second == nullptr ? T(0) : second[BroadcastElement(shapes_[1], parameters_, i)];
        for (int64_t sample = 0; sample < samples; ++sample) {
          const auto at = static_cast<uint64_t>(i * samples + sample);
          Philox own = generator;
          if (what_ != Sampled::kBinomial) own.Skip(kBlocksPerSample * at);
          U& out = static_cast<U*>(output.data)[sample * parameters + i];
          if (what_ == Sampled::kBinomial) {
            out = Rounded<U>(Binomial(a, b, own, at));
          } else if (what_ == Sampled::kGamma) {
            out = Rounded<U>(Gamma(static_cast<double>(a), own));
          } else {
            out = Rounded<U>(Poisson(static_cast<double>(a), own));
          }
        }
      }
    });
  });
}

}  // namespace tenon
