// Where: the coordinates of nonzero elements, one per row. Their number is known only at Run.
#include "kernels/interface/types.h"
#include "kernels/layout/strided_copy.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status WhereShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  c.set_output(0, Shape({-1, in.has_rank() ? int64_t{in.rank()} : int64_t{-1}}));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> Where(PrepareContext& p) {
  const Shape in = p.input_shape(0);
  const int64_t n = in.num_elements();
  return DispatchType(NumbersAndBool{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([in, n](RunContext& run) -> absl::Status {
      const T* x = run.input<T>(0);
      auto is_set = [&](int64_t i) { return ToCompute(x[i]) != ComputeType<T>(0); };
      int64_t count = 0;
      for (int64_t i = 0; i < n; ++i) count += is_set(i) ? 1 : 0;
      TENON_ASSIGN_OR_RETURN(void* memory, run.AllocateOutput(0, Shape({count, in.rank()})));
      int64_t* out = static_cast<int64_t*>(memory);
      std::vector<int64_t> index(static_cast<size_t>(in.rank()), 0);
      for (int64_t i = 0; i < n; ++i) {
        if (is_set(i)) out = std::copy(index.begin(), index.end(), out);
        for (size_t d = index.size(); d > 0; --d) {
          if (++index[d - 1] < in.dims()[d - 1]) break;
          index[d - 1] = 0;
        }
      }
      return absl::OkStatus();
    });
  });
}

const OpRegistration where({
    .name = "Where",
    .inputs = "input: T",
    .outputs = "index: int64",
    .attrs = "T: type = bool",
    .types = "T: float double int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128 "
             "half uint32 uint64 bool",
    .shape = WhereShape,
    .reference = Where,
});

}  // namespace
}  // namespace tenon
