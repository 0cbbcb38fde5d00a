// TopKV2, TopK: the k largest elements of each row, largest first; of equal ones, lower indices
// first. Unsorted results are in the order of TensorFlow's heap: what a sampler draws from them
// depends on it.
#include <algorithm>
#include <numeric>

#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/types.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status SetShapes(ShapeContext& c, int64_t k) {
  Shape out = c.input(0);
  if (!out.has_rank()) return absl::OkStatus();
  if (out.rank() < 1) return InvalidArgument("input must have at least one dimension");
  const int last = out.rank() - 1;
  if (out.dim(last) >= 0 && k > out.dim(last)) {
    return InvalidArgument("rows of ", out.dim(last), " elements do not have ", k);
  }
  out.set_dim(last, k);
  c.set_output(0, out);
  c.set_output(1, std::move(out));
  return absl::OkStatus();
}

absl::Status TopKV2Shape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 0));
  if (c.value(1) == nullptr) return SetShapes(c, -1);
  TENON_ASSIGN_OR_RETURN(const int64_t k, ScalarInteger(*c.value(1), "k"));
  if (k < 0) return InvalidArgument("k must not be negative, but is ", k);
  return SetShapes(c, k);
}

absl::Status TopKShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const int64_t k, c.attrs().Int("k"));
  if (k < 0) return InvalidArgument("k must not be negative, but is ", k);
  return SetShapes(c, k);
}

// The first k of `order` become its first elements by `before`, as TensorFlow's heap leaves them:
// the element that is to go next is in front.
template <typename Before>
void SelectByHeap(std::vector<int64_t>& order, int64_t k, Before before) {
  const auto begin = order.begin(), end = begin + k;
  std::make_heap(begin, end + 1, before);
  std::pop_heap(begin, end + 1, before);
  for (auto next = end + 1; next != order.end(); ++next) {
    if (!before(*next, *begin)) continue;
    std::pop_heap(begin, end, before);
    *(end - 1) = *next;
    std::push_heap(begin, end, before);
  }
}

absl::StatusOr<std::unique_ptr<Kernel>> TopK(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, TopK, {1});
  if (p.num_inputs() > 1) p.InputNotRead(1);
  const Shape& in = p.input_shape(0);
  const int64_t n = in.dim(in.rank() - 1);
  const int64_t k = p.output_shape(0).dim(in.rank() - 1);
  const int64_t rows = Product(in, 0, in.rank() - 1);
  const bool by_heap = !p.attrs().Bool("sorted", true) && k > 0 && k < n;
  return DispatchType(RealNumbers{}, p.input_dtype(0), [&]<typename T>() {
    return DispatchType(
        TypeList<int16_t, int32_t, int64_t>{}, p.output_dtype(1), [&]<typename I>() {
          return MakeKernel([n, k, rows, by_heap](RunContext& run) {
            const T* x = run.input<T>(0);
            T* values = run.output<T>(0);
            I* indices = run.output<I>(1);
            std::vector<int64_t> order(static_cast<size_t>(n));
            for (int64_t r = 0; r < rows; ++r, x += n) {
              std::iota(order.begin(), order.end(), 0);
              // NaN counts as larger than every number, so that the order is total.
              auto before = [x](int64_t a, int64_t b) {
                const auto va = ToCompute(x[a]), vb = ToCompute(x[b]);
                if (va > vb) return true;
                if (va < vb) return false;
                const bool na = va != va, nb = vb != vb;
                return na != nb ? na : a < b;
              };
              if (by_heap) {
                SelectByHeap(order, k, before);
              } else {
                std::partial_sort(order.begin(), order.begin() + k, order.end(), before);
              }
              for (int64_t i = 0; i < k; ++i) {
                *values++ = x[order[static_cast<size_t>(i)]];
                *indices++ = static_cast<I>(order[static_cast<size_t>(i)]);
              }
            }
            return absl::OkStatus();
          });
        });
  });
}

const OpRegistration top_k_v2({
    .name = "TopKV2",
    .inputs = "input: T, k: Tk",
    .outputs = "values: T, indices: index_type",
    .attrs = "sorted: bool = true; T: type; Tk: type = int32; index_type: type = int32",
    .types = "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64; "
             "Tk: int16 int32 int64; index_type: int16 int32 int64",
    .shape = TopKV2Shape,
    .reference = TopK,
    .batch_axis = batch_axis::WithinLastAxis,
    .error_bound = ErrorBound::kExact,
});

const OpRegistration top_k({
    .name = "TopK",
    .inputs = "input: T",
    .outputs = "values: T, indices: int32",
    .attrs = "k: int; sorted: bool = true; T: type",
    .types = "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64",
    .shape = TopKShape,
    .reference = TopK,
});

}  // namespace
}  // namespace tenon
