// Stateless random ops: seeds, or a key and a counter, determine the numbers.
// StatelessRandomUniform, Normal, UniformInt, UniformFullInt, StatelessTruncatedNormal, their V2
// forms, StatelessMultinomial, StatelessShuffle, StatelessRandomGammaV2 and V3,
// StatelessRandomPoisson, StatelessRandomBinomial, and the ops that turn seeds into keys.
#include "kernels/random/stateless.h"

#include "kernels/random/truncated_normal.h"
#include "ops/op.h"
#include "ops/random/shape.h"

namespace tenon {
namespace {

absl::Status ExpectSeed(const Shape& seed) {
  if (seed.CompatibleWith(Shape({2}))) return absl::OkStatus();
  return InvalidArgument("seed must have 2 elements, but has shape ", seed.ToString());
}

// Inputs 1, 2 and 3.
absl::Status ExpectKeyed(const ShapeContext& c) {
  if (!c.input(1).CompatibleWith(Shape({1}))) {
    return InvalidArgument("key must have 1 element, but has shape ", c.input(1).ToString());
  }
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(3, 0));
  if (c.input(2).has_rank() && c.input(2).dim(0) >= 0 && c.input(2).dim(0) < 2) {
    return InvalidArgument("counter must have 2 elements, but has ", c.input(2).dim(0));
  }
  return absl::OkStatus();
}

// Inputs shape, seed, ...; or shape, key, counter, alg, ...
absl::Status StatelessShape(ShapeContext& c) {
  const bool keyed =
      c.num_inputs() > 3 && c.dtype(2) == DType::kUint64 && c.dtype(3) == DType::kInt32;
  if (keyed) {
    TENON_RETURN_IF_ERROR(ExpectKeyed(c));
  } else {
    TENON_RETURN_IF_ERROR(ExpectSeed(c.input(1)));
  }
  for (int i = keyed ? 4 : 2; i < c.num_inputs(); ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 0));
  return RandomShape(c);
}

// As StatelessShape, but the inputs after the generator's may have any shape.
absl::Status StatelessSampledShape(ShapeContext& c) {
  if (c.num_inputs() > 4 && c.dtype(2) == DType::kUint64) {
    TENON_RETURN_IF_ERROR(ExpectKeyed(c));
  } else {
    TENON_RETURN_IF_ERROR(ExpectSeed(c.input(1)));
  }
  return RandomShape(c);
}

absl::Status KeyCounterShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSeed(c.input(0)));
  c.set_output(0, Shape({1}));
  c.set_output(1, Shape({2}));
  if (c.num_outputs() > 2) c.set_output(2, Shape());
  return absl::OkStatus();
}

absl::Status StatelessMultinomialShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSeed(c.input(2)));
  return MultinomialShape(c);
}

absl::Status StatelessShuffleShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectKeyed(c));
  return UnchangedShape(c);
}

const OpRegistration stateless_random_uniform_op({
    .name = "StatelessRandomUniform",
    .inputs = "shape: T, seed: Tseed",
    .outputs = "output: dtype",
    .attrs = "dtype: type = float; T: type = int32; Tseed: type = int64",
    .types = "dtype: half bfloat16 float double; T: int32 int64; Tseed: int32 int64",
    .shape = StatelessShape,
    .reference = StatelessFloats<Distribution::kUniform>,
    .error_bound = ErrorBound::kRandom,
});

const OpRegistration stateless_random_normal_op({
    .name = "StatelessRandomNormal",
    .inputs = "shape: T, seed: Tseed",
    .outputs = "output: dtype",
    .attrs = "dtype: type = float; T: type = int32; Tseed: type = int64",
    .types = "dtype: half bfloat16 float double; T: int32 int64; Tseed: int32 int64",
    .shape = StatelessShape,
    .reference = StatelessFloats<Distribution::kNormal>,
    .error_bound = ErrorBound::kRandom,
});

const OpRegistration stateless_truncated_normal_op({
    .name = "StatelessTruncatedNormal",
    .inputs = "shape: T, seed: Tseed",
    .outputs = "output: dtype",
    .attrs = "dtype: type = float; T: type = int32; Tseed: type = int64",
    .types = "dtype: half bfloat16 float double; T: int32 int64; Tseed: int32 int64",
    .shape = StatelessShape,
    .reference = StatelessFloats<Distribution::kTruncatedNormal>,
    .error_bound = ErrorBound::kRandom,
});

