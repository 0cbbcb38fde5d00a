// SparseSegmentSum, SparseSegmentMean, SparseSegmentSqrtN, their forms with num_segments, and their
// gradients: rows that `indices` name are combined by sorted segment ids.
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/reduction/segments.h"
#include "ops/op.h"

namespace tenon {
namespace {

// data or grad, indices, segment_ids, and in some forms a scalar that is the number of output rows.
absl::Status SparseSegmentShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 1));
  if (!c.input(1).CompatibleWith(c.input(2))) {
    return InvalidArgument("indices and segment_ids must have one size, but have shapes ",
                           c.input(1).ToString(), " and ", c.input(2).ToString());
  }
  int64_t rows = -1;
  if (c.num_inputs() > 3) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(3, 0));
    if (c.value(3) != nullptr) {
      TENON_ASSIGN_OR_RETURN(rows, NumSegments(*c.value(3)));
    }
  }
  Shape out = c.input(0);
  if (!out.has_rank()) return absl::OkStatus();
  if (out.rank() < 1) return InvalidArgument("data must have at least one dimension");
  out.set_dim(0, rows);
  if (out.IsComplete()) TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status BadRow(int64_t row, int64_t rows) {
  return InvalidArgument("index ", row, " is not in [0, ", rows, ")");
}

template <SegmentOp op>
absl::StatusOr<std::unique_ptr<Kernel>> SparseSegment(PrepareContext& p) {
  const bool fixed = p.num_inputs() > 3;
  if (fixed && !p.output_shape(0).IsComplete()) return PrepareLate(p, SparseSegment<op>, {3});
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
      for (size_t i = 0; i < ids.size();) {
        std::fill(acc.begin(), acc.end(), ComputeType<T>(0));
        size_t end = i;
        for (; end < ids.size() && ids[end] == ids[i]; ++end) {
          if (indices[end] < 0 || indices[end] >= rows) return BadRow(indices[end], rows);
          CombineRow(op, run.input<T>(0) + indices[end] * width, acc.data(), width);
        }
        FinishRow(op, static_cast<int64_t>(end - i), acc.data(), out + ids[i] * width, width);
        i = end;
      }
      return absl::OkStatus();
    });
  });
}

// Row indices[i] of the result gets grad[segment_ids[i]], divided as the forward op divides.
template <SegmentOp op>
absl::StatusOr<std::unique_ptr<Kernel>> SparseSegmentGrad(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, SparseSegmentGrad<op>, {3});
  p.InputNotRead(3);
  const Shape grad = p.input_shape(0);
  const int64_t rows = p.output_shape(0).dim(0);
  const int64_t n = p.input_shape(1).num_elements();
  const DType index_type = p.input_dtype(1), ids_type = p.input_dtype(2);
  return DispatchType(Floats{}, p.input_dtype(0), [&]<typename T>() {
    using C = ComputeType<T>;
    return MakeKernel([=](RunContext& run) -> absl::Status {
      const int64_t segments = grad.dim(0), width = Product(grad, 1, grad.rank());
      const std::vector<int64_t> indices = IntegersAt(index_type, run.input(1), n);
      const std::vector<int64_t> ids = IntegersAt(ids_type, run.input(2), n);
      std::vector<int64_t> counts(static_cast<size_t>(segments), 0);
      for (int64_t id : ids) {
        if (id < 0 || id >= segments) return BadRow(id, segments);
        ++counts[static_cast<size_t>(id)];
      }
      std::vector<C> acc(static_cast<size_t>(rows * width), C(0));
      for (size_t i = 0; i < ids.size(); ++i) {
        if (indices[i] < 0 || indices[i] >= rows) return BadRow(indices[i], rows);
        const C count = static_cast<C>(counts[static_cast<size_t>(ids[i])]);
        const C scale = op == SegmentOp::kMean    ? C(1) / count
                        : op == SegmentOp::kSqrtN ? C(1) / std::sqrt(count)
                                                  : C(1);
        const T* from = run.input<T>(0) + ids[i] * width;
        C* to = acc.data() + indices[i] * width;
        for (int64_t k = 0; k < width; ++k) to[k] += ToCompute(from[k]) * scale;
      }
      FinishRow(SegmentOp::kSum, 1, acc.data(), run.output<T>(0), rows * width);
      return absl::OkStatus();
    });
  });
}

constexpr char kFloatTypes[] =
    "T: bfloat16 half float double; Tidx: int32 int64; Tsegmentids: int32 int64";
constexpr char kRealTypes[] =
    "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64; "
    "Tidx: int32 int64; Tsegmentids: int32 int64";

OpRow Row(const char* name, const char* types, KernelFactory reference) {
  return {
      .name = name,
      .inputs = "data: T, indices: Tidx, segment_ids: Tsegmentids",
      .outputs = "output: T",
      .attrs =
          "T: type; Tidx: type = int32; Tsegmentids: type = int32; sparse_gradient: bool = false",
      .types = types,
      .shape = SparseSegmentShape,
      .reference = reference,
  };
}

OpRow WithNumSegments(const char* name, const char* types, KernelFactory reference) {
  OpRow row = Row(name, types, reference);
  row.inputs = "data: T, indices: Tidx, segment_ids: Tsegmentids, num_segments: Tnumsegments";
  row.attrs =
      "T: type; Tidx: type = int32; Tnumsegments: type = int32; Tsegmentids: type = int32; "
      "sparse_gradient: bool = false";
  return row;
}

OpRow Gradient(const char* name, KernelFactory reference) {
  OpRow row = Row(name, kFloatTypes, reference);
  row.inputs = "grad: T, indices: Tidx, segment_ids: Tsegmentids, output_dim0: int32";
  row.attrs = "T: type; Tidx: type = int32; Tsegmentids: type = int32";
  return row;
}

const OpRegistration sum_op(Row("SparseSegmentSum", kRealTypes, SparseSegment<SegmentOp::kSum>));
const OpRegistration mean_op(Row("SparseSegmentMean", kFloatTypes,
                                 SparseSegment<SegmentOp::kMean>));
const OpRegistration sqrt_n_op(Row("SparseSegmentSqrtN", kFloatTypes,
                                   SparseSegment<SegmentOp::kSqrtN>));

const OpRegistration sum_with_num_segments_op(WithNumSegments("SparseSegmentSumWithNumSegments",
                                                              kRealTypes,
                                                              SparseSegment<SegmentOp::kSum>));
const OpRegistration mean_with_num_segments_op(WithNumSegments("SparseSegmentMeanWithNumSegments",
                                                               kFloatTypes,
                                                               SparseSegment<SegmentOp::kMean>));
const OpRegistration sqrt_n_with_num_segments_op(WithNumSegments(
    "SparseSegmentSqrtNWithNumSegments", kFloatTypes, SparseSegment<SegmentOp::kSqrtN>));

const OpRegistration sum_grad_op(Gradient("SparseSegmentSumGrad",
                                          SparseSegmentGrad<SegmentOp::kSum>));
const OpRegistration mean_grad_op(Gradient("SparseSegmentMeanGrad",
                                           SparseSegmentGrad<SegmentOp::kMean>));
const OpRegistration sqrt_n_grad_op(Gradient("SparseSegmentSqrtNGrad",
                                             SparseSegmentGrad<SegmentOp::kSqrtN>));

}  // namespace
}  // namespace tenon
