// Stateless random ops: seeds, or a key and a counter, determine the numbers.
// StatelessRandomUniform, Normal, UniformInt, UniformFullInt, StatelessTruncatedNormal, their V2
// forms, StatelessMultinomial, StatelessShuffle, and the ops that turn seeds into keys.
#include "kernels/interface/axis.h"
#include "kernels/random/output.h"
#include "kernels/random/philox.h"
#include "kernels/random/sampling.h"
#include "kernels/random/shuffle.h"
#include "kernels/reduction/segments.h"
#include "ops/op.h"
#include "ops/random/shape.h"

namespace tenon {
namespace {

constexpr int32_t kPhiloxAlgorithm = 1;
constexpr int32_t kAnyAlgorithm = 3;

struct KeyAndCounter {
  Philox::Key key;
  Philox::Block counter;
};

// Seeds may be poorly mixed: one block with a fixed key mixes them.
KeyAndCounter Scramble(uint64_t seed0, uint64_t seed1) {
  const Philox::Block mixed =
      Philox({static_cast<uint32_t>(seed0), static_cast<uint32_t>(seed0 >> 32),
              static_cast<uint32_t>(seed1), static_cast<uint32_t>(seed1 >> 32)},
             {0x3ec8f720, 0x02461e29})
          .Next();
  return {{mixed[0], mixed[1]}, {0, 0, mixed[2], mixed[3]}};
}

KeyAndCounter FromSeedInput(DType dtype, const void* seed) {
  const std::vector<int64_t> v = IntegersAt(dtype, seed, 2);
  return Scramble(static_cast<uint64_t>(v[0]), static_cast<uint64_t>(v[1]));
}

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

// How the op specifies its generator: by a seed, or (V2) by key, counter and algorithm.
struct Source {
  bool keyed = false;
  DType seed_type = DType::kInvalid;
  int bounds = 0;  // the input with minval, if there is one

  absl::StatusOr<Philox> Generator(RunContext& run) const {
    if (!keyed) {
      const KeyAndCounter k = FromSeedInput(seed_type, run.input(1));
      return Philox(k.counter, k.key);
    }
    const int32_t algorithm = *run.input<int32_t>(3);
    if (algorithm != kPhiloxAlgorithm && algorithm != kAnyAlgorithm) {
      return InvalidArgument("algorithm ", algorithm, " is not Philox (1)");
    }
    const uint64_t key = *run.input<uint64_t>(1);
    const uint64_t* counter = run.input<uint64_t>(2);
    return Philox({static_cast<uint32_t>(counter[0]), static_cast<uint32_t>(counter[0] >> 32),
                   static_cast<uint32_t>(counter[1]), static_cast<uint32_t>(counter[1] >> 32)},
                  {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)});
  }
};

Source SourceOf(PrepareContext& p) {
  Source s;
  s.keyed =
      p.num_inputs() > 3 && p.input_dtype(2) == DType::kUint64 && p.input_dtype(3) == DType::kInt32;
  s.seed_type = p.input_dtype(1);
  s.bounds = s.keyed ? 4 : 2;
  return s;
}

template <Distribution distribution>
absl::StatusOr<std::unique_ptr<Kernel>> Stateless(PrepareContext& p) {
  const Source source = SourceOf(p);
  const Shape planned = p.output_shape(0);
  const DType dtype = p.output_dtype(0), shape_type = p.input_dtype(0);
  const int64_t rank = p.input_shape(0).dim(0);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const Philox generator, source.Generator(run));
    TENON_ASSIGN_OR_RETURN(const RandomOutput out, OutputAtRun(run, planned, shape_type, rank));
    FillRandom(distribution, dtype, generator, out.data, out.count);
    return absl::OkStatus();
  });
}

enum class Bounds { kFull, kGiven };

template <Bounds bounds>
absl::StatusOr<std::unique_ptr<Kernel>> StatelessInts(PrepareContext& p) {
  const Source source = SourceOf(p);
  const Shape planned = p.output_shape(0);
  const DType dtype = p.output_dtype(0), shape_type = p.input_dtype(0);
  const int64_t rank = p.input_shape(0).dim(0);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const Philox generator, source.Generator(run));
    IntRange range;
    if (bounds == Bounds::kGiven) {
      TENON_ASSIGN_OR_RETURN(
          range, RangeAt(dtype, run.input(source.bounds), run.input(source.bounds + 1)));
    }
    TENON_ASSIGN_OR_RETURN(const RandomOutput out, OutputAtRun(run, planned, shape_type, rank));
    FillRandomInts(dtype, generator, range.low, range.size, out.data, out.count);
    return absl::OkStatus();
  });
}

