// Bincount, DenseBincount, RaggedBincount, SparseBincount: how often each small number occurs, or
// the sum of the weights at its places. Numbers from `size` on are left out.
#include <algorithm>

#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/reduction/segments.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::StatusOr<int64_t> BinsOf(const Tensor& t) {
  TENON_ASSIGN_OR_RETURN(const int64_t n, ScalarInteger(t, "size"));
  if (n < 0) return InvalidArgument("size must not be negative, but is ", n);
  return n;
}

// Rows of output, -1: not known. `values` and `weights` must have as many elements, or weights
// none.
absl::Status SetBins(ShapeContext& c, int values, int size, const Shape& rows) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(size, 0));
  const Shape& weights = c.input(size + 1);
  if (weights.IsComplete() && c.input(values).IsComplete() && weights.num_elements() > 0 &&
      weights != c.input(values)) {
    return InvalidArgument("weights must be empty or have the values' shape ",
                           c.input(values).ToString(), ", but have ", weights.ToString());
  }
  Shape out = rows;
  int64_t bins = -1;
  if (c.value(size) != nullptr) {
    TENON_ASSIGN_OR_RETURN(bins, BinsOf(*c.value(size)));
  }
  out.push_back(bins);
  if (out.IsComplete()) TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status BincountShape(ShapeContext& c) { return SetBins(c, 0, 1, Shape()); }

absl::Status DenseBincountShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  if (!in.has_rank()) return absl::OkStatus();
  if (in.rank() > 2) return InvalidArgument("input must have at most 2 dimensions");
  return SetBins(c, 0, 1, in.rank() == 2 ? Shape({in.dim(0)}) : Shape());
}

absl::Status RaggedBincountShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  const Shape& splits = c.input(0);
  if (splits.has_rank() && splits.dim(0) == 0) return InvalidArgument("splits must not be empty");
  const bool known = splits.has_rank() && splits.dim(0) >= 0;
  return SetBins(c, 1, 2, Shape({known ? splits.dim(0) - 1 : -1}));
}

absl::Status SparseBincountShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 2));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 1));
  if (c.value(2) == nullptr) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, IntegersOf(*c.value(2)));
  if (dims.empty() || dims.size() > 2) {
    return InvalidArgument("dense_shape must have 1 or 2 elements, but has ", dims.size());
  }
  if (std::min(dims[0], dims.back()) < 0) return InvalidArgument("a negative size in dense_shape");
  return SetBins(c, 1, 3, dims.size() == 2 ? Shape({dims[0]}) : Shape());
}

enum class BinRows { kOne, kDense, kSplits, kCoordinates };

