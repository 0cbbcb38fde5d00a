#include "kernels/random/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/elementwise/double_simd.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

// Its power of e is 0.
constexpr double kNone = -1e4;

// The generator's numbers after the first `used`.
PhiloxStream StreamAt(Philox generator, uint64_t used) {
  generator.Skip(used / 4);
  PhiloxStream stream(generator);
  for (uint64_t i = 0; i < used % 4; ++i) stream.Next();
  return stream;
}

}  // namespace

absl::StatusOr<LogitsSampler> LogitsSampler::Make(PrepareContext& p) {
  LogitsSampler s;
  s.logits_type_ = p.input_dtype(0);
  s.class_type_ = p.output_dtype(0);
  s.logits_ = p.input_shape(0);
  s.planned_ = p.output_shape(0);
  s.threads_ = p.services().threads;
  return s;
}

absl::Status LogitsSampler::Run(RunContext& run, const Philox& generator) const {
  const int64_t batch = logits_.dim(0), classes = logits_.dim(1);
  const int64_t samples = *run.input<int32_t>(1);
  void* out = nullptr;
  if (planned_.IsComplete()) {
    out = run.output(0);
  } else {
    if (samples < 0) return InvalidArgument("num_samples is ", samples);
    TENON_ASSIGN_OR_RETURN(out, run.AllocateOutput(0, Shape({batch, samples})));
  }
  if (samples == 0) return absl::OkStatus();
  const DoubleUnaryFn exp = FindDoubleUnary(ElementwiseOp::kExp);
  constexpr double kNanoseconds = 3;
  const double row_ns =
      kNanoseconds * static_cast<double>(classes) + 40 * static_cast<double>(samples);
  return DispatchType(RealNumbers{}, logits_type_, [&]<typename T>() {
    ParallelFor(threads_, batch, ParallelGrain(row_ns), [&](int64_t begin, int64_t end) {
      PhiloxStream stream = StreamAt(generator, static_cast<uint64_t>(begin * samples) * 2);
      std::vector<double> sums(static_cast<size_t>(classes));
      for (int64_t b = begin; b < end; ++b) {
        // Cumulative probabilities, scaled by the largest; classes that are not finite have none.
        const T* row = run.input<T>(0) + b * classes;
        double largest = -std::numeric_limits<double>::infinity();
        for (int64_t i = 0; i < classes; ++i) {
          const auto value = static_cast<double>(ToCompute(row[i]));
          sums[static_cast<size_t>(i)] = value;
          if (std::isfinite(value)) largest = std::max(largest, value);
        }
        for (double& v : sums) v = std::isfinite(v) ? v - largest : kNone;
        exp(sums.data(), sums.data(), classes);
        double total = 0;
        for (double& v : sums) v = total += v;
        VisitTypes(TypeList<int32_t, int64_t>{}, class_type_, [&]<typename I>() {
          I* const to = static_cast<I*>(out) + b * samples;
          for (int64_t i = 0; i < samples; ++i) {
            const double at = stream.NextDouble() * total;
            to[i] = static_cast<I>(std::upper_bound(sums.begin(), sums.end(), at) - sums.begin());
          }
        });
      }
    });
    return absl::OkStatus();
  });
}

}  // namespace tenon
