// Generators whose state is a variable (tf.random.Generator): int64 [counter low, counter high,
// key]. RngReadAndSkip, RngSkip, StatefulUniform, StatefulStandardNormalV2,
// StatefulTruncatedNormal, StatefulUniformInt, StatefulUniformFullInt.
#include <algorithm>
#include <array>

#include "kernels/random/output.h"
#include "kernels/random/philox.h"
#include "kernels/state/update.h"
#include "ops/op.h"
#include "ops/random/shape.h"

namespace tenon {
namespace {

constexpr int64_t kPhiloxAlgorithm = 1;
constexpr int64_t kStateSize = 3;
// Reserved for each output, whatever the distribution.
constexpr uint64_t kBlocksPerOutput = 256;

// Returns the current state, and advances it past `outputs` outputs.
absl::StatusOr<std::array<uint64_t, kStateSize>> Advance(Tensor& state, int64_t algorithm,
                                                         uint64_t outputs) {
  if (algorithm != kPhiloxAlgorithm) {
    return InvalidArgument("algorithm ", algorithm, " is not Philox (1)");
  }
  if (state.shape().rank() != 1 || state.num_elements() < kStateSize) {
    return InvalidArgument("a generator's state must have ", kStateSize,
                           " elements, but has shape ", state.shape().ToString());
  }
  int64_t* data = state.data<int64_t>();
  std::array<uint64_t, kStateSize> before;
  std::transform(data, data + kStateSize, before.begin(),
                 [](int64_t v) { return static_cast<uint64_t>(v); });
  const uint64_t low = before[0] + outputs * kBlocksPerOutput;
  data[0] = static_cast<int64_t>(low);
  if (low < before[0]) data[1] = static_cast<int64_t>(before[1] + 1);
  return before;
}

Philox GeneratorOf(const std::array<uint64_t, kStateSize>& state) {
  const auto low = [](uint64_t v) { return static_cast<uint32_t>(v); };
  const auto high = [](uint64_t v) { return static_cast<uint32_t>(v >> 32); };
  return Philox({low(state[0]), high(state[0]), low(state[1]), high(state[1])},
                {low(state[2]), high(state[2])});
}

absl::Status SkipShape(ShapeContext& c) {
  for (int i : {0, 1, 2}) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 0));
  if (c.num_outputs() > 0) c.set_output(0, Shape({kStateSize}));
  return absl::OkStatus();
}

// The algorithm is int32 or int64, delta as wide as int64.
absl::StatusOr<std::unique_ptr<Kernel>> Skip(PrepareContext& p) {
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

// Inputs resource, algorithm, shape, and bounds.
absl::Status DrawShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 0));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 0));
  for (int i = 3; i < c.num_inputs(); ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 0));
  return RandomShapeOf(c, 2);
}

// `fill(run, generator, out)` writes the output's content.
template <typename F>
absl::StatusOr<std::unique_ptr<Kernel>> Draw(PrepareContext& p, F fill) {
  const Shape planned = p.output_shape(0);
  const DType shape_type = p.input_dtype(2);
  const int64_t rank = p.input_shape(2).dim(0);
  return UpdateKernel(
      DType::kInt64, {0}, [=](RunContext& run, absl::Span<Tensor* const> state) -> absl::Status {
        TENON_ASSIGN_OR_RETURN(const RandomOutput out,
                               OutputAtRun(run, planned, shape_type, rank, 2));
        TENON_ASSIGN_OR_RETURN(const auto before, Advance(*state[0], *run.input<int64_t>(1),
                                                          static_cast<uint64_t>(out.count)));
        return fill(run, GeneratorOf(before), out);
      });
}

template <Distribution distribution>
absl::StatusOr<std::unique_ptr<Kernel>> DrawFloats(PrepareContext& p) {
  const DType dtype = p.output_dtype(0);
  return Draw(p, [dtype](RunContext&, const Philox& generator, const RandomOutput& out) {
    FillRandom(distribution, dtype, generator, out.data, out.count);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> DrawInts(PrepareContext& p) {
  const DType dtype = p.output_dtype(0);
  const bool bounded = p.num_inputs() > 3;
  return Draw(
      p, [=](RunContext& run, const Philox& generator, const RandomOutput& out) -> absl::Status {
        IntRange range;
        if (bounded) {
          TENON_ASSIGN_OR_RETURN(range, RangeAt(dtype, run.input(3), run.input(4)));
        }
        FillRandomInts(dtype, generator, range.low, range.size, out.data, out.count);
        return absl::OkStatus();
      });
}

constexpr char kInputs[] = "resource: resource, algorithm: int64, shape: shape_dtype";
constexpr char kAttrs[] = "dtype: type = float; shape_dtype: type = int64";
constexpr char kTypes[] = "dtype: half bfloat16 float double; shape_dtype: int32 int64";

const OpRegistration rng_read_and_skip_op({
    .name = "RngReadAndSkip",
    .inputs = "resource: resource, alg: int32, delta: uint64",
    .outputs = "value: int64",
    .shape = SkipShape,
    .reference = Skip,
    .stateful = true,
});

const OpRegistration rng_skip_op({
    .name = "RngSkip",
    .inputs = "resource: resource, algorithm: int64, delta: int64",
    .shape = SkipShape,
    .reference = Skip,
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

const OpRegistration stateful_truncated_normal_op({
    .name = "StatefulTruncatedNormal",
    .inputs = kInputs,
    .outputs = "output: dtype",
    .attrs = kAttrs,
    .types = kTypes,
    .shape = DrawShape,
    .reference = DrawFloats<Distribution::kTruncatedNormal>,
    .stateful = true,
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
