// PopulationCount: the number of set bits.
#include "kernels/elementwise/plain_maps_simd.h"
#include "kernels/interface/parallel.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::StatusOr<std::unique_ptr<Kernel>> PopulationCount(PrepareContext& p) {
  const int64_t n = p.input_shape(0).num_elements();
  const CountBitsFn count = FindCountBits(SizeOf(p.input_dtype(0)));
  const size_t bytes = SizeOf(p.input_dtype(0));
  const int threads = p.services().threads;
  return MakeKernel([=](RunContext& run) {
    ParallelFor(threads, n, ParallelGrain(0.2), [&](int64_t begin, int64_t end) {
      count(run.input<char>(0) + static_cast<size_t>(begin) * bytes, run.output<uint8_t>(0) + begin,
            static_cast<size_t>(end - begin));
    });
    return absl::OkStatus();
  });
}

const OpRegistration population_count_op({
    .name = "PopulationCount",
    .inputs = "x: T",
    .outputs = "y: uint8",
    .attrs = "T: type",
    .types = "T: int8 int16 int32 int64 uint8 uint16 uint32 uint64",
    .shape = UnchangedShape,
    .reference = PopulationCount,
    .elementwise = true,
});

}  // namespace
}  // namespace tenon