// Inputs: [what gives the row], values, [dense_shape], size, weights.
template <BinRows how>
absl::StatusOr<std::unique_ptr<Kernel>> Bins(PrepareContext& p) {
  constexpr bool kLater = how == BinRows::kSplits || how == BinRows::kCoordinates;
  constexpr int kValues = kLater ? 1 : 0;
  constexpr int kSize = how == BinRows::kCoordinates ? 3 : kValues + 1;
  const Shape& out_shape = p.output_shape(0);
  if (!out_shape.IsComplete()) {
    return PrepareLate(
        p, Bins<how>,
        how == BinRows::kCoordinates ? std::vector<int>{2, kSize} : std::vector<int>{kSize});
  }
  p.InputNotRead(kSize);
  const Shape& in = p.input_shape(kValues);
  const int64_t n = in.num_elements();
  const int64_t bins = out_shape.dim(out_shape.rank() - 1);
  const int64_t rows = out_shape.rank() == 2 ? out_shape.dim(0) : 1;
  const int64_t row_size = how == BinRows::kDense && in.rank() == 2 ? in.dim(1) : n;
  const bool weighted = p.input_shape(kSize + 1).num_elements() > 0;
  const bool binary = p.attrs().Bool("binary_output", false);
  const DType value_type = p.input_dtype(kValues);
  const int64_t given = kLater ? p.input_shape(0).num_elements() : 0;
  const int64_t coordinates = how == BinRows::kCoordinates ? p.input_shape(0).dim(1) : 1;
  if (how == BinRows::kCoordinates && p.input_shape(0).dim(0) != n) {
    return InvalidArgument("indices of shape ", p.input_shape(0).ToString(), " for ", n, " values");
  }
  if (how == BinRows::kCoordinates && coordinates != out_shape.rank()) {
    return InvalidArgument("indices of ", coordinates, " columns for a dense_shape of ",
                           out_shape.rank());
  }
  return DispatchType(
      TypeList<int32_t, int64_t, float, double>{}, p.output_dtype(0), [&]<typename T>() {
        return MakeKernel([=](RunContext& run) -> absl::Status {
          const std::vector<int64_t> values = IntegersAt(value_type, run.input(kValues), n);
          const int64_t* row_input = kLater ? run.input<int64_t>(0) : nullptr;
          const T* weights = weighted ? run.input<T>(kSize + 1) : nullptr;
          T* out = run.output<T>(0);
          std::fill_n(out, rows * bins, T(0));
          if (how == BinRows::kSplits) {
            if (row_input[0] != 0 || row_input[given - 1] != n ||
                !std::is_sorted(row_input, row_input + given)) {
              return InvalidArgument("splits must rise from 0 to the ", n, " values");
            }
          }
          int64_t row = 0;
          for (int64_t i = 0; i < n; ++i) {
            const int64_t v = values[static_cast<size_t>(i)];
            if (v < 0) return InvalidArgument("values must not be negative, but one is ", v);
            if (how == BinRows::kDense && rows > 1) row = i / row_size;
            if (how == BinRows::kSplits) {
              while (row_input[row + 1] <= i) ++row;
            }
            if (how == BinRows::kCoordinates && coordinates == 2) row = row_input[2 * i];
            if (row < 0 || row >= rows) return InvalidArgument("row ", row, " of ", rows);
            if (v >= bins) continue;
            T& bin = out[row * bins + v];
            bin = binary ? T(1) : WrapAdd(bin, weighted ? weights[i] : T(1));
          }
          return absl::OkStatus();
        });
      });
}

const OpRegistration bincount_op({
    .name = "Bincount",
    .inputs = "arr: int32, size: int32, weights: T",
    .outputs = "bins: T",
    .attrs = "T: type",
    .types = "T: int32 int64 float double",
    .shape = BincountShape,
    .reference = Bins<BinRows::kOne>,
});

const OpRegistration dense_bincount_op({
    .name = "DenseBincount",
    .inputs = "input: Tidx, size: Tidx, weights: T",
    .outputs = "output: T",
    .attrs = "Tidx: type; T: type; binary_output: bool = false",
    .types = "Tidx: int32 int64; T: int32 int64 float double",
    .shape = DenseBincountShape,
    .reference = Bins<BinRows::kDense>,
});

const OpRegistration ragged_bincount_op({
    .name = "RaggedBincount",
    .inputs = "splits: int64, values: Tidx, size: Tidx, weights: T",
    .outputs = "output: T",
    .attrs = "Tidx: type; T: type; binary_output: bool = false",
    .types = "Tidx: int32 int64; T: int32 int64 float double",
    .shape = RaggedBincountShape,
    .reference = Bins<BinRows::kSplits>,
});

const OpRegistration sparse_bincount_op({
    .name = "SparseBincount",
    .inputs = "indices: int64, values: Tidx, dense_shape: int64, size: Tidx, weights: T",
    .outputs = "output: T",
    .attrs = "Tidx: type; T: type; binary_output: bool = false",
    .types = "Tidx: int32 int64; T: int32 int64 float double",
    .shape = SparseBincountShape,
    .reference = Bins<BinRows::kCoordinates>,
});

}  // namespace
}  // namespace tenon
