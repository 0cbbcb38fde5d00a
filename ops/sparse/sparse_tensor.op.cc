// SparseToDense, SparseTensorDenseMatMul, SparseReshape, SparseFillEmptyRows: tensors given by the
// coordinates of their elements.
#include <algorithm>

#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/reduction/segments.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status ToDenseShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(3, 0));
  const Shape& indices = c.input(0);
  const Shape& values = c.input(2);
  if (indices.has_rank() && indices.rank() > 2) {
    return InvalidArgument("sparse_indices must be a scalar, vector or matrix, but have shape ",
                           indices.ToString());
  }
  if (values.has_rank() && values.rank() > 1) {
    return InvalidArgument("sparse_values must be a scalar or a vector");
  }
  if (indices.IsComplete() && values.IsComplete()) {
    const int64_t n = indices.rank() == 0 ? 1 : indices.dim(0);
    if (values.rank() == 1 && values.dim(0) != n) {
      return InvalidArgument(values.dim(0), " values for ", n, " indices");
    }
  }
  if (c.value(1) == nullptr) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const Shape out, ShapeOfValue(*c.value(1), MinusOne::kRefused));
  if (indices.has_rank()) {
    const int64_t depth = indices.rank() == 2 ? indices.dim(1) : 1;
    if (depth >= 0 && depth != out.rank()) {
      return InvalidArgument("indices of ", depth, " columns for shape ", out.ToString());
    }
  }
  c.set_output(0, out);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> ToDense(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, ToDense, {1});
  p.InputNotRead(1);
  const Shape out = p.output_shape(0), indices = p.input_shape(0);
  const int64_t n = indices.rank() == 0 ? 1 : indices.dim(0), rank = out.rank();
  const int64_t step = p.input_shape(2).rank() == 0 ? 0 : 1;
  const bool validate = p.attrs().Bool("validate_indices", true);
  const DType dtype = p.output_dtype(0), index_type = p.input_dtype(0);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const std::vector<int64_t> at = IntegersAt(index_type, run.input(0), n * rank);
    std::vector<int64_t> offsets;
    for (int64_t i = 0; i < n; ++i) {
      int64_t offset = 0;
      for (int64_t d = 0; d < rank; ++d) {
        const int64_t k = at[static_cast<size_t>(i * rank + d)],
                      size = out.dim(static_cast<int>(d));
        if (k < 0 || k >= size) {
          return InvalidArgument("indices[", i, "] is out of bounds: ", k, " is not in [0, ", size,
                                 ")");
        }
        offset = offset * size + k;
      }
      if (validate && i > 0 && offset <= offsets.back()) {
        return InvalidArgument("indices[", i, "] is repeated or out of order");
      }
      offsets.push_back(offset);
    }
    VisitStorage(dtype, [&]<typename T>() {
      std::fill_n(run.output<T>(0), out.num_elements(), *run.input<T>(3));
      for (int64_t i = 0; i < n; ++i) {
        run.output<T>(0)[offsets[static_cast<size_t>(i)]] = run.input<T>(2)[i * step];
      }
    });
    return absl::OkStatus();
  });
}

