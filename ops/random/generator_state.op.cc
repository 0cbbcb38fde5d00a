// Generators whose state is a variable (tf.random.Generator): int64 [counter low, counter high,
// key]. RngReadAndSkip, RngSkip, StatefulUniform, StatefulStandardNormalV2,
// StatefulTruncatedNormal, StatefulUniformInt, StatefulUniformFullInt, StatefulRandomBinomial; and
// StatefulStandardNormal, whose state begins with the algorithm.
#include "kernels/random/generator_state.h"

#include "ops/op.h"
#include "ops/random/shape.h"

namespace tenon {
namespace {

absl::Status SkipShape(ShapeContext& c) {
  for (int i : {0, 1, 2}) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 0));
  if (c.num_outputs() > 0) c.set_output(0, Shape({kGeneratorStateSize}));
  return absl::OkStatus();
}

// Inputs resource, algorithm, shape, and parameters that are broadcast.
absl::Status BinomialShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 0));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 0));
  return RandomShapeOf(c, 2);
}

// Inputs resource, algorithm, shape, and bounds.
absl::Status DrawShape(ShapeContext& c) {
  for (int i = 3; i < c.num_inputs(); ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 0));
  return BinomialShape(c);
}

absl::Status DrawByStateShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 0));
  return RandomShapeOf(c, 1);
}

constexpr char kInputs[] = "resource: resource, algorithm: int64, shape: shape_dtype";
constexpr char kAttrs[] = "dtype: type = float; shape_dtype: type = int64";
constexpr char kTypes[] = "dtype: half bfloat16 float double; shape_dtype: int32 int64";

const OpRegistration rng_read_and_skip_op({
    .name = "RngReadAndSkip",
    .inputs = "resource: resource, alg: int32, delta: uint64",
    .outputs = "value: int64",
    .shape = SkipShape,
    .reference = SkipGenerator,
    .stateful = true,
});

const OpRegistration rng_skip_op({
    .name = "RngSkip",
    .inputs = "resource: resource, algorithm: int64, delta: int64",
    .shape = SkipShape,
    .reference = SkipGenerator,
    .stateful = true,
});

const OpRegistration stateful_uniform_op({
    .name = "StatefulUniform",
    .inputs = kInputs,
    .outputs = "output: dtype",
    .attrs = kAttrs,
    .types = kTypes,
    .shape = DrawShape,
    .reference = DrawFloats<Distribution::kUniform>,
    .stateful = true,
});

const OpRegistration stateful_standard_normal_op({
    .name = "StatefulStandardNormalV2",
    .inputs = kInputs,
    .outputs = "output: dtype",
    .attrs = kAttrs,
    .types = kTypes,
    .shape = DrawShape,
    .reference = DrawFloats<Distribution::kNormal>,
    .stateful = true,
});

const OpRegistration stateful_standard_normal_v1_op({
    .name = "StatefulStandardNormal",
    .inputs = "resource: resource, shape: shape_dtype",
    .outputs = "output: dtype",
    .attrs = kAttrs,
    .types = kTypes,
    .shape = DrawByStateShape,
    .reference = DrawFloats<Distribution::kNormal, AlgorithmIn::kState>,
    .stateful = true,
});

const OpRegistration stateful_random_binomial_op({
    .name = "StatefulRandomBinomial",
    .inputs = "resource: resource, algorithm: int64, shape: S, counts: T, probs: T",
    .outputs = "output: dtype",
    .attrs = "S: type; T: type = double; dtype: type = int64",
    .types = "S: int32 int64; T: half float double int32 int64; "
             "dtype: half float double int32 int64",
    .shape = BinomialShape,
    .reference = DrawBinomials,
    .stateful = true,
});

const OpRegistration stateful_truncated_normal_op({
    .name = "StatefulTruncatedNormal",
    .inputs = kInputs,
    .outputs = "output: dtype",
    .attrs = kAttrs,
    .types = kTypes,
    .shape = DrawShape,
    .reference = DrawFloats<Distribution::kTruncatedNormal>,
    .stateful = true,
    .error_bound = ErrorBound::kRandom,
});

const OpRegistration stateful_uniform_int_op({
    .name = "StatefulUniformInt",
    .inputs = "resource: resource, algorithm: int64, shape: shape_dtype, minval: dtype, "
              "maxval: dtype",
    .outputs = "output: dtype",
    .attrs = "dtype: type = int64; shape_dtype: type = int64",
    .types = "dtype: int32 int64 uint32 uint64; shape_dtype: int32 int64",
    .shape = DrawShape,
    .reference = DrawInts,
    .stateful = true,
});

const OpRegistration stateful_uniform_full_int_op({
    .name = "StatefulUniformFullInt",
    .inputs = kInputs,
    .outputs = "output: dtype",
    .attrs = "dtype: type = uint64; shape_dtype: type = int64",
    .types = "dtype: int32 int64 uint32 uint64; shape_dtype: int32 int64",
    .shape = DrawShape,
    .reference = DrawInts,
    .stateful = true,
});

}  // namespace
}  // namespace tenon
