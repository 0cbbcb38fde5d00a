// OneHot: on_value at the index along the new axis, off_value elsewhere (also if the index is out
// of range).
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::StatusOr<int> NewAxis(const AttrReader& attrs, int rank) {
  const int64_t axis = attrs.Int("axis", -1);
  if (axis < -1 || axis > rank) {
    return InvalidArgument("axis ", axis, " for indices of rank ", rank);
  }
  return axis == -1 ? rank : static_cast<int>(axis);
}

absl::Status OneHotShape(ShapeContext& c) {
  for (int i = 1; i <= 3; ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 0));
  if (!c.input(0).has_rank()) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const int axis, NewAxis(c.attrs(), c.input(0).rank()));
  int64_t depth = -1;
  if (c.value(1) != nullptr) {
    TENON_ASSIGN_OR_RETURN(depth, ScalarInteger(*c.value(1), "depth"));
    if (depth < 0) return InvalidArgument("depth must not be negative, but is ", depth);
  }
  Shape out = c.input(0);
  out.insert(axis, depth);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> OneHot(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, OneHot, {1});
  p.InputNotRead(1);
  const Shape& indices = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const int axis, NewAxis(p.attrs(), indices.rank()));
  const int64_t outer = Product(indices, 0, axis);
  const int64_t inner = Product(indices, axis, indices.rank());
  const int64_t depth = p.output_shape(0).dim(axis);
  const DType dtype = p.output_dtype(0);
  const int64_t row = depth * inner;
  const int threads = p.services().threads;
  const int64_t grain = ParallelGrain(0.1 * static_cast<double>(row) + static_cast<double>(inner));
  return DispatchType(TypeList<uint8_t, int8_t, int32_t, int64_t>{}, p.input_dtype(0),
                      [&]<typename I>() {
                        return MakeKernel([=](RunContext& run) {
                          VisitStorage(dtype, [&]<typename T>() {
                            const T on = *run.input<T>(2), off = *run.input<T>(3);
                            const auto rows = [&](int64_t begin, int64_t end) {
                              const I* index = run.input<I>(0) + begin * inner;
                              T* out = run.output<T>(0) + begin * row;
                              std::fill_n(out, (end - begin) * row, off);
                              for (int64_t o = begin; o < end; ++o, out += row) {
                                for (int64_t i = 0; i < inner; ++i, ++index) {
                                  const int64_t k = static_cast<int64_t>(*index);
                                  if (k >= 0 && k < depth) out[k * inner + i] = on;
                                }
                              }
                            };
                            ParallelFor(threads, outer, grain, rows);
                          });
                          return absl::OkStatus();
                        });
                      });
}

const OpRegistration one_hot({
    .name = "OneHot",
    .inputs = "indices: TI, depth: int32, on_value: T, off_value: T",
    .outputs = "output: T",
    .attrs = "axis: int = -1; T: type; TI: type = int64",
    .types = "TI: uint8 int8 int32 int64",
    .shape = OneHotShape,
    .reference = OneHot,
    .batch_axis = batch_axis::OneHot,
    .error_bound = ErrorBound::kExact,
});

}  // namespace
}  // namespace tenon
