// ApproxTopK: the k largest, or smallest, elements along a dimension, best first. On CPUs it is
// exact: recall_target and related attributes are hints.
#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/interface/axis.h"
#include "kernels/interface/types.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status ApproxTopKShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const int64_t k, c.attrs().Int("k"));
  if (k < 0) return InvalidArgument("k must not be negative, but is ", k);
  Shape out = c.input(0);
  if (!out.has_rank()) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const int axis,
                         NormalizeAxis(c.attrs().Int("reduction_dimension", -1), out.rank()));
  if (out.dim(axis) >= 0 && k > out.dim(axis)) {
    return InvalidArgument("a dimension of ", out.dim(axis), " elements does not have ", k);
  }
  out.set_dim(axis, k);
  c.set_output(0, out);
  c.set_output(1, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> ApproxTopK(PrepareContext& p) {
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const int axis,
                         NormalizeAxis(p.attrs().Int("reduction_dimension", -1), in.rank()));
  const int64_t n = in.dim(axis), k = p.output_shape(0).dim(axis);
  const int64_t outer = Product(in, 0, axis), stride = Product(in, axis + 1, in.rank());
  const bool largest = p.attrs().Bool("is_max_k", true);
  return DispatchType(TypeList<float, half, bfloat16>{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      std::vector<int64_t> order(static_cast<size_t>(n));
      for (int64_t row = 0; row < outer * stride; ++row) {
        const T* x = run.input<T>(0) + row / stride * n * stride + row % stride;
        const int64_t out = row / stride * k * stride + row % stride;
        std::iota(order.begin(), order.end(), 0);
        // NaN comes last, so that the order is total.
        auto before = [=](int64_t a, int64_t b) {
          const float va = static_cast<float>(x[a * stride]),
                      vb = static_cast<float>(x[b * stride]);
          if (largest ? va > vb : va < vb) return true;
          if (largest ? va < vb : va > vb) return false;
          const bool na = va != va, nb = vb != vb;
          return na != nb ? nb : a < b;
        };
        std::partial_sort(order.begin(), order.begin() + k, order.end(), before);
        for (int64_t i = 0; i < k; ++i) {
          const int64_t from = order[static_cast<size_t>(i)];
          run.output<T>(0)[out + i * stride] = x[from * stride];
          run.output<int32_t>(1)[out + i * stride] = static_cast<int32_t>(from);
        }
      }
      return absl::OkStatus();
    });
  });
}

const OpRegistration approx_top_k_op({
    .name = "ApproxTopK",
    .inputs = "input: T",
    .outputs = "values: T, indices: int32",
    .attrs = "k: int; reduction_dimension: int = -1; recall_target: float = 0.95; "
             "is_max_k: bool = true; reduction_input_size_override: int = -1; "
             "aggregate_to_topk: bool = true; T: type",
    .types = "T: half bfloat16 float",
    .shape = ApproxTopKShape,
    .reference = ApproxTopK,
});

}  // namespace
}  // namespace tenon
