#include "kernels/random/stateless.h"

#include <vector>

#include "kernels/random/output.h"
#include "kernels/random/philox.h"
#include "kernels/random/sampling.h"
#include "kernels/random/shuffle.h"
#include "kernels/reduction/segments.h"

namespace tenon {
namespace {

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

// How the op specifies its generator: by a seed, or (V2) by key, counter and algorithm.
struct Source {
  bool keyed = false;
  DType seed_type = DType::kInvalid;
  int bounds = 0;  // the input with minval, if there is one

  absl::StatusOr<Philox> Generator(RunContext& run) const {
    if (!keyed) {
      return PhiloxOfSeed(seed_type, run.input(1));
    }
    const int32_t algorithm = *run.input<int32_t>(3);
    if (!IsPhilox(algorithm)) {
      return InvalidArgument("algorithm ", algorithm, " is not Philox (1)");
    }
    const uint64_t* counter = run.input<uint64_t>(2);
    return Philox::Of(counter[0], counter[1], *run.input<uint64_t>(1));
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

}  // namespace

Philox PhiloxOfSeed(DType dtype, const void* seed) {
  const KeyAndCounter k = FromSeedInput(dtype, seed);
  return Philox(k.counter, k.key);
}

absl::StatusOr<std::unique_ptr<Kernel>> StatelessFloats(PrepareContext& p,
                                                        Distribution distribution) {
  const Source source = SourceOf(p);
  const Shape planned = p.output_shape(0);
  const DType dtype = p.output_dtype(0), shape_type = p.input_dtype(0);
  const int64_t rank = p.input_shape(0).dim(0);
  const int threads = p.services().threads;
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const Philox generator, source.Generator(run));
    TENON_ASSIGN_OR_RETURN(const RandomOutput out, OutputAtRun(run, planned, shape_type, rank));
    FillRandom(distribution, dtype, generator, out.data, out.count, threads);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> StatelessInts(PrepareContext& p, RandomBounds bounds) {
  const Source source = SourceOf(p);
  const Shape planned = p.output_shape(0);
  const DType dtype = p.output_dtype(0), shape_type = p.input_dtype(0);
  const int64_t rank = p.input_shape(0).dim(0);
  const int threads = p.services().threads;
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const Philox generator, source.Generator(run));
    IntRange range;
    if (bounds == RandomBounds::kGiven) {
      TENON_ASSIGN_OR_RETURN(
          range, RangeAt(dtype, run.input(source.bounds), run.input(source.bounds + 1)));
    }
    TENON_ASSIGN_OR_RETURN(const RandomOutput out, OutputAtRun(run, planned, shape_type, rank));
    FillRandomInts(dtype, generator, range.low, range.size, out.data, out.count, threads);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> StatelessSampled(PrepareContext& p, Sampled what) {
  const Source source = SourceOf(p);
  const auto sampler = RejectionSampler::Of(p, what, source.bounds, /*appended=*/false);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const Philox generator, source.Generator(run));
    TENON_ASSIGN_OR_RETURN(const RandomOutput out, sampler.OutputAt(run));
    sampler.Fill(run, out, generator);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> RandomKeyCounter(PrepareContext& p) {
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

absl::StatusOr<std::unique_ptr<Kernel>> RandomAlgorithm(PrepareContext& p) {
  return MakeKernel([](RunContext& run) {
    *run.output<int32_t>(0) = kPhiloxAlgorithm;
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> StatelessMultinomial(PrepareContext& p) {
  const DType seed_type = p.input_dtype(2);
  TENON_ASSIGN_OR_RETURN(const LogitsSampler sampler, LogitsSampler::Make(p));
  return MakeKernel(
      [=](RunContext& run) { return sampler.Run(run, PhiloxOfSeed(seed_type, run.input(2))); });
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

}  // namespace tenon