const OpRegistration stateless_random_uniform_int_op({
    .name = "StatelessRandomUniformInt",
    .inputs = "shape: T, seed: Tseed, minval: dtype, maxval: dtype",
    .outputs = "output: dtype",
    .attrs = "dtype: type; T: type; Tseed: type = int64",
    .types = "dtype: int32 int64; T: int32 int64; Tseed: int32 int64",
    .shape = StatelessShape,
    .reference = StatelessInts<RandomBounds::kGiven>,
    .error_bound = ErrorBound::kRandom,
});

const OpRegistration stateless_random_uniform_full_int_op({
    .name = "StatelessRandomUniformFullInt",
    .inputs = "shape: T, seed: Tseed",
    .outputs = "output: dtype",
    .attrs = "dtype: type = uint64; T: type = int32; Tseed: type = int64",
    .types = "dtype: int32 int64 uint32 uint64; T: int32 int64; Tseed: int32 int64 uint32 uint64",
    .shape = StatelessShape,
    .reference = StatelessInts<RandomBounds::kFull>,
    .error_bound = ErrorBound::kRandom,
});

const OpRegistration stateless_random_uniform_v2_op({
    .name = "StatelessRandomUniformV2",
    .inputs = "shape: Tshape, key: uint64, counter: uint64, alg: int32",
    .outputs = "output: dtype",
    .attrs = "dtype: type = float; Tshape: type = int32",
    .types = "dtype: half bfloat16 float double; Tshape: int32 int64",
    .shape = StatelessShape,
    .reference = StatelessFloats<Distribution::kUniform>,
    .error_bound = ErrorBound::kRandom,
});

const OpRegistration stateless_random_normal_v2_op({
    .name = "StatelessRandomNormalV2",
    .inputs = "shape: Tshape, key: uint64, counter: uint64, alg: int32",
    .outputs = "output: dtype",
    .attrs = "dtype: type = float; Tshape: type = int32",
    .types = "dtype: half bfloat16 float double; Tshape: int32 int64",
    .shape = StatelessShape,
    .reference = StatelessFloats<Distribution::kNormal>,
    .error_bound = ErrorBound::kRandom,
});

const OpRegistration stateless_truncated_normal_v2_op({
    .name = "StatelessTruncatedNormalV2",
    .inputs = "shape: Tshape, key: uint64, counter: uint64, alg: int32",
    .outputs = "output: dtype",
    .attrs = "dtype: type = float; Tshape: type = int32",
    .types = "dtype: half bfloat16 float double; Tshape: int32 int64",
    .shape = StatelessShape,
    .reference = StatelessFloats<Distribution::kTruncatedNormal>,
    .error_bound = ErrorBound::kRandom,
});

const OpRegistration stateless_random_uniform_int_v2_op({
    .name = "StatelessRandomUniformIntV2",
    .inputs =
        "shape: Tshape, key: uint64, counter: uint64, alg: int32, minval: dtype, maxval: dtype",
    .outputs = "output: dtype",
    .attrs = "dtype: type; Tshape: type = int32",
    .types = "dtype: int32 int64 uint32 uint64; Tshape: int32 int64",
    .shape = StatelessShape,
    .reference = StatelessInts<RandomBounds::kGiven>,
    .error_bound = ErrorBound::kRandom,
});

const OpRegistration stateless_random_uniform_full_int_v2_op({
    .name = "StatelessRandomUniformFullIntV2",
    .inputs = "shape: Tshape, key: uint64, counter: uint64, alg: int32",
    .outputs = "output: dtype",
    .attrs = "dtype: type = uint64; Tshape: type = int32",
    .types = "dtype: int32 int64 uint32 uint64; Tshape: int32 int64",
    .shape = StatelessShape,
    .reference = StatelessInts<RandomBounds::kFull>,
    .error_bound = ErrorBound::kRandom,
});

const OpRegistration stateless_random_get_key_counter_op({
    .name = "StatelessRandomGetKeyCounter",
    .inputs = "seed: Tseed",
    .outputs = "key: uint64, counter: uint64",
    .attrs = "Tseed: type = int64",
    .types = "Tseed: int32 int64",
    .shape = KeyCounterShape,
    .reference = RandomKeyCounter,
    .error_bound = ErrorBound::kRandom,
});