absl::Status KeyCounterShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSeed(c.input(0)));
  c.set_output(0, Shape({1}));
  c.set_output(1, Shape({2}));
  if (c.num_outputs() > 2) c.set_output(2, Shape());
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> KeyCounter(PrepareContext& p) {
  const DType seed_type = p.input_dtype(0);
  const bool algorithm = p.num_outputs() > 2;
  return MakeKernel([=](RunContext& run) {
    const KeyAndCounter k = FromSeedInput(seed_type, run.input(0));
    *run.output<uint64_t>(0) = k.key[0] | uint64_t{k.key[1]} << 32;
    run.output<uint64_t>(1)[0] = k.counter[0] | uint64_t{k.counter[1]} << 32;
    run.output<uint64_t>(1)[1] = k.counter[2] | uint64_t{k.counter[3]} << 32;
    if (algorithm) *run.output<int32_t>(2) = kPhiloxAlgorithm;
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> Algorithm(PrepareContext& p) {
  return MakeKernel([](RunContext& run) {
    *run.output<int32_t>(0) = kPhiloxAlgorithm;
    return absl::OkStatus();
  });
}

absl::Status StatelessMultinomialShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSeed(c.input(2)));
  return MultinomialShape(c);
}

absl::StatusOr<std::unique_ptr<Kernel>> StatelessMultinomial(PrepareContext& p) {
  const DType seed_type = p.input_dtype(2);
  TENON_ASSIGN_OR_RETURN(const Sampler sampler, Sampler::Make(p));
  return MakeKernel([=](RunContext& run) {
    const KeyAndCounter k = FromSeedInput(seed_type, run.input(2));
    return sampler.Run(run, Philox(k.counter, k.key));
  });
}

absl::Status StatelessShuffleShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectKeyed(c));
  return UnchangedShape(c);
}

absl::StatusOr<std::unique_ptr<Kernel>> StatelessShuffle(PrepareContext& p) {
  const Source source = SourceOf(p);
  const ShuffledRows rows = ShuffledRows::Of(p);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const Philox generator, source.Generator(run));
    rows.Run(run, generator);
    return absl::OkStatus();
  });
}

const OpRegistration stateless_random_uniform_op({
    .name = "StatelessRandomUniform",
    .inputs = "shape: T, seed: Tseed",
    .outputs = "output: dtype",
    .attrs = "dtype: type = float; T: type = int32; Tseed: type = int64",
    .types = "dtype: half bfloat16 float double; T: int32 int64; Tseed: int32 int64",
    .shape = StatelessShape,
    .reference = Stateless<Distribution::kUniform>,
});

const OpRegistration stateless_random_normal_op({
    .name = "StatelessRandomNormal",
    .inputs = "shape: T, seed: Tseed",
    .outputs = "output: dtype",
    .attrs = "dtype: type = float; T: type = int32; Tseed: type = int64",
    .types = "dtype: half bfloat16 float double; T: int32 int64; Tseed: int32 int64",
    .shape = StatelessShape,
    .reference = Stateless<Distribution::kNormal>,
});

const OpRegistration stateless_truncated_normal_op({
    .name = "StatelessTruncatedNormal",
    .inputs = "shape: T, seed: Tseed",
    .outputs = "output: dtype",
    .attrs = "dtype: type = float; T: type = int32; Tseed: type = int64",
    .types = "dtype: half bfloat16 float double; T: int32 int64; Tseed: int32 int64",
    .shape = StatelessShape,
    .reference = Stateless<Distribution::kTruncatedNormal>,
});

const OpRegistration stateless_random_uniform_int_op({
    .name = "StatelessRandomUniformInt",
    .inputs = "shape: T, seed: Tseed, minval: dtype, maxval: dtype",
    .outputs = "output: dtype",
    .attrs = "dtype: type; T: type; Tseed: type = int64",
    .types = "dtype: int32 int64; T: int32 int64; Tseed: int32 int64",
    .shape = StatelessShape,
    .reference = StatelessInts<Bounds::kGiven>,
});

