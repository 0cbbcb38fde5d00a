#include "kernels/sparse/with_dense.h"

#include <algorithm>
#include <vector>

#include "env/status.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "kernels/reduction/segments.h"
#include "kernels/sparse/coordinates.h"

namespace tenon {
namespace {

// The positions of the elements in a dense tensor that broadcasts to their last dimensions.
std::vector<int64_t> Offsets(const Coordinates& at, const Shape& dense) {
  const int64_t skipped = at.rank - dense.rank();
  std::vector<int64_t> offsets(static_cast<size_t>(at.n), 0);
  for (int64_t i = 0; i < at.n; ++i) {
    int64_t& offset = offsets[static_cast<size_t>(i)];
    for (int d = 0; d < dense.rank(); ++d) {
      offset = offset * dense.dim(d) + (dense.dim(d) == 1 ? 0 : at[i][skipped + d]);
    }
  }
  return offsets;
}

// Nothing if both are the same memory.
void CopyOnThreads(const char* from, char* to, int64_t bytes, int threads) {
  if (from == to) return;
  constexpr double kNanoseconds = 0.1;
  ParallelFor(threads, bytes, ParallelGrain(kNanoseconds),
              [&](int64_t begin, int64_t end) { std::copy(from + begin, from + end, to + begin); });
}

template <typename T>
void AddAt(const std::vector<int64_t>& offsets, const void* values, void* out) {
  const T* value = static_cast<const T*>(values);
  T* to = static_cast<T*>(out);
  for (const int64_t offset : offsets) to[offset] = WrapAdd(to[offset], *value++);
}

template <typename T>
absl::Status CombineAt(SparseDenseOp op, const std::vector<int64_t>& offsets, const void* values,
                       const void* dense, void* out) {
  const T *a = static_cast<const T*>(values), *b = static_cast<const T*>(dense);
  T* to = static_cast<T*>(out);
  if (op == SparseDenseOp::kAdd) {
    for (const int64_t offset : offsets) *to++ = WrapAdd(*a++, b[offset]);
  } else if (op == SparseDenseOp::kMul) {
    for (const int64_t offset : offsets) *to++ = WrapMul(*a++, b[offset]);
  } else {
    for (const int64_t offset : offsets) {
      const T x = *a++, y = b[offset];
      // As TensorFlow, also of floats.
      if (y == T(0)) return InvalidArgument("division by zero");
      if constexpr (kIsInt<T>) {
        // The only quotient that overflows wraps.
        if (std::is_signed_v<T> && y == static_cast<T>(-1)) {
          *to++ = WrapSub(T(0), x);
          continue;
        }
      }
      *to++ = static_cast<T>(x / y);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> SparseToDenseKernel(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, SparseToDenseKernel, {1});
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

absl::StatusOr<std::unique_ptr<Kernel>> SparseMatMulKernel(PrepareContext& p) {
  if (p.value(2) == nullptr) return PrepareLate(p, SparseMatMulKernel, {2});
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

absl::StatusOr<std::unique_ptr<Kernel>> SparseDenseAddKernel(PrepareContext& p) {
  const int64_t n = p.input_shape(1).dim(0);
  const Shape dense = p.input_shape(3);
  const DType dtype = p.input_dtype(1), index_type = p.input_dtype(0);
  decltype(&AddAt<float>) add = nullptr;
  if (!VisitTypes(Numbers{}, dtype, [&]<typename T>() { add = AddAt<T>; })) {
    return NoKernelFor(dtype);
  }
  p.AllowInPlace(3, 0);
  const int64_t bytes = dense.num_elements() * static_cast<int64_t>(SizeOf(dtype));
  const int threads = p.services().threads;
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const int64_t rank = dense.rank();
    const std::vector<int64_t> indices = IntegersAt(index_type, run.input(0), n * rank);
    const std::vector<int64_t> shape = IntegersAt(index_type, run.input(2), rank);
    for (int d = 0; d < dense.rank(); ++d) {
      if (shape[static_cast<size_t>(d)] == dense.dim(d)) continue;
      return InvalidArgument("sizes ", shape[static_cast<size_t>(d)], " and ", dense.dim(d),
                             " at dimension ", d);
    }
    const Coordinates at = {indices.data(), n, rank};
    TENON_RETURN_IF_ERROR(CheckCoordinates(at, shape.data()));
    CopyOnThreads(run.input<char>(3), run.output<char>(0), bytes, threads);
    add(Offsets(at, dense), run.input(1), run.output(0));
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> SparseDenseCwiseKernel(PrepareContext& p,
                                                               SparseDenseOp op) {
  const int64_t n = p.input_shape(0).dim(0), rank = p.input_shape(0).dim(1);
  const Shape dense = p.input_shape(3);
  const DType dtype = p.input_dtype(1);
  decltype(&CombineAt<float>) combine = nullptr;
  if (!VisitTypes(RealNumbers{}, dtype, [&]<typename T>() { combine = CombineAt<T>; })) {
    return NoKernelFor(dtype);
  }
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const Coordinates at = {run.input<int64_t>(0), n, rank};
    const int64_t* shape = run.input<int64_t>(2);
    TENON_RETURN_IF_ERROR(CheckCoordinates(at, shape));
    const int64_t skipped = rank - dense.rank();
    for (int d = 0; d < dense.rank(); ++d) {
      if (dense.dim(d) == shape[skipped + d] || dense.dim(d) == 1) continue;
      return InvalidArgument("a dense tensor of shape ", dense.ToString(),
                             " does not broadcast to the sparse one");
    }
    return combine(op, Offsets(at, dense), run.input(1), run.input(3), run.output(0));
  });
}

}  // namespace tenon
