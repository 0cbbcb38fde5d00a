// PopulationCount: the number of set bits.
#include <bit>

#include "kernels/interface/types.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::StatusOr<std::unique_ptr<Kernel>> PopulationCount(PrepareContext& p) {
  const int64_t n = p.input_shape(0).num_elements();
  return DispatchType(Ints{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([n](RunContext& run) {
      const T* x = run.input<T>(0);
      uint8_t* y = run.output<uint8_t>(0);
      for (int64_t i = 0; i < n; ++i) {
        y[i] = static_cast<uint8_t>(std::popcount(static_cast<std::make_unsigned_t<T>>(x[i])));
      }
      return absl::OkStatus();
    });
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
