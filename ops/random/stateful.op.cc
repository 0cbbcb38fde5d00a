// Random ops with a state: RandomUniform, RandomStandardNormal, TruncatedNormal, RandomUniformInt,
// RandomShuffle, Multinomial, RandomGamma, RandomPoisson and V2, RandomCrop,
// ParameterizedTruncatedNormal. Each kernel has a sequence, seeded by
// the attributes seed and seed2 (randomly if both are 0), and every Run consumes the next part of
// it.
#include <algorithm>
#include <limits>

#include "kernels/interface/axis.h"
#include "kernels/interface/types.h"
#include "kernels/random/output.h"
#include "kernels/random/philox.h"
#include "kernels/random/rejection.h"
#include "kernels/random/sampling.h"
#include "kernels/random/sequence.h"
#include "kernels/random/shuffle.h"
#include "kernels/random/truncated_normal.h"
#include "ops/op.h"
#include "ops/random/shape.h"

namespace tenon {
namespace {

template <Distribution distribution>
absl::StatusOr<std::unique_ptr<Kernel>> Random(PrepareContext& p) {
  const Shape planned = p.output_shape(0);
  const DType dtype = p.output_dtype(0), shape_type = p.input_dtype(0);
  const int64_t rank = p.input_shape(0).dim(0);
  const int threads = p.services().threads;
  return MakeKernel([=, sequence = RandomSequence::Of(p.attrs())](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const RandomOutput out, OutputAtRun(run, planned, shape_type, rank));
    const uint64_t count = static_cast<uint64_t>(out.count);
    FillRandom(distribution, dtype, sequence->Take(count * kRandomSamplesPerOutput), out.data,
               out.count, threads);
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
  const int threads = p.services().threads;
  return MakeKernel([=, sequence = RandomSequence::Of(p.attrs())](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const RandomOutput out, OutputAtRun(run, planned, shape_type, rank));
    if (out.count == 0) return absl::OkStatus();
    TENON_ASSIGN_OR_RETURN(const IntRange range, RangeAt(dtype, run.input(1), run.input(2)));
    const uint64_t count = static_cast<uint64_t>(out.count);
    FillRandomInts(dtype, sequence->Take(count * kRandomSamplesPerOutput), range.low, range.size,
                   out.data, out.count, threads);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> Shuffle(PrepareContext& p) {
  const ShuffledRows rows = ShuffledRows::Of(p);
  return MakeKernel([=, sequence = RandomSequence::Of(p.attrs())](RunContext& run) {
    const bool still = rows.rows < 2 || rows.width == 0;
    rows.Run(run, sequence->Take(still ? 0 : static_cast<uint64_t>(rows.rows - 1)));
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> Multinomial(PrepareContext& p) {
  const int64_t batch = p.input_shape(0).dim(0);
  TENON_ASSIGN_OR_RETURN(const LogitsSampler sampler, LogitsSampler::Make(p));
  return MakeKernel([=, sequence = RandomSequence::Of(p.attrs())](RunContext& run) {
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
  return MakeKernel([=, sequence = RandomSequence::Of(p.attrs())](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const RandomOutput out, sampler.OutputAt(run));
    sampler.Fill(run, out,
                 sequence->Take(static_cast<uint64_t>(out.count) * kRandomSamplesPerOutput));
    return absl::OkStatus();
  });
}

// Dimensions of the image may be unknown (-1).
absl::Status CheckCrop(const Shape& image, int64_t height, int64_t width) {
  const auto fits = [](int64_t whole, int64_t part) {
    return part >= 0 && (whole < 0 || part <= whole);
  };
  if (fits(image.dim(0), height) && fits(image.dim(1), width)) return absl::OkStatus();
  return InvalidArgument("a size of ", height, " by ", width, " of an image of shape ",
                         image.ToString());
}

// Input 1 is the height and width of the result.
absl::Status CropShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 3));
  if (!c.input(1).CompatibleWith(Shape({2}))) {
    return InvalidArgument("size must be a vector of 2, but has shape ", c.input(1).ToString());
  }
  const Shape image = c.input(0).has_rank() ? c.input(0) : Shape::UnknownOfRank(3);
  if (std::max(image.dim(0), image.dim(1)) > std::numeric_limits<int32_t>::max()) {
    return InvalidArgument("an image of shape ", image.ToString());
  }
  Shape out({-1, -1, image.dim(2)});
  if (c.value(1) != nullptr) {
    TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> size, IntegersOf(*c.value(1)));
    TENON_RETURN_IF_ERROR(CheckCrop(image, size[0], size[1]));
    out.set_dim(0, size[0]);
    out.set_dim(1, size[1]);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> Crop(PrepareContext& p) {
  const Shape in = p.input_shape(0), planned = p.output_shape(0);
  const DType dtype = p.input_dtype(0);
  return MakeKernel([=, sequence = RandomSequence::Of(p.attrs())](RunContext& run) -> absl::Status {
    const int64_t height = run.input<int64_t>(1)[0], width = run.input<int64_t>(1)[1];
    TENON_RETURN_IF_ERROR(CheckCrop(in, height, width));
    void* out = run.output(0);
    if (!planned.IsComplete()) {
      TENON_ASSIGN_OR_RETURN(out, run.AllocateOutput(0, Shape({height, width, in.dim(2)})));
    }
    PhiloxStream stream(sequence->Take(2));
    // A dimension that stays whole takes no number.
    auto draw = [&](int64_t whole, int64_t part) {
      return whole > part ? stream.Next() % static_cast<uint32_t>(whole - part + 1) : 0;
    };
    const int64_t left = draw(in.dim(1), width), top = draw(in.dim(0), height);
    const int64_t row = in.dim(1) * in.dim(2), offset = top * row + left * in.dim(2);
    VisitStorage(dtype, [&]<typename T>() {
      T* to = static_cast<T*>(out);
      for (int64_t y = 0; y < height; ++y) {
        to = std::copy_n(run.input<T>(0) + offset + y * row, width * in.dim(2), to);
      }
    });
    return absl::OkStatus();
  });
}

// Any integer, from the operating system's random numbers.
absl::StatusOr<std::unique_ptr<Kernel>> Unpredictable(PrepareContext& p) {
  const Shape planned = p.output_shape(0);
  const DType dtype = p.output_dtype(0), shape_type = p.input_dtype(0);
  const int64_t rank = p.input_shape(0).dim(0);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const RandomOutput out, OutputAtRun(run, planned, shape_type, rank));
    FillRandomInts(dtype, Philox::Unpredictable(), 0, 0, out.data, out.count, 1);
    return absl::OkStatus();
  });
}

absl::Status TruncatedShape(ShapeContext& c) {
  for (int i = 1; i < c.num_inputs(); ++i) {
    if (c.input(i).has_rank() && c.input(i).rank() > 1) {
      return InvalidArgument("parameters must be scalars or vectors, but one has shape ",
                             c.input(i).ToString());
    }
  }
  if (c.input(0).has_rank() && c.input(0) == Shape({0})) {
    return InvalidArgument("shape must not be empty");
  }
  return RandomShape(c);
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

const OpRegistration random_poisson_op({
    .name = "RandomPoisson",
    .inputs = "shape: S, rate: dtype",
    .outputs = "output: dtype",
    .attrs = "seed: int = 0; seed2: int = 0; S: type; dtype: type",
    .types = "S: int32 int64; dtype: half float double",
    .shape = SampledShape,
    .reference = SampledKernel<Sampled::kPoisson>,
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

const OpRegistration random_crop_op({
    .name = "RandomCrop",
    .inputs = "image: T, size: int64",
    .outputs = "output: T",
    .attrs = "T: type; seed: int = 0; seed2: int = 0",
    .types = "T: uint8 int8 int16 int32 int64 float double",
    .shape = CropShape,
    .reference = Crop,
    .stateful = true,
    .error_bound = ErrorBound::kExact,
});

const OpRegistration non_deterministic_ints_op({
    .name = "NonDeterministicInts",
    .inputs = "shape: shape_dtype",
    .outputs = "output: dtype",
    .attrs = "dtype: type = int64; shape_dtype: type = int64",
    .types = "dtype: int32 int64 uint32 uint64; shape_dtype: int32 int64",
    .shape = RandomShape,
    .reference = Unpredictable,
    .stateful = true,
});

const OpRegistration parameterized_truncated_normal_op({
    .name = "ParameterizedTruncatedNormal",
    .inputs = "shape: T, means: dtype, stdevs: dtype, minvals: dtype, maxvals: dtype",
    .outputs = "output: dtype",
    .attrs = "seed: int = 0; seed2: int = 0; dtype: type; T: type",
    .types = "dtype: half float double; T: int32 int64",
    .shape = TruncatedShape,
    .reference = StatefulTruncatedNormals,
    .stateful = true,
    .error_bound = ErrorBound::kRandom,
});

}  // namespace
}  // namespace tenon
