// NthElement: the n-th smallest (with reverse: largest) element of each row.
#include <algorithm>

#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/types.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status NthElementShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 0));
  Shape out = c.input(0);
  if (!out.has_rank()) return absl::OkStatus();
  if (out.rank() < 1) return InvalidArgument("input must have at least one dimension");
  const int64_t size = out.dim(out.rank() - 1);
  if (c.value(1) != nullptr) {
    TENON_ASSIGN_OR_RETURN(const int64_t n, ScalarInteger(*c.value(1), "n"));
    if (n < 0 || (size >= 0 && n >= size)) {
      return InvalidArgument("n is ", n, " for rows of ", size, " elements");
    }
  }
  out.erase(out.rank() - 1);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> NthElement(PrepareContext& p) {
  if (p.value(1) == nullptr) return PrepareLate(p, NthElement, {1});
  p.InputNotRead(1);
  TENON_ASSIGN_OR_RETURN(int64_t n, ScalarInteger(*p.value(1), "n"));
  const Shape& in = p.input_shape(0);
  const int64_t size = in.dim(in.rank() - 1);
  const int64_t rows = p.output_shape(0).num_elements();
  if (p.attrs().Bool("reverse", false)) n = size - n - 1;
  return DispatchType(RealNumbers{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      const T* x = run.input<T>(0);
      T* out = run.output<T>(0);
      std::vector<T> row(static_cast<size_t>(size));
      for (int64_t r = 0; r < rows; ++r, x += size) {
        std::copy_n(x, size, row.begin());
        // NaN counts as larger than every number, so that the order is total.
        std::nth_element(row.begin(), row.begin() + n, row.end(),
                         [](const T& a, const T& b) { return a < b || (a == a && b != b); });
        out[r] = row[static_cast<size_t>(n)];
      }
      return absl::OkStatus();
    });
  });
}

const OpRegistration nth_element_op({
    .name = "NthElement",
    .inputs = "input: T, n: int32",
    .outputs = "values: T",
    .attrs = "reverse: bool = false; T: type",
    .types = "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64",
    .shape = NthElementShape,
    .reference = NthElement,
});

}  // namespace
}  // namespace tenon
