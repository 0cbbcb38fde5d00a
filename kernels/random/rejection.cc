#include "kernels/random/rejection.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "env/status.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "kernels/random/unit_numbers.h"

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
template <Distribution kDistribution>
class Draws {
 public:
  explicit Draws(Philox& generator) : generator_(generator) {}
  double Next() {
    if (left_ == 0) {
      const Philox::Block x = generator_.Next();
      if constexpr (kDistribution == Distribution::kNormal) {
        NormalBlock<double>(x.data(), block_.data());
      } else {
        UniformBlock<double>(x.data(), block_.data());
      }
      left_ = kPerBlock<double>;
    }
    return block_[static_cast<size_t>(--left_)];
  }

 private:
  Philox& generator_;
  std::array<double, kPerBlock<double>> block_{};
  int left_ = 0;
};
using UniformDraws = Draws<Distribution::kUniform>;

// Marsaglia and Tsang, "A simple method for generating gamma variables". Below 1, the number for
// alpha + 1 times the power 1 / alpha of a uniform one.
double Gamma(double alpha, Philox generator) {
  // 0 gives 0. No distribution has a negative one; TensorFlow computes with it as far as it can.
  if (!(alpha > -2.0 / 3)) return std::numeric_limits<double>::quiet_NaN();
  UniformDraws uniform(generator);
  if (alpha == 1) return -std::log1p(-uniform.Next());
  Draws<Distribution::kNormal> normal(generator);
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
class Poisson {
 public:
  explicit Poisson(double rate) : rate_(rate), end_(std::exp(-rate)) {
    b_ = 0.931 + 2.53 * std::sqrt(rate);
    a_ = -0.059 + 0.02483 * b_;
    inverse_alpha_ = 1.1239 + 1.1328 / (b_ - 3.4);
    log_rate_ = std::log(rate);
  }
  double operator()(Philox generator) const {
    if (!(rate_ >= 0) || std::isinf(rate_)) return std::numeric_limits<double>::quiet_NaN();
    UniformDraws uniform(generator);
    if (rate_ < kLargeMean) {
      double events = 0;
      for (double product = uniform.Next(); product > end_; product *= uniform.Next()) ++events;
      return events;
    }
    for (;;) {
      const double u = uniform.Next() - 0.5, v = uniform.Next();
      const double edge = 0.5 - std::abs(u);
      const double k = std::floor((2 * a_ / edge + b_) * u + rate_ + 0.43);
      if (edge >= 0.07 && v <= 0.9277 - 3.6224 / (b_ - 2)) return k;
      if (k < 0 || (edge < 0.013 && v > edge)) continue;
      const double height = std::log(v * inverse_alpha_ / (a_ / (edge * edge) + b_));
      if (height <= -rate_ + k * log_rate_ - std::lgamma(k + 1)) return k;
    }
  }

 private:
  double rate_, end_;
  double a_ = 0, b_ = 0, inverse_alpha_ = 0, log_rate_ = 0;
};

// Successes: geometric numbers until their sum is above the count.
double BinomialByInversion(double count, double probability, Philox generator) {
  UniformDraws uniform(generator);
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
  UniformDraws uniform(generator);
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
  s.threads_ = p.services().threads;
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
      constexpr double kNanoseconds = 50;
      ParallelFor(
          threads_, output.count, ParallelGrain(kNanoseconds), [&](int64_t at, int64_t end) {
            while (at < end) {
              const int64_t i = at / samples, begin = at - i * samples;
              const int64_t count = std::min(samples - begin, end - at);
              const T a = first[BroadcastElement(shapes_[0], parameters_, i)];
              const T b =
                  second == nullptr ? T(0) : second[BroadcastElement(shapes_[1], parameters_, i)];
              U* const out = static_cast<U*>(output.data) + begin * parameters + i;
              const auto fill = [&](const auto& number) {
                for (int64_t k = 0; k < count; ++k) {
                  const auto place = static_cast<uint64_t>(at + k);
                  Philox own = generator;
                  if (what_ != Sampled::kBinomial) own.Skip(kBlocksPerSample * place);
                  out[k * parameters] = Rounded<U>(number(own, place));
                }
              };
              const auto real = static_cast<double>(a);
              if (what_ == Sampled::kBinomial) {
                fill([&](Philox& own, uint64_t place) { return Binomial(a, b, own, place); });
              } else if (what_ == Sampled::kGamma) {
                fill([&](Philox& own, uint64_t) { return Gamma(real, own); });
              } else {
                const Poisson poisson(real);
                fill([&](Philox& own, uint64_t) { return poisson(own); });
              }
              at += count;
            }
          });
    });
  });
}

}  // namespace tenon