const OpRegistration stateless_random_uniform_full_int_op({
    .name = "StatelessRandomUniformFullInt",
    .inputs = "shape: T, seed: Tseed",
    .outputs = "output: dtype",
    .attrs = "dtype: type = uint64; T: type = int32; Tseed: type = int64",
    .types = "dtype: int32 int64 uint32 uint64; T: int32 int64; Tseed: int32 int64 uint32 uint64",
    .shape = StatelessShape,
    .reference = StatelessInts<Bounds::kFull>,
});

const OpRegistration stateless_random_uniform_v2_op({
    .name = "StatelessRandomUniformV2",
    .inputs = "shape: Tshape, key: uint64, counter: uint64, alg: int32",
    .outputs = "output: dtype",
    .attrs = "dtype: type = float; Tshape: type = int32",
    .types = "dtype: half bfloat16 float double; Tshape: int32 int64",
    .shape = StatelessShape,
    .reference = Stateless<Distribution::kUniform>,
});

const OpRegistration stateless_random_normal_v2_op({
    .name = "StatelessRandomNormalV2",
    .inputs = "shape: Tshape, key: uint64, counter: uint64, alg: int32",
    .outputs = "output: dtype",
    .attrs = "dtype: type = float; Tshape: type = int32",
    .types = "dtype: half bfloat16 float double; Tshape: int32 int64",
    .shape = StatelessShape,
    .reference = Stateless<Distribution::kNormal>,
});

const OpRegistration stateless_truncated_normal_v2_op({
    .name = "StatelessTruncatedNormalV2",
    .inputs = "shape: Tshape, key: uint64, counter: uint64, alg: int32",
    .outputs = "output: dtype",
    .attrs = "dtype: type = float; Tshape: type = int32",
    .types = "dtype: half bfloat16 float double; Tshape: int32 int64",
    .shape = StatelessShape,
    .reference = Stateless<Distribution::kTruncatedNormal>,
});

const OpRegistration stateless_random_uniform_int_v2_op({
    .name = "StatelessRandomUniformIntV2",
    .inputs =
        "shape: Tshape, key: uint64, counter: uint64, alg: int32, minval: dtype, maxval: dtype",
    .outputs = "output: dtype",
    .attrs = "dtype: type; Tshape: type = int32",
    .types = "dtype: int32 int64 uint32 uint64; Tshape: int32 int64",
    .shape = StatelessShape,
    .reference = StatelessInts<Bounds::kGiven>,
});

const OpRegistration stateless_random_uniform_full_int_v2_op({
    .name = "StatelessRandomUniformFullIntV2",
    .inputs = "shape: Tshape, key: uint64, counter: uint64, alg: int32",
    .outputs = "output: dtype",
    .attrs = "dtype: type = uint64; Tshape: type = int32",
    .types = "dtype: int32 int64 uint32 uint64; Tshape: int32 int64",
    .shape = StatelessShape,
    .reference = StatelessInts<Bounds::kFull>,
});

const OpRegistration stateless_random_get_key_counter_op({
    .name = "StatelessRandomGetKeyCounter",
    .inputs = "seed: Tseed",
    .outputs = "key: uint64, counter: uint64",
    .attrs = "Tseed: type = int64",
    .types = "Tseed: int32 int64",
    .shape = KeyCounterShape,
    .reference = KeyCounter,
});

const OpRegistration stateless_random_get_key_counter_alg_op({
    .name = "StatelessRandomGetKeyCounterAlg",
    .inputs = "seed: Tseed",
    .outputs = "key: uint64, counter: uint64, alg: int32",
    .attrs = "Tseed: type = int64",
    .types = "Tseed: int32 int64",
    .shape = KeyCounterShape,
    .reference = KeyCounter,
});

const OpRegistration stateless_random_get_alg_op({
    .name = "StatelessRandomGetAlg",
    .outputs = "alg: int32",
    .shape = ScalarShape,
    .reference = Algorithm,
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

}  // namespace
}  // namespace tenon
