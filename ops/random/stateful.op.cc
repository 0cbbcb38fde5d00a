// Random ops with a state: RandomUniform, RandomStandardNormal, TruncatedNormal, RandomUniformInt,
// RandomShuffle, Multinomial, RandomGamma, RandomPoissonV2. Each kernel has a sequence, seeded by
// the attributes seed and seed2 (randomly if both are 0), and every Run consumes the next part of
// it.
#include "kernels/interface/types.h"
#include "kernels/random/output.h"
#include "kernels/random/philox.h"
#include "kernels/random/rejection.h"
#include "kernels/random/sampling.h"
#include "kernels/random/sequence.h"
#include "kernels/random/shuffle.h"
#include "ops/op.h"
#include "ops/random/shape.h"

namespace tenon {
namespace {

template <Distribution distribution>
absl::StatusOr<std::unique_ptr<Kernel>> Random(PrepareContext& p) {
  const Shape planned = p.output_shape(0);
  const DType dtype = p.output_dtype(0), shape_type = p.input_dtype(0);
  const int64_t rank = p.input_shape(0).dim(0);
  return MakeKernel(
      [=, sequence = RandomSequence::Make(p.attrs())](RunContext& run) -> absl::Status {
        TENON_ASSIGN_OR_RETURN(const RandomOutput out, OutputAtRun(run, planned, shape_type, rank));
        const uint64_t count = static_cast<uint64_t>(out.count);
        FillRandom(distribution, dtype, sequence->Take(count * kRandomSamplesPerOutput), out.data,
                   out.count);
        return absl::OkStatus();
      });
}

absl::Status UniformIntShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 0));
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 0));
  return RandomShape(c);
}

absl::StatusOr<std::unique_ptr<Kernel>> UniformInt(PrepareContext& p) {
  const Shape planned = p.output_shape(0);
  const DType dtype = p.output_dtype(0), shape_type = p.input_dtype(0);
  const int64_t rank = p.input_shape(0).dim(0);
  return MakeKernel(
      [=, sequence = RandomSequence::Make(p.attrs())](RunContext& run) -> absl::Status {
        TENON_ASSIGN_OR_RETURN(const RandomOutput out, OutputAtRun(run, planned, shape_type, rank));
        if (out.count == 0) return absl::OkStatus();
        TENON_ASSIGN_OR_RETURN(const IntRange range, RangeAt(dtype, run.input(1), run.input(2)));
        const uint64_t count = static_cast<uint64_t>(out.count);
        FillRandomInts(dtype, sequence->Take(count * kRandomSamplesPerOutput), range.low,
                       range.size, out.data, out.count);
        return absl::OkStatus();
      });
}