absl::Status SparseMatMulShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 2));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(3, 2));
  const bool adjoint_a = c.attrs().Bool("adjoint_a", false);
  const bool adjoint_b = c.attrs().Bool("adjoint_b", false);
  if (c.input(0).has_rank() && c.input(1).has_rank() &&
      !Shape({c.input(1).dim(0), 2}).CompatibleWith(c.input(0))) {
    return InvalidArgument("a_indices of shape ", c.input(0).ToString(), " for values of shape ",
                           c.input(1).ToString());
  }
  if (!c.input(3).has_rank()) return absl::OkStatus();
  Shape out({-1, c.input(3).dim(adjoint_b ? 0 : 1)});
  if (c.value(2) != nullptr) {
    TENON_ASSIGN_OR_RETURN(const Shape a, ShapeOfValue(*c.value(2), MinusOne::kRefused));
    if (a.rank() != 2) return InvalidArgument("a_shape must have 2 elements");
    const int64_t inner = a.dim(adjoint_a ? 0 : 1), rows = c.input(3).dim(adjoint_b ? 1 : 0);
    if (rows >= 0 && rows != inner) {
      return InvalidArgument("a matrix of ", inner, " columns times one of ", rows, " rows");
    }
    out.set_dim(0, a.dim(adjoint_a ? 1 : 0));
  }
  if (out.IsComplete()) TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> SparseMatMul(PrepareContext& p) {
  if (p.value(2) == nullptr) return PrepareLate(p, SparseMatMul, {2});
  p.InputNotRead(2);
  const bool adjoint_a = p.attrs().Bool("adjoint_a", false);
  const bool adjoint_b = p.attrs().Bool("adjoint_b", false);
  const int64_t n = p.input_shape(1).num_elements();
  const int64_t rows = p.output_shape(0).dim(0), cols = p.output_shape(0).dim(1);
  const int64_t b_cols = p.input_shape(3).dim(1), inner = p.input_shape(3).dim(adjoint_b ? 1 : 0);
  const DType index_type = p.input_dtype(0);
  return DispatchType(
      Joined<FloatsAndComplexes, TypeList<int32_t>>{}, p.input_dtype(1), [&]<typename T>() {
        using C = ComputeType<T>;
        return MakeKernel([=](RunContext& run) -> absl::Status {
          const std::vector<int64_t> at = IntegersAt(index_type, run.input(0), 2 * n);
          auto conjugated = [](C v, bool adjoint) {
            if constexpr (kIsComplex<C>) return adjoint ? std::conj(v) : v;
            return v;
          };
          std::vector<C> sums(static_cast<size_t>(rows * cols), C(0));
          for (int64_t i = 0; i < n; ++i) {
            const int64_t m = at[static_cast<size_t>(2 * i + (adjoint_a ? 1 : 0))];
            const int64_t k = at[static_cast<size_t>(2 * i + (adjoint_a ? 0 : 1))];
            if (m < 0 || m >= rows || k < 0 || k >= inner) {
              return InvalidArgument("a_indices[", i, "] is out of bounds");
            }
            const C v = conjugated(ToCompute(run.input<T>(1)[i]), adjoint_a);
            const T* b = run.input<T>(3) + (adjoint_b ? k : k * b_cols);
            for (int64_t c = 0; c < cols; ++c) {
              C& sum = sums[static_cast<size_t>(m * cols + c)];
              const C other = conjugated(ToCompute(b[adjoint_b ? c * b_cols : c]), adjoint_b);
              sum = WrapAdd(sum, WrapMul(v, other));
            }
          }
          std::transform(sums.begin(), sums.end(), run.output<T>(0),
                         [](const C& v) { return static_cast<T>(v); });
          return absl::OkStatus();
        });
      });
}

absl::Status SparseReshapeShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 2));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 1));
  const Shape& indices = c.input(0);
  if (indices.has_rank() && c.input(1).has_rank() &&
      !Shape({indices.dim(1)}).CompatibleWith(c.input(1))) {
    return InvalidArgument("indices of shape ", indices.ToString(), " for a shape of ",
                           c.input(1).ToString(), " elements");
  }
  const int64_t rank = c.input(2).has_rank() ? c.input(2).dim(0) : -1;
  c.set_output(0, Shape({indices.has_rank() ? indices.dim(0) : -1, rank}));
  c.set_output(1, Shape({rank}));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> SparseReshape(PrepareContext& p) {
  const int64_t n = p.input_shape(0).dim(0), from_rank = p.input_shape(1).dim(0);
  const int64_t rank = p.input_shape(2).dim(0);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const int64_t* from = run.input<int64_t>(1);
    const Shape old_shape(absl::MakeConstSpan(from, static_cast<size_t>(from_rank)));
    TENON_ASSIGN_OR_RETURN(const int64_t elements, old_shape.CheckedElements());
    std::vector<int64_t> to(run.input<int64_t>(2), run.input<int64_t>(2) + rank);
    int64_t known = 1, unknown = -1;
    for (int64_t d = 0; d < rank; ++d) {
      const int64_t size = to[static_cast<size_t>(d)];
      if (size == -1 && unknown < 0) {
        unknown = d;
      } else if (size < 0 || __builtin_mul_overflow(known, size, &known)) {
        return InvalidArgument("new_shape has ", size, ", or two sizes of -1");
      }
    }
    if (unknown >= 0) {
      if (known == 0 || elements % known != 0) {
        return InvalidArgument(elements, " elements do not fill dimensions of ", known);
      }
      to[static_cast<size_t>(unknown)] = elements / known;
      known = elements;
    }
    if (known != elements) {
      return InvalidArgument("a tensor of ", elements, " elements cannot have ", known);
    }
    const int64_t* in = run.input<int64_t>(0);
    int64_t* out = run.output<int64_t>(0);
    for (int64_t i = 0; i < n; ++i, in += from_rank, out += rank) {
      int64_t offset = 0;
      for (int64_t d = 0; d < from_rank; ++d) {
        if (in[d] < 0 || in[d] >= from[d])
          return InvalidArgument("indices[", i, "] is out of bounds");
        offset = offset * from[d] + in[d];
      }
      for (int64_t d = rank; d > 0; --d) {
        out[d - 1] = offset % to[static_cast<size_t>(d - 1)];
        offset /= to[static_cast<size_t>(d - 1)];
      }
    }
    std::copy(to.begin(), to.end(), run.output<int64_t>(1));
    return absl::OkStatus();
  });
}

