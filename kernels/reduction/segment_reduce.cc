#include "kernels/reduction/segment_reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/interface/axis.h"
#include "kernels/interface/types.h"
#include "kernels/reduction/segments.h"

namespace tenon {
namespace {

// The sum, product, minimum or maximum of no elements.
template <typename T>
T SegmentIdentity(SegmentOp op) {
  if constexpr (!kIsComplex<T>) {
    using Limits = std::numeric_limits<T>;
    if (op == SegmentOp::kMin) return Limits::max();
    if (op == SegmentOp::kMax) return Limits::lowest();
  }
  return T(op == SegmentOp::kProd ? 1 : 0);
}

// acc[i] = acc[i] op row[i]; half and bfloat16 are accumulated in float. Of extrema, as in
// TensorFlow, NaN replaces any number, and the number after it NaN.
template <typename T>
void CombineRow(SegmentOp op, const T* row, ComputeType<T>* acc, int64_t n) {
  switch (op) {
    case SegmentOp::kSum:
    case SegmentOp::kMean:
    case SegmentOp::kSqrtN:
      for (int64_t i = 0; i < n; ++i) acc[i] = WrapAdd(acc[i], ToCompute(row[i]));
      return;
    case SegmentOp::kProd:
      for (int64_t i = 0; i < n; ++i) acc[i] = WrapMul(acc[i], ToCompute(row[i]));
      return;
    case SegmentOp::kMin:
    case SegmentOp::kMax:
      if constexpr (!kIsComplex<T>) {
        if (op == SegmentOp::kMin) {
          for (int64_t i = 0; i < n; ++i) acc[i] = std::min(ToCompute(row[i]), acc[i]);
        } else {
          for (int64_t i = 0; i < n; ++i) acc[i] = std::max(ToCompute(row[i]), acc[i]);
        }
      }
      return;
  }
}

// Combines rows one after the other, from an identity or a first row in acc. Sums are summed in
// pairs and parts, so that the rounding error of a long sum is that of a short one.
template <typename T>
class RowCombiner {
  using C = ComputeType<T>;

 public:
  RowCombiner(SegmentOp op, int64_t width)
      : op_(op),
        width_(width),
        in_parts_(op == SegmentOp::kSum || op == SegmentOp::kMean || op == SegmentOp::kSqrtN),
        part_(static_cast<size_t>(in_parts_ ? width : 0), C(0)) {}

  // A row must stay where it is until Flush.
  void Add(const T* row, C* acc) {
    if (!in_parts_) return CombineRow(op_, row, acc, width_);
    if (++rows_ % 2 == 1) {
      first_of_pair_ = row;
      return;
    }
    for (size_t i = 0; i < part_.size(); ++i) {
      part_[i] = WrapAdd(part_[i], WrapAdd(ToCompute(first_of_pair_[i]), ToCompute(row[i])));
    }
    if (rows_ == kRows) Flush(acc);
  }
  // To be called after the last row.
  void Flush(C* acc) {
    if (rows_ == 0) return;
    if (rows_ % 2 == 1) CombineRow(op_, first_of_pair_, part_.data(), width_);
    for (size_t i = 0; i < part_.size(); ++i) acc[i] = WrapAdd(acc[i], part_[i]);
    std::fill(part_.begin(), part_.end(), C(0));
    rows_ = 0;
  }

