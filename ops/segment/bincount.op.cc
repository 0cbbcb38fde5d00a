// Bincount, DenseBincount, RaggedBincount, SparseBincount: the number of occurrences of each small
// integer, or the sum of the weights at its positions. Integers of at least `size` are ignored.
#include "kernels/reduction/bincount.h"

#include <algorithm>

#include "kernels/interface/axis.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::StatusOr<int64_t> BinsOf(const Tensor& t) {
  TENON_ASSIGN_OR_RETURN(const int64_t n, ScalarInteger(t, "size"));
  if (n < 0) return InvalidArgument("size must not be negative, but is ", n);
  return n;
}

// Rows of output; -1 if not known. `weights` must have as many elements as `values`, or none; in
// the shape of values without row information.
absl::Status SetBins(ShapeContext& c, int values, int size, const Shape& rows) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(size, 0));
  const Shape& weights = c.input(size + 1);
  if (weights.IsComplete() && c.input(values).IsComplete() && weights.num_elements() > 0 &&
      (values == 0 ? weights != c.input(0)
                   : weights.num_elements() != c.input(values).num_elements())) {
    return InvalidArgument("weights must be empty or as many as the values of shape ",
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

const OpRegistration bincount_op({
    .name = "Bincount",
    .inputs = "arr: int32, size: int32, weights: T",
    .outputs = "bins: T",
    .attrs = "T: type",
    .types = "T: int32 int64 float double",
    .shape = BincountShape,
    .reference = Bincount<BinRows::kOne>,
    .error_bound = ErrorBound::kSegmentSum,
});

const OpRegistration dense_bincount_op({
    .name = "DenseBincount",
    .inputs = "input: Tidx, size: Tidx, weights: T",
    .outputs = "output: T",
    .attrs = "Tidx: type; T: type; binary_output: bool = false",
    .types = "Tidx: int32 int64; T: int32 int64 float double",
    .shape = DenseBincountShape,
    .reference = Bincount<BinRows::kDense>,
    .error_bound = ErrorBound::kSegmentSum,
});

const OpRegistration ragged_bincount_op({
    .name = "RaggedBincount",
    .inputs = "splits: int64, values: Tidx, size: Tidx, weights: T",
    .outputs = "output: T",
    .attrs = "Tidx: type; T: type; binary_output: bool = false",
    .types = "Tidx: int32 int64; T: int32 int64 float double",
    .shape = RaggedBincountShape,
    .reference = Bincount<BinRows::kSplits>,
    .error_bound = ErrorBound::kSegmentSum,
});

const OpRegistration sparse_bincount_op({
    .name = "SparseBincount",
    .inputs = "indices: int64, values: Tidx, dense_shape: int64, size: Tidx, weights: T",
    .outputs = "output: T",
    .attrs = "Tidx: type; T: type; binary_output: bool = false",
    .types = "Tidx: int32 int64; T: int32 int64 float double",
    .shape = SparseBincountShape,
    .reference = Bincount<BinRows::kCoordinates>,
    .error_bound = ErrorBound::kSegmentSum,
});

}  // namespace
}  // namespace tenon