absl::Status FillEmptyRowsShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 2));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(3, 0));
  const Shape& indices = c.input(0);
  const int64_t n = indices.has_rank() ? indices.dim(0) : -1;
  const int64_t rank = indices.has_rank() ? indices.dim(1) : -1;
  if (!Shape({n}).CompatibleWith(c.input(1)) || !Shape({rank}).CompatibleWith(c.input(2))) {
    return InvalidArgument("indices of shape ", indices.ToString(), " for values of shape ",
                           c.input(1).ToString(), " and a dense_shape of ", c.input(2).ToString());
  }
  if (rank == 0) return InvalidArgument("dense_shape must not be empty");
  c.set_output(0, Shape({-1, rank}));
  c.set_output(1, Shape({-1}));
  c.set_output(2, Shape({-1}));
  c.set_output(3, Shape({n}));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> FillEmptyRows(PrepareContext& p) {
  const int64_t n = p.input_shape(0).dim(0), rank = p.input_shape(0).dim(1);
  const DType dtype = p.input_dtype(1);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const int64_t* indices = run.input<int64_t>(0);
    const int64_t rows = run.input<int64_t>(2)[0];
    if (rows < 0 || (rows == 0 && n > 0)) {
      return InvalidArgument("dense_shape has ", rows, " rows for ", n, " elements");
    }
    TENON_ASSIGN_OR_RETURN(void* empty_out, run.AllocateOutput(2, Shape({rows})));
    bool* empty = static_cast<bool*>(empty_out);
    std::fill_n(empty, rows, true);
    std::vector<int64_t> starts(static_cast<size_t>(rows) + 1, 0);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t row = indices[i * rank];
      if (row < 0 || row >= rows) {
        return InvalidArgument("indices(", i, ", 0) is ", row, ", which is not in [0, ", rows, ")");
      }
      empty[row] = false;
      ++starts[static_cast<size_t>(row) + 1];
    }
    for (int64_t r = 0; r < rows; ++r) {
      const size_t k = static_cast<size_t>(r);
      starts[k + 1] = starts[k] + std::max<int64_t>(1, starts[k + 1]);
    }
    const int64_t total = starts.back();
    TENON_ASSIGN_OR_RETURN(void* indices_out, run.AllocateOutput(0, Shape({total, rank})));
    TENON_ASSIGN_OR_RETURN(void* values_out, run.AllocateOutput(1, Shape({total})));
    int64_t* out = static_cast<int64_t*>(indices_out);
    std::fill_n(out, total * rank, 0);
    VisitStorage(dtype, [&]<typename T>() {
      T* values = static_cast<T*>(values_out);
      for (int64_t r = 0; r < rows; ++r) {
        const int64_t at = starts[static_cast<size_t>(r)];
        out[at * rank] = r;
        values[at] = *run.input<T>(3);
      }
      for (int64_t i = 0; i < n; ++i) {
        const int64_t at = starts[static_cast<size_t>(indices[i * rank])]++;
        std::copy_n(indices + i * rank, rank, out + at * rank);
        values[at] = run.input<T>(1)[i];
        run.output<int64_t>(3)[i] = at;
      }
    });
    return absl::OkStatus();
  });
}

const OpRegistration sparse_to_dense_op({
    .name = "SparseToDense",
    .inputs =
        "sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, default_value: T",
    .outputs = "dense: T",
    .attrs = "validate_indices: bool = true; T: type; Tindices: type",
    .types = "Tindices: int32 int64",
    .shape = ToDenseShape,
    .reference = ToDense,
});

const OpRegistration sparse_tensor_dense_mat_mul_op({
    .name = "SparseTensorDenseMatMul",
    .inputs = "a_indices: Tindices, a_values: T, a_shape: int64, b: T",
    .outputs = "product: T",
    .attrs = "T: type; Tindices: type = int64; adjoint_a: bool = false; adjoint_b: bool = false",
    .types = "Tindices: int32 int64",
    .shape = SparseMatMulShape,
    .reference = SparseMatMul,
});

const OpRegistration sparse_reshape_op({
    .name = "SparseReshape",
    .inputs = "input_indices: int64, input_shape: int64, new_shape: int64",
    .outputs = "output_indices: int64, output_shape: int64",
    .shape = SparseReshapeShape,
    .reference = SparseReshape,
});

const OpRegistration sparse_fill_empty_rows_op({
    .name = "SparseFillEmptyRows",
    .inputs = "indices: int64, values: T, dense_shape: int64, default_value: T",
    .outputs = "output_indices: int64, output_values: T, empty_row_indicator: bool, "
               "reverse_index_map: int64",
    .attrs = "T: type",
    .shape = FillEmptyRowsShape,
    .reference = FillEmptyRows,
});

}  // namespace
}  // namespace tenon