absl::StatusOr<std::unique_ptr<Kernel>> Shuffle(PrepareContext& p) {
  const ShuffledRows rows = ShuffledRows::Of(p);
  return MakeKernel([=, sequence = RandomSequence::Make(p.attrs())](RunContext& run) {
    const bool still = rows.rows < 2 || rows.width == 0;
    rows.Run(run, sequence->Take(still ? 0 : static_cast<uint64_t>(rows.rows)));
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> Multinomial(PrepareContext& p) {
  const int64_t batch = p.input_shape(0).dim(0);
  TENON_ASSIGN_OR_RETURN(const LogitsSampler sampler, LogitsSampler::Make(p));
  return MakeKernel([=, sequence = RandomSequence::Make(p.attrs())](RunContext& run) {
    const int64_t samples = std::max<int64_t>(0, *run.input<int32_t>(1));
    // Two numbers per sample, in groups of four.
    const uint64_t outputs = static_cast<uint64_t>(batch * ((samples + 3) / 4 * 4) * 2);
    return sampler.Run(run, sequence->Take(outputs * kRandomSamplesPerOutput));
  });
}

// The output's shape: input 0, then the parameter's.
absl::Status SampledShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(RandomShape(c));
  const Shape &samples = c.outputs()[0], &parameter = c.input(1);
  if (!samples.has_rank() || !parameter.has_rank()) {
    c.set_output(0, Shape::Unknown());
    return absl::OkStatus();
  }
  std::vector<int64_t> dims(samples.dims().begin(), samples.dims().end());
  dims.insert(dims.end(), parameter.dims().begin(), parameter.dims().end());
  c.set_output(0, Shape(dims));
  return absl::OkStatus();
}

template <Sampled what>
absl::StatusOr<std::unique_ptr<Kernel>> SampledKernel(PrepareContext& p) {
  const auto sampler = RejectionSampler::Of(p, what, 1, /*appended=*/true);
  return MakeKernel(
      [=, sequence = RandomSequence::Make(p.attrs())](RunContext& run) -> absl::Status {
        TENON_ASSIGN_OR_RETURN(const RandomOutput out, sampler.OutputAt(run));
        sampler.Fill(run, out,
                     sequence->Take(static_cast<uint64_t>(out.count) * kRandomSamplesPerOutput));
        return absl::OkStatus();
      });
}

const OpRegistration random_uniform_op({
    .name = "RandomUniform",
    .inputs = "shape: T",
    .outputs = "output: dtype",
    .attrs = "seed: int = 0; seed2: int = 0; dtype: type; T: type",
    .types = "dtype: half bfloat16 float double; T: int32 int64",
    .shape = RandomShape,
    .reference = Random<Distribution::kUniform>,
    .stateful = true,
    .error_bound = ErrorBound::kRandom,
});

const OpRegistration random_standard_normal_op({
    .name = "RandomStandardNormal",
    .inputs = "shape: T",
    .outputs = "output: dtype",
    .attrs = "seed: int = 0; seed2: int = 0; dtype: type; T: type",
    .types = "dtype: half bfloat16 float double; T: int32 int64",
    .shape = RandomShape,
    .reference = Random<Distribution::kNormal>,
    .stateful = true,
    .error_bound = ErrorBound::kRandom,
});

const OpRegistration truncated_normal_op({
    .name = "TruncatedNormal",
    .inputs = "shape: T",
    .outputs = "output: dtype",
    .attrs = "seed: int = 0; seed2: int = 0; dtype: type; T: type",
    .types = "dtype: half bfloat16 float double; T: int32 int64",
    .shape = RandomShape,
    .reference = Random<Distribution::kTruncatedNormal>,
    .stateful = true,
    .error_bound = ErrorBound::kRandom,
});

const OpRegistration random_uniform_int_op({
    .name = "RandomUniformInt",
    .inputs = "shape: T, minval: Tout, maxval: Tout",
    .outputs = "output: Tout",
    .attrs = "seed: int = 0; seed2: int = 0; Tout: type; T: type",
    .types = "Tout: int32 int64; T: int32 int64",
    .shape = UniformIntShape,
    .reference = UniformInt,
    .stateful = true,
    .error_bound = ErrorBound::kRandom,
});

const OpRegistration random_shuffle_op({
    .name = "RandomShuffle",
    .inputs = "value: T",
    .outputs = "output: T",
    .attrs = "seed: int = 0; seed2: int = 0; T: type",
    .shape = UnchangedShape,
    .reference = Shuffle,
    .stateful = true,
    .error_bound = ErrorBound::kRandom,
});

const OpRegistration multinomial_op({
    .name = "Multinomial",
    .inputs = "logits: T, num_samples: int32",
    .outputs = "output: output_dtype",
    .attrs = "seed: int = 0; seed2: int = 0; T: type; output_dtype: type = int64",
    .types = "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64; "
             "output_dtype: int32 int64",
    .shape = MultinomialShape,
    .reference = Multinomial,
    .stateful = true,
});

const OpRegistration random_gamma_op({
    .name = "RandomGamma",
    .inputs = "shape: S, alpha: T",
    .outputs = "output: T",
    .attrs = "seed: int = 0; seed2: int = 0; S: type; T: type",
    .types = "S: int32 int64; T: half float double",
    .shape = SampledShape,
    .reference = SampledKernel<Sampled::kGamma>,
    .stateful = true,
    .error_bound = ErrorBound::kRandom,
});

const OpRegistration random_poisson_v2_op({
    .name = "RandomPoissonV2",
    .inputs = "shape: S, rate: R",
    .outputs = "output: dtype",
    .attrs = "seed: int = 0; seed2: int = 0; S: type; R: type = double; dtype: type = int64",
    .types = "S: int32 int64; R: half float double int32 int64; "
             "dtype: half float double int32 int64",
    .shape = SampledShape,
    .reference = SampledKernel<Sampled::kPoisson>,
    .stateful = true,
    .error_bound = ErrorBound::kRandom,
});

}  // namespace
}  // namespace tenon
