#include "kernels/xla/sort_by_keys.h"

#include <cmath>
#include <vector>

#include "env/status.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "kernels/xla/row_order.h"

namespace tenon {
namespace {

class SortByKeys final : public Kernel {
 public:
  std::vector<DType> keys, tensors;
  std::vector<bool> descending;
  Shape shape;
  int threads = 1;

  absl::Status Run(RunContext& run) const override {
    const auto num_keys = static_cast<int>(keys.size()),
               num_tensors = static_cast<int>(tensors.size());
    const int32_t dimension = *run.input<int32_t>(num_keys + num_tensors);
    TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(dimension, shape.rank()));
    const int64_t length = shape.dim(axis), elements = shape.num_elements();
    if (elements == 0) return absl::OkStatus();
    const int64_t step = Product(shape, axis + 1, shape.rank());
    const double ns =
        4.0 * static_cast<double>(length) * (1 + std::log2(static_cast<double>(length)));
    ParallelFor(threads, elements / length, ParallelGrain(ns), [&](int64_t begin, int64_t end) {
      RowOrder order(length);
      for (int64_t r = begin; r < end; ++r) {
        const SortedRow row{r / step * length * step + r % step, step};
        order.Restart();
        for (int k = num_keys - 1; k >= 0; --k) {
          const auto key = static_cast<size_t>(k);
          VisitTypes(Ints{}, keys[key],
                     [&]<typename T>() { order.SortBy(run.input<T>(k), row, descending[key]); });
        }
        for (int t = 0; t < num_tensors; ++t) {
          VisitStorage(tensors[static_cast<size_t>(t)], [&]<typename T>() {
            order.Arrange(run.input<T>(num_keys + t), row, run.output<T>(t));
          });
        }
      }
    });
    return absl::OkStatus();
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> SortByKeysKernel(PrepareContext& p) {
  auto kernel = std::make_unique<SortByKeys>();
  const int tensors = p.num_outputs(), keys = p.num_inputs() - tensors - 1;
  for (int k = 0; k < keys; ++k) kernel->keys.push_back(p.input_dtype(k));
  for (int t = 0; t < tensors; ++t) kernel->tensors.push_back(p.input_dtype(keys + t));
  const auto* descending = p.node().attr<std::vector<bool>>("descending");
  if (descending == nullptr || descending->size() != kernel->keys.size()) {
    return InvalidArgument("'descending' must have a value for each of ", keys, " keys");
  }
  kernel->descending = *descending;
  kernel->shape = p.input_shape(0);
  kernel->threads = p.services().threads;
  return std::unique_ptr<Kernel>(std::move(kernel));
}

}  // namespace tenon