 private:
  static constexpr int kRows = 32;
  const SegmentOp op_;
  const int64_t width_;
  const bool in_parts_;
  int rows_ = 0;
  const T* first_of_pair_ = nullptr;
  std::vector<C> part_;
};

// The combined value of `count` rows, as it is stored.
template <typename T>
void FinishRow(SegmentOp op, int64_t count, const ComputeType<T>* acc, T* out, int64_t n) {
  using C = ComputeType<T>;
  if (op == SegmentOp::kMean && count > 1) {
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(acc[i] / static_cast<C>(count));
  } else if (op == SegmentOp::kSqrtN && count > 1) {
    if constexpr (kIsFloat<T>) {
      const C root = std::sqrt(static_cast<C>(count));
      for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(acc[i] / root);
    }
  } else {
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(acc[i]);
  }
}

absl::Status BadRow(int64_t row, int64_t rows) {
  return InvalidArgument("index ", row, " is not in [0, ", rows, ")");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> SortedSegments(PrepareContext& p, SegmentOp op) {
  const Shape data = p.input_shape(0);
  const DType ids_type = p.input_dtype(1);
  return DispatchType(Numbers{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      const int64_t rows = data.dim(0), width = Product(data, 1, data.rank());
      const std::vector<int64_t> ids = IntegersAt(ids_type, run.input(1), rows);
      TENON_ASSIGN_OR_RETURN(const int64_t segments, CheckSortedIds(ids));
      Shape shape = data;
      shape.set_dim(0, segments);
      TENON_RETURN_IF_ERROR(shape.CheckedElements().status());
      TENON_ASSIGN_OR_RETURN(void* memory, run.AllocateOutput(0, shape));
      T* out = static_cast<T*>(memory);
      std::fill_n(out, segments * width, T(op == SegmentOp::kProd ? 1 : 0));
      std::vector<ComputeType<T>> acc(static_cast<size_t>(width));
      RowCombiner<T> combiner(op, width);
      const T* row = run.input<T>(0);
      for (size_t i = 0; i < ids.size();) {
        // Starts from the first row, not from a bound: the maximum of only -inf is -inf.
        std::transform(row, row + width, acc.begin(), [](const T& v) { return ToCompute(v); });
        size_t end = i + 1;
        row += width;
        for (; end < ids.size() && ids[end] == ids[i]; ++end, row += width) {
          combiner.Add(row, acc.data());
        }
        combiner.Flush(acc.data());
        FinishRow(op, static_cast<int64_t>(end - i), acc.data(), out + ids[i] * width, width);
        i = end;
      }
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> UnsortedSegments(PrepareContext& p, SegmentOp op,
                                                         RowsBeyond beyond) {
  p.InputNotRead(2);
  const Shape& out_shape = p.output_shape(0);
  const int64_t rows = p.input_shape(1).num_elements();
  const int64_t segments = out_shape.dim(0);
  const int64_t width = Product(out_shape, 1, out_shape.rank());
  const DType ids_type = p.input_dtype(1);
  return DispatchType(Numbers{}, p.input_dtype(0), [&]<typename T>() {
    using C = ComputeType<T>;
    if (kIsSmallFloat<T>) p.RequestScratch(static_cast<size_t>(segments * width) * sizeof(C));
    return MakeKernel([=](RunContext& run) -> absl::Status {
      const std::vector<int64_t> ids = IntegersAt(ids_type, run.input(1), rows);
      T* out = run.output<T>(0);
      C* acc = static_cast<C*>(kIsSmallFloat<T> ? run.scratch() : static_cast<void*>(out));
      std::fill_n(acc, segments * width, ToCompute(SegmentIdentity<T>(op)));
      const T* row = run.input<T>(0);
      for (int64_t id : ids) {
        if (id >= segments && beyond == RowsBeyond::kRefused) {
          return InvalidArgument("segment id ", id, " is out of range [0, ", segments, ")");
        }
        if (id >= 0 && id < segments) CombineRow(op, row, acc + id * width, width);
        row += width;
      }
      if (kIsSmallFloat<T>) FinishRow(op, 1, acc, out, segments * width);
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> SparseSegments(PrepareContext& p, SegmentOp op) {
  const bool fixed = p.num_inputs() > 3;
  if (fixed) p.InputNotRead(3);
  const Shape data = p.input_shape(0);
  const int64_t n = p.input_shape(1).num_elements();
  const int64_t given = fixed ? p.output_shape(0).dim(0) : -1;
  const DType index_type = p.input_dtype(1), ids_type = p.input_dtype(2);
  return DispatchType(RealNumbers{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      const int64_t rows = data.dim(0), width = Product(data, 1, data.rank());
      const std::vector<int64_t> indices = IntegersAt(index_type, run.input(1), n);
      const std::vector<int64_t> ids = IntegersAt(ids_type, run.input(2), n);
      TENON_ASSIGN_OR_RETURN(const int64_t used, CheckSortedIds(ids));
      T* out = nullptr;
      if (given >= 0) {
        if (used > given) {
          return InvalidArgument("segment id ", used - 1, " is not in [0, ", given, ")");
        }
        out = run.output<T>(0);
      } else {
        Shape shape = data;
        shape.set_dim(0, used);
        TENON_RETURN_IF_ERROR(shape.CheckedElements().status());
        TENON_ASSIGN_OR_RETURN(void* memory, run.AllocateOutput(0, shape));
        out = static_cast<T*>(memory);
      }
      std::fill_n(out, std::max(used, given) * width, T(0));
      std::vector<ComputeType<T>> acc(static_cast<size_t>(width));
      RowCombiner<T> combiner(op, width);
      for (size_t i = 0; i < ids.size();) {
        std::fill(acc.begin(), acc.end(), ComputeType<T>(0));
        size_t end = i;
        for (; end < ids.size() && ids[end] == ids[i]; ++end) {
          if (indices[end] < 0 || indices[end] >= rows) return BadRow(indices[end], rows);
          combiner.Add(run.input<T>(0) + indices[end] * width, acc.data());
        }
        combiner.Flush(acc.data());
        FinishRow(op, static_cast<int64_t>(end - i), acc.data(), out + ids[i] * width, width);
        i = end;
      }
      return absl::OkStatus();
    });
  });
}

namespace {

// The inputs of a gradient, checked.
struct SparseGradient {
  SegmentOp op = SegmentOp::kSum;
  int64_t width = 0;
  std::vector<int64_t> ids, counts;  // counts: rows of each segment

  static absl::StatusOr<SparseGradient> Of(SegmentOp op, const Shape& grad, DType ids_type,
                                           const RunContext& run, int64_t n) {
    SparseGradient g{op, Product(grad, 1, grad.rank()), IntegersAt(ids_type, run.input(2), n), {}};
    g.counts.assign(static_cast<size_t>(grad.dim(0)), 0);
    for (int64_t id : g.ids) {
      if (id < 0 || id >= grad.dim(0)) return BadRow(id, grad.dim(0));
      ++g.counts[static_cast<size_t>(id)];
    }
    return g;
  }

  // Adds grad[ids[i]] to row rows[i] of `out`, divided as in the forward op.
  template <typename T>
  void Add(const T* grad, const std::vector<int64_t>& rows, T* out, int64_t out_rows) const {
    using C = ComputeType<T>;
    std::vector<C> acc(static_cast<size_t>(out_rows * width), C(0));
    for (size_t i = 0; i < ids.size(); ++i) {
      const C count = static_cast<C>(counts[static_cast<size_t>(ids[i])]);
      const C scale = op == SegmentOp::kMean    ? C(1) / count
                      : op == SegmentOp::kSqrtN ? C(1) / std::sqrt(count)
                                                : C(1);
      const T* from = grad + ids[i] * width;
      C* to = acc.data() + rows[i] * width;
      for (int64_t k = 0; k < width; ++k) to[k] += ToCompute(from[k]) * scale;
    }
    FinishRow(SegmentOp::kSum, 1, acc.data(), out, out_rows * width);
  }
};

absl::Status CheckRows(const std::vector<int64_t>& rows, int64_t size) {
  for (int64_t row : rows) {
    if (row < 0 || row >= size) return BadRow(row, size);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> SparseSegmentsGrad(PrepareContext& p, SegmentOp op) {
  p.InputNotRead(3);
  const Shape grad = p.input_shape(0);
  const int64_t rows = p.output_shape(0).dim(0), n = p.input_shape(1).num_elements();
  const DType index_type = p.input_dtype(1), ids_type = p.input_dtype(2);
  return DispatchType(Floats{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      TENON_ASSIGN_OR_RETURN(const auto g, SparseGradient::Of(op, grad, ids_type, run, n));
      const std::vector<int64_t> indices = IntegersAt(index_type, run.input(1), n);
      TENON_RETURN_IF_ERROR(CheckRows(indices, rows));
      g.Add(run.input<T>(0), indices, run.output<T>(0), rows);
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> SparseSegmentsSparseGrad(PrepareContext& p, SegmentOp op) {
  const Shape grad = p.input_shape(0);
  const int64_t n = p.input_shape(1).num_elements();
  const DType index_type = p.input_dtype(1), ids_type = p.input_dtype(2);
  return DispatchType(Floats{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      TENON_ASSIGN_OR_RETURN(const auto g, SparseGradient::Of(op, grad, ids_type, run, n));
      const std::vector<int64_t> indices = IntegersAt(index_type, run.input(1), n);
      TENON_RETURN_IF_ERROR(CheckRows(indices, *run.input<int32_t>(3)));
      std::vector<int64_t> unique = indices, places;
      std::sort(unique.begin(), unique.end());
      unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
      for (int64_t index : indices) {
        places.push_back(std::lower_bound(unique.begin(), unique.end(), index) - unique.begin());
      }
      Shape out = grad;
      out.set_dim(0, std::ssize(unique));
      TENON_ASSIGN_OR_RETURN(void* const rows, run.AllocateOutput(0, out));
      TENON_ASSIGN_OR_RETURN(void* const sorted, run.AllocateOutput(1, Shape({out.dim(0)})));
      g.Add(run.input<T>(0), places, static_cast<T*>(rows), out.dim(0));
      VisitTypes(TypeList<int32_t, int64_t>{}, index_type, [&]<typename I>() {
        std::transform(unique.begin(), unique.end(), static_cast<I*>(sorted),
                       [](int64_t index) { return static_cast<I>(index); });
      });
      return absl::OkStatus();
    });
  });
}

}  // namespace tenon