const OpRegistration stateless_random_get_key_counter_alg_op({
    .name = "StatelessRandomGetKeyCounterAlg",
    .inputs = "seed: Tseed",
    .outputs = "key: uint64, counter: uint64, alg: int32",
    .attrs = "Tseed: type = int64",
    .types = "Tseed: int32 int64",
    .shape = KeyCounterShape,
    .reference = RandomKeyCounter,
    .error_bound = ErrorBound::kRandom,
});

const OpRegistration stateless_random_get_alg_op({
    .name = "StatelessRandomGetAlg",
    .outputs = "alg: int32",
    .shape = ScalarShape,
    .reference = RandomAlgorithm,
    .error_bound = ErrorBound::kRandom,
});

const OpRegistration stateless_multinomial_op({
    .name = "StatelessMultinomial",
    .inputs = "logits: T, num_samples: int32, seed: Tseed",
    .outputs = "output: output_dtype",
    .attrs = "T: type; Tseed: type = int64; output_dtype: type = int64",
    .types = "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64; "
             "Tseed: int32 int64; output_dtype: int32 int64",
    .shape = StatelessMultinomialShape,
    .reference = StatelessMultinomial,
});

const OpRegistration stateless_shuffle_op({
    .name = "StatelessShuffle",
    .inputs = "value: T, key: uint64, counter: uint64, alg: int32",
    .outputs = "output: T",
    .attrs = "T: type",
    .shape = StatelessShuffleShape,
    .reference = StatelessShuffle,
});

const OpRegistration stateless_random_gamma_v2_op({
    .name = "StatelessRandomGammaV2",
    .inputs = "shape: T, seed: Tseed, alpha: dtype",
    .outputs = "output: dtype",
    .attrs = "dtype: type; T: type = int32; Tseed: type = int64",
    .types = "dtype: half float double; T: int32 int64; Tseed: int32 int64",
    .shape = StatelessSampledShape,
    .reference = StatelessSampled<Sampled::kGamma>,
    .error_bound = ErrorBound::kRandom,
});

const OpRegistration stateless_random_gamma_v3_op({
    .name = "StatelessRandomGammaV3",
    .inputs = "shape: shape_dtype, key: uint64, counter: uint64, alg: int32, alpha: dtype",
    .outputs = "output: dtype",
    .attrs = "dtype: type; shape_dtype: type = int32",
    .types = "dtype: half float double; shape_dtype: int32 int64",
    .shape = StatelessSampledShape,
    .reference = StatelessSampled<Sampled::kGamma>,
    .error_bound = ErrorBound::kRandom,
});

const OpRegistration stateless_parameterized_truncated_normal_op({
    .name = "StatelessParameterizedTruncatedNormal",
    .inputs = "shape: S, seed: Tseed, means: dtype, stddevs: dtype, minvals: dtype, "
              "maxvals: dtype",
    .outputs = "output: dtype",
    .attrs = "S: type; Tseed: type = int64; dtype: type",
    .types = "S: int32 int64; Tseed: int32 int64; dtype: half float double",
    .shape = StatelessSampledShape,
    .reference = StatelessTruncatedNormals,
    .error_bound = ErrorBound::kRandom,
});

const OpRegistration stateless_random_poisson_op({
    .name = "StatelessRandomPoisson",
    .inputs = "shape: T, seed: Tseed, lam: Rtype",
    .outputs = "output: dtype",
    .attrs = "Rtype: type; dtype: type; T: type; Tseed: type = int64",
    .types = "Rtype: half float double int32 int64; dtype: half float double int32 int64; "
             "T: int32 int64; Tseed: int32 int64",
    .shape = StatelessSampledShape,
    .reference = StatelessSampled<Sampled::kPoisson>,
    .error_bound = ErrorBound::kRandom,
});

const OpRegistration stateless_random_binomial_op({
    .name = "StatelessRandomBinomial",
    .inputs = "shape: S, seed: Tseed, counts: T, probs: T",
    .outputs = "output: dtype",
    .attrs = "S: type; Tseed: type = int64; T: type = double; dtype: type = int64",
    .types = "S: int32 int64; Tseed: int32 int64; T: half float double int32 int64; "
             "dtype: half float double int32 int64",
    .shape = StatelessSampledShape,
    .reference = StatelessSampled<Sampled::kBinomial>,
    .error_bound = ErrorBound::kRandom,
});

}  // namespace
}  // namespace tenon
