// XlaSort and XlaKeyValueSort: the rows along the last dimension in ascending order; the second
// also moves values along with their keys. _SortByKeys: several tensors along any dimension, by
// integer keys. Equal keys keep their order.
#include <algorithm>

#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "kernels/xla/row_order.h"
#include "kernels/xla/sort_by_keys.h"
#include "kernels/xla/total_order.h"
#include "ops/op.h"

namespace tenon {
namespace {

using Sortable = Joined<RealNumbers, TypeList<bool>>;

struct Rows {
  explicit Rows(const Shape& shape) {
    length = shape.rank() == 0 ? 1 : shape.dim(shape.rank() - 1);
    count = length == 0 ? 0 : shape.num_elements() / length;
  }
  int64_t count, length;
};

absl::StatusOr<std::unique_ptr<Kernel>> XlaSort(PrepareContext& p) {
  const Rows rows(p.input_shape(0));
  const int threads = p.services().threads;
  return DispatchType(Sortable{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      std::copy_n(run.input<T>(0), rows.count * rows.length, run.output<T>(0));
      const int64_t grain = ParallelGrain(20.0 * static_cast<double>(rows.length));
      ParallelFor(threads, rows.count, grain, [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) {
          T* const row = run.output<T>(0) + r * rows.length;
          std::sort(row, row + rows.length, [](T a, T b) { return OrderKey(a) < OrderKey(b); });
        }
      });
      return absl::OkStatus();
    });
  });
}

absl::Status KeyValueShape(ShapeContext& c) {
  if (!c.input(0).CompatibleWith(c.input(1))) {
    return InvalidArgument("keys of shape ", c.input(0).ToString(), " and values of shape ",
                           c.input(1).ToString());
  }
  TENON_ASSIGN_OR_RETURN(const Shape shape, MergeShapes(c.input(0), c.input(1)));
  c.set_output(0, shape);
  c.set_output(1, shape);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> XlaKeyValueSort(PrepareContext& p) {
  const Rows rows(p.input_shape(0));
  const DType values = p.input_dtype(1);
  const int threads = p.services().threads;
  return DispatchType(RealNumbers{}, p.input_dtype(0), [&]<typename K>() {
    return MakeKernel([=](RunContext& run) {
      const int64_t grain = ParallelGrain(40.0 * static_cast<double>(rows.length));
      ParallelFor(threads, rows.count, grain, [&](int64_t begin, int64_t end) {
        RowOrder order(rows.length);
        for (int64_t r = begin; r < end; ++r) {
          const SortedRow row{r * rows.length, 1};
          order.Restart();
          order.SortBy(run.input<K>(0), row, /*descending=*/false);
          order.Arrange(run.input<K>(0), row, run.output<K>(0));
          VisitStorage(
              values, [&]<typename V>() { order.Arrange(run.input<V>(1), row, run.output<V>(1)); });
        }
      });
      return absl::OkStatus();
    });
  });
}

const OpRegistration sort({
    .name = "XlaSort",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .types = "T: float double half bfloat16 int8 uint8 int16 uint16 int32 uint32 int64 uint64 bool",
    .shape = UnchangedShape,
    .reference = XlaSort,
    .error_bound = ErrorBound::kExact,
});

const OpRegistration key_value_sort({
    .name = "XlaKeyValueSort",
    .inputs = "keys: K, values: V",
    .outputs = "sorted_keys: K, sorted_values: V",
    .attrs = "K: type; V: type",
    .types = "K: float double half bfloat16 int8 uint8 int16 uint16 int32 uint32 int64 uint64; "
             "V: float double half bfloat16 int8 uint8 int16 uint16 int32 uint32 int64 uint64 bool "
             "complex64 complex128 qint8 quint8 qint16 quint16 qint32",
    .shape = KeyValueShape,
    .reference = XlaKeyValueSort,
    .error_bound = ErrorBound::kExact,
});

absl::Status SortByKeysShape(ShapeContext& c) {
  const int keys = c.num_inputs() - c.num_outputs() - 1;
  if (keys < 1 || c.num_outputs() == 0) return InvalidArgument("there is nothing to sort");
  TENON_RETURN_IF_ERROR(c.ExpectRank(c.num_inputs() - 1, 0));
  Shape shape = Shape::Unknown();
  for (int i = 0; i + 1 < c.num_inputs(); ++i) {
    TENON_ASSIGN_OR_RETURN(shape, MergeShapes(shape, c.input(i)));
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, shape);
  return absl::OkStatus();
}

const OpRegistration sort_by_keys({
    .name = "_SortByKeys",
    .inputs = "keys: K, inputs: T, dimension: int32",
    .outputs = "outputs: T",
    .attrs = "K: list(type); T: list(type); descending: list(bool)",
    .types = "K: int8 uint8 int16 uint16 int32 uint32 int64 uint64",
    .shape = SortByKeysShape,
    .reference = SortByKeysKernel,
    .error_bound = ErrorBound::kExact,
});

}  // namespace
}  // namespace tenon
