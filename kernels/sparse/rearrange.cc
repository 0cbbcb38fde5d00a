#include "kernels/sparse/rearrange.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "env/status.h"
#include "kernels/interface/types.h"
#include "kernels/sparse/coordinates.h"

namespace tenon {

absl::StatusOr<std::unique_ptr<Kernel>> SparseReshapeKernel(PrepareContext& p) {
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
    if (n > 0 && elements == 0) return InvalidArgument(n, " elements in a shape of none");
    // An index out of bounds moves as far as its offset says, as in TensorFlow.
    std::vector<int64_t> strides(static_cast<size_t>(rank), 1);
    for (size_t d = strides.size(); d > 1; --d) strides[d - 2] = WrapMul(strides[d - 1], to[d - 1]);
    const int64_t* in = run.input<int64_t>(0);
    int64_t* out = run.output<int64_t>(0);
    for (int64_t i = 0; i < n; ++i, in += from_rank, out += rank) {
      int64_t offset = 0;
      for (int64_t d = 0; d < from_rank; ++d) offset = WrapAdd(WrapMul(offset, from[d]), in[d]);
      for (int64_t d = 0; d < rank; ++d) {
        const int64_t stride = strides[static_cast<size_t>(d)];
        out[d] = stride == 1 ? offset : offset / stride;
        offset = WrapSub(offset, WrapMul(out[d], stride));
      }
    }
    std::copy(to.begin(), to.end(), run.output<int64_t>(1));
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> FillEmptyRowsKernel(PrepareContext& p) {
  const bool ragged = p.input_shape(0).rank() == 1;
  const int64_t n = p.input_shape(0).dim(0), rank = ragged ? 1 : p.input_shape(0).dim(1);
  const DType dtype = p.input_dtype(1);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const int64_t* indices = run.input<int64_t>(0);
    const int64_t rows = run.input<int64_t>(2)[0];
    if (rows < 0 || (rows == 0 && n > 0)) {
      return InvalidArgument(ragged ? "nrows" : "dense_shape", " has ", rows, " rows for ", n,
                             " elements");
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
    // Of no rows, TensorFlow gives ragged indices two dimensions, too.
    const Shape indices_shape = ragged && rows > 0 ? Shape({total}) : Shape({total, rank});
    TENON_ASSIGN_OR_RETURN(void* indices_out, run.AllocateOutput(0, indices_shape));
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

absl::StatusOr<std::unique_ptr<Kernel>> SparseReorderKernel(PrepareContext& p) {
  const int64_t n = p.input_shape(0).dim(0), rank = p.input_shape(0).dim(1);
  const DType dtype = p.input_dtype(1);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const Coordinates at = {run.input<int64_t>(0), n, rank};
    TENON_RETURN_IF_ERROR(CheckCoordinates(at, run.input<int64_t>(2)));
    const std::vector<int64_t> order = RowMajorOrder(at);
    int64_t* to = run.output<int64_t>(0);
    for (int64_t i : order) to = std::copy_n(at[i], rank, to);
    VisitStorage(dtype, [&]<typename T>() {
      T* values = run.output<T>(1);
      for (int64_t i : order) *values++ = run.input<T>(1)[i];
    });
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> SparseConcatKernel(PrepareContext& p) {
  const int count = p.num_inputs() / 3;
  const int64_t rank = p.output_shape(2).dim(0);
  TENON_ASSIGN_OR_RETURN(int64_t axis, p.attrs().Int("concat_dim"));
  if (axis < 0) axis += rank;
  std::vector<int64_t> sizes;
  for (int i = 0; i < count; ++i) sizes.push_back(p.input_shape(count + i).dim(0));
  const DType dtype = p.output_dtype(1);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    std::vector<int64_t> all;
    std::vector<std::pair<int, int64_t>> from;
    int64_t* shape = run.output<int64_t>(2);
    int64_t offset = 0;
    for (int i = 0; i < count; ++i) {
      const int64_t* own = run.input<int64_t>(2 * count + i);
      const Coordinates at = {run.input<int64_t>(i), sizes[static_cast<size_t>(i)], rank};
      TENON_RETURN_IF_ERROR(CheckCoordinates(at, own));
      for (int64_t d = 0; d < rank; ++d) {
        if (i > 0 && d != axis && own[d] != shape[d]) {
          return InvalidArgument("tensor ", i, " has ", own[d], " at dimension ", d, ", not ",
                                 shape[d]);
        }
        shape[d] = own[d];
      }
      if (offset > INT64_MAX - own[axis]) return InvalidArgument("a size that overflows");
      for (int64_t k = 0; k < at.n; ++k) {
        from.push_back({i, k});
        all.insert(all.end(), at[k], at[k] + rank);
        all[all.size() - static_cast<size_t>(rank - axis)] += offset;
      }
      offset += own[axis];
    }
    shape[axis] = offset;
    const Coordinates at = {all.data(), std::ssize(from), rank};
    const std::vector<int64_t> order = RowMajorOrder(at);
    int64_t* to = run.output<int64_t>(0);
    for (int64_t i : order) to = std::copy_n(at[i], rank, to);
    VisitStorage(dtype, [&]<typename T>() {
      T* values = run.output<T>(1);
      for (int64_t i : order) {
        const auto [tensor, k] = from[static_cast<size_t>(i)];
        *values++ = run.input<T>(count + tensor)[k];
      }
    });
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> SparseSliceKernel(PrepareContext& p) {
  const int64_t n = p.input_shape(0).dim(0), rank = p.input_shape(0).dim(1);
  const DType dtype = p.input_dtype(1);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const Coordinates at = {run.input<int64_t>(0), n, rank};
    const int64_t *shape = run.input<int64_t>(2), *start = run.input<int64_t>(3),
                  *size = run.input<int64_t>(4);
    TENON_RETURN_IF_ERROR(CheckCoordinates(at, shape));
    int64_t* sizes = run.output<int64_t>(2);
    for (int64_t d = 0; d < rank; ++d) {
      if (start[d] < 0 || size[d] < 0) {
        return InvalidArgument("start ", start[d], " and size ", size[d], " at dimension ", d);
      }
      sizes[d] = std::min(size[d], std::max<int64_t>(0, shape[d] - start[d]));
    }
    std::vector<int64_t> kept;
    for (int64_t i = 0; i < n; ++i) {
      bool inside = true;
      for (int64_t d = 0; d < rank; ++d) {
        inside = inside && at[i][d] >= start[d] && at[i][d] - start[d] < sizes[d];
      }
      if (inside) kept.push_back(i);
    }
    const int64_t count = std::ssize(kept);
    TENON_ASSIGN_OR_RETURN(void* indices, run.AllocateOutput(0, Shape({count, rank})));
    TENON_ASSIGN_OR_RETURN(void* values, run.AllocateOutput(1, Shape({count})));
    auto* to = static_cast<int64_t*>(indices);
    for (int64_t i : kept) {
      for (int64_t d = 0; d < rank; ++d) *to++ = at[i][d] - start[d];
    }
    VisitStorage(dtype, [&]<typename T>() {
      T* out = static_cast<T*>(values);
      for (int64_t i : kept) *out++ = run.input<T>(1)[i];
    });
    return absl::OkStatus();
  });
}

absl::StatusOr<int64_t> ReadSparseParts(const AttrReader& attrs) {
  TENON_ASSIGN_OR_RETURN(const int64_t parts, attrs.Int("num_split"));
  if (parts < 1) return InvalidArgument("num_split must be at least 1, but is ", parts);
  return parts;
}

absl::StatusOr<std::unique_ptr<Kernel>> SparseSplitKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const int64_t parts, ReadSparseParts(p.attrs()));
  const int64_t n = p.input_shape(1).dim(0), rank = p.input_shape(1).dim(1);
  const DType dtype = p.input_dtype(2);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const Coordinates at = {run.input<int64_t>(1), n, rank};
    const int64_t* shape = run.input<int64_t>(3);
    int64_t axis = *run.input<int64_t>(0);
    if (axis < -rank || axis >= rank) {
      return InvalidArgument("split_dim ", axis, " for a tensor of rank ", rank);
    }
    if (axis < 0) axis += rank;
    TENON_RETURN_IF_ERROR(CheckCoordinates(at, shape));
    const int64_t size = shape[axis] / parts, larger = shape[axis] % parts;
    if (size == 0) {
      return InvalidArgument("num_split ", parts, " for a dimension of size ", shape[axis]);
    }
    int64_t begin = 0;
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t end = begin + size + (part < larger ? 1 : 0);
      std::vector<int64_t> own;
      for (int64_t i = 0; i < n; ++i) {
        if (at[i][axis] >= begin && at[i][axis] < end) own.push_back(i);
      }
      const int k = static_cast<int>(part), step = static_cast<int>(parts);
      TENON_ASSIGN_OR_RETURN(void* indices, run.AllocateOutput(k, Shape({std::ssize(own), rank})));
      TENON_ASSIGN_OR_RETURN(void* values, run.AllocateOutput(step + k, Shape({std::ssize(own)})));
      int64_t* to = static_cast<int64_t*>(indices);
      for (const int64_t i : own) {
        to = std::copy_n(at[i], rank, to);
        *(to - rank + axis) -= begin;
      }
      VisitStorage(dtype, [&]<typename T>() {
        T* value = static_cast<T*>(values);
        for (const int64_t i : own) *value++ = run.input<T>(2)[i];
      });
      int64_t* part_shape = run.output<int64_t>(2 * step + k);
      std::copy_n(shape, rank, part_shape);
      part_shape[axis] = end - begin;
      begin = end;
    }
    return absl::OkStatus();
  });
}

}  // namespace tenon
