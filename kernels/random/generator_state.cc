#include "kernels/random/generator_state.h"

#include <algorithm>
#include <array>

#include "kernels/random/output.h"
#include "kernels/random/philox.h"
#include "kernels/random/rejection.h"
#include "kernels/state/update.h"

namespace tenon {
namespace {

// Reserved for each output, whatever the distribution.
constexpr uint64_t kBlocksPerOutput = 256;

// Returns the current state, and advances it past `outputs` outputs. It starts at element `first`.
absl::StatusOr<std::array<uint64_t, kGeneratorStateSize>> Advance(Tensor& state, int64_t algorithm,
                                                                  uint64_t outputs,
                                                                  int64_t first = 0) {
  if (!IsPhilox(algorithm)) {
    return InvalidArgument("algorithm ", algorithm, " is not Philox (1)");
  }
  if (state.shape().rank() != 1 || state.num_elements() < first + kGeneratorStateSize) {
    return InvalidArgument("a generator's state must have ", first + kGeneratorStateSize,
                           " elements, but has shape ", state.shape().ToString());
  }
  int64_t* data = state.data<int64_t>() + first;
  std::array<uint64_t, kGeneratorStateSize> before;
  std::transform(data, data + kGeneratorStateSize, before.begin(),
                 [](int64_t v) { return static_cast<uint64_t>(v); });
  const uint64_t low = before[0] + outputs * kBlocksPerOutput;
  data[0] = static_cast<int64_t>(low);
  if (low < before[0]) data[1] = static_cast<int64_t>(before[1] + 1);
  return before;
}

Philox GeneratorOf(const std::array<uint64_t, kGeneratorStateSize>& state) {
  return Philox::Of(state[0], state[1], state[2]);
}

// `fill(run, generator, out)` writes the output's content. The output's shape follows the inputs
// that say where the generator is.
template <typename F>
absl::StatusOr<std::unique_ptr<Kernel>> Draw(PrepareContext& p, AlgorithmIn algorithm_in, F fill) {
  const bool in_state = algorithm_in == AlgorithmIn::kState;
  const int shape = in_state ? 1 : 2;
  const Shape planned = p.output_shape(0);
  const DType shape_type = p.input_dtype(shape);
  const int64_t rank = p.input_shape(shape).dim(0);
  return UpdateKernel(
      DType::kInt64, {0}, [=](RunContext& run, absl::Span<Tensor* const> state) -> absl::Status {
        TENON_ASSIGN_OR_RETURN(const RandomOutput out,
                               OutputAtRun(run, planned, shape_type, rank, shape));
        const bool empty = in_state && state[0]->num_elements() == 0;  // refused by Advance
        const int64_t algorithm = empty      ? kPhiloxAlgorithm
                                  : in_state ? *state[0]->data<int64_t>()
                                             : *run.input<int64_t>(1);
        TENON_ASSIGN_OR_RETURN(
            const auto before,
            Advance(*state[0], algorithm, static_cast<uint64_t>(out.count), in_state ? 1 : 0));
        return fill(run, GeneratorOf(before), out);
      });
}

}  // namespace

// The algorithm is int32 or int64, delta as wide as int64.
absl::StatusOr<std::unique_ptr<Kernel>> SkipGenerator(PrepareContext& p) {
  const bool read = p.num_outputs() > 0;
  const bool narrow = p.input_dtype(1) == DType::kInt32;
  return UpdateKernel(
      DType::kInt64, {0},
      [read, narrow](RunContext& run, absl::Span<Tensor* const> state) -> absl::Status {
        const int64_t algorithm = narrow ? *run.input<int32_t>(1) : *run.input<int64_t>(1);
        TENON_ASSIGN_OR_RETURN(const auto before,
                               Advance(*state[0], algorithm, *run.input<uint64_t>(2)));
        if (read) std::copy(before.begin(), before.end(), run.output<uint64_t>(0));
        return absl::OkStatus();
      });
}

absl::StatusOr<std::unique_ptr<Kernel>> DrawFloats(PrepareContext& p, Distribution distribution,
                                                   AlgorithmIn algorithm) {
  const DType dtype = p.output_dtype(0);
  const int threads = p.services().threads;
  return Draw(p, algorithm, [=](RunContext&, const Philox& generator, const RandomOutput& out) {
    FillRandom(distribution, dtype, generator, out.data, out.count, threads);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> DrawBinomials(PrepareContext& p) {
  const auto sampler = RejectionSampler::Of(p, Sampled::kBinomial, 3, /*appended=*/false, 2);
  return UpdateKernel(
      DType::kInt64, {0}, [=](RunContext& run, absl::Span<Tensor* const> state) -> absl::Status {
        TENON_ASSIGN_OR_RETURN(const RandomOutput out, sampler.OutputAt(run));
        // TensorFlow reserves 200 numbers for each, by fours.
        const auto parameters = static_cast<uint64_t>(sampler.parameters());
        const uint64_t samples =
            parameters == 0 ? 0 : static_cast<uint64_t>(out.count) / parameters;
        TENON_ASSIGN_OR_RETURN(const auto before, Advance(*state[0], *run.input<int64_t>(1),
                                                          parameters * 200 * (samples + 3) / 4));
        sampler.Fill(run, out, GeneratorOf(before));
        return absl::OkStatus();
      });
}

absl::StatusOr<std::unique_ptr<Kernel>> DrawInts(PrepareContext& p) {
  const DType dtype = p.output_dtype(0);
  const bool bounded = p.num_inputs() > 3;
  const int threads = p.services().threads;
  return Draw(
      p, AlgorithmIn::kInput,
      [=](RunContext& run, const Philox& generator, const RandomOutput& out) -> absl::Status {
        IntRange range;
        if (bounded) {
          TENON_ASSIGN_OR_RETURN(range, RangeAt(dtype, run.input(3), run.input(4)));
        }
        FillRandomInts(dtype, generator, range.low, range.size, out.data, out.count, threads);
        return absl::OkStatus();
      });
}

}  // namespace tenon
