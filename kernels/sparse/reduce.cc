#include "kernels/sparse/reduce.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "env/status.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/types.h"
#include "kernels/sparse/coordinates.h"

namespace tenon {
namespace {

// Elements by the offset of their result; elements of the same result keep their order.
using Terms = std::vector<std::pair<int64_t, int64_t>>;  // offset, element

template <typename T, typename F>
void Accumulate(const Terms& terms, const void* values, void* out, F f) {
  const T* x = static_cast<const T*>(values);
  for (size_t i = 0; i < terms.size();) {
    const int64_t offset = terms[i].first;
    ComputeType<T> result = ToCompute(x[terms[i].second]);
    for (++i; i < terms.size() && terms[i].first == offset; ++i) {
      result = f(result, ToCompute(x[terms[i].second]));
    }
    static_cast<T*>(out)[offset] = static_cast<T>(result);
  }
}

template <typename T>
void SumTerms(const Terms& terms, const void* values, void* out) {
  Accumulate<T>(terms, values, out, [](auto a, auto b) { return WrapAdd(a, b); });
}

template <typename T>
void MaxTerms(const Terms& terms, const void* values, void* out) {
  Accumulate<T>(terms, values, out, [](auto a, auto b) { return a < b ? b : a; });
}

using ReduceFn = decltype(&SumTerms<float>);

ReduceFn FindReduction(SparseReduction reduction, DType dtype) {
  ReduceFn found = nullptr;
  if (reduction == SparseReduction::kSum) {
    VisitTypes(Numbers{}, dtype, [&]<typename T>() { found = SumTerms<T>; });
  } else {
    VisitTypes(RealNumbers{}, dtype, [&]<typename T>() { found = MaxTerms<T>; });
  }
  return found;
}

// What a reduction of the elements of inputs 0 to 2 over the axes in input 3 needs to know.
struct Reduced {
  std::vector<int64_t> sizes;
  std::vector<bool> axes;  // which are reduced
  int64_t n;

  Coordinates At(const RunContext& run) const {
    return {run.input<int64_t>(0), n, std::ssize(sizes)};
  }

  // InvalidArgument for indices out of bounds.
  absl::StatusOr<Terms> TermsOf(const RunContext& run) const {
    const Coordinates at = At(run);
    TENON_RETURN_IF_ERROR(CheckCoordinates(at, sizes.data()));
    Terms terms;
    for (int64_t i = 0; i < n; ++i) {
      int64_t offset = 0;
      for (size_t d = 0; d < sizes.size(); ++d) {
        if (!axes[d]) offset = offset * sizes[d] + at[i][d];
      }
      terms.push_back({offset, i});
    }
    std::sort(terms.begin(), terms.end());
    return terms;
  }
};

// Reads the values of inputs 2 and 3, which must be known.
absl::StatusOr<Reduced> ReducedOf(PrepareContext& p) {
  Reduced reduced;
  TENON_ASSIGN_OR_RETURN(reduced.sizes, IntegersOf(*p.value(2)));
  TENON_ASSIGN_OR_RETURN(reduced.axes,
                         ReducedSparseAxes(*p.value(3), static_cast<int>(reduced.sizes.size())));
  p.InputNotRead(2);
  p.InputNotRead(3);
  reduced.n = p.input_shape(1).dim(0);
  return reduced;
}

}  // namespace

absl::StatusOr<std::vector<bool>> ReducedSparseAxes(const Tensor& axes, int rank) {
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> values, IntegersOf(axes));
  std::vector<bool> reduced(static_cast<size_t>(rank), false);
  for (int64_t axis : values) {
    TENON_ASSIGN_OR_RETURN(const int at, NormalizeAxis(axis, rank));
    reduced[static_cast<size_t>(at)] = true;
  }
  return reduced;
}

absl::StatusOr<std::unique_ptr<Kernel>> SparseSoftmaxKernel(PrepareContext& p) {
  const int64_t n = p.input_shape(1).dim(0), rank = p.input_shape(2).dim(0);
  return DispatchType(TypeList<float, double, half>{}, p.input_dtype(1), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      const Coordinates at = {run.input<int64_t>(0), n, rank};
      TENON_RETURN_IF_ERROR(CheckCoordinates(at, run.input<int64_t>(2)));
      using C = ComputeType<T>;
      const T* x = run.input<T>(1);
      T* y = run.output<T>(0);
      for (int64_t begin = 0, end; begin < n; begin = end) {
        C most = ToCompute(x[begin]), sum = 0;
        for (end = begin + 1; end < n && CompareCoordinates(at[begin], at[end], rank - 1) == 0;
             ++end) {
          most = std::max<C>(most, ToCompute(x[end]));
        }
        for (int64_t i = begin; i < end; ++i) sum += std::exp(ToCompute(x[i]) - most);
        for (int64_t i = begin; i < end; ++i) {
          y[i] = static_cast<T>(std::exp(ToCompute(x[i]) - most) / sum);
        }
      }
      return absl::OkStatus();
    });
  });
}

template <SparseReduction reduction>
absl::StatusOr<std::unique_ptr<Kernel>> SparseReduceKernel(PrepareContext& p) {
  if (p.value(2) == nullptr || p.value(3) == nullptr) {
    return PrepareLate(p, SparseReduceKernel<reduction>, {2, 3});
  }
  TENON_ASSIGN_OR_RETURN(const Reduced reduced, ReducedOf(p));
  const int64_t elements = p.output_shape(0).num_elements();
  const DType dtype = p.input_dtype(1);
  const ReduceFn reduce = FindReduction(reduction, dtype);
  if (reduce == nullptr) return NoKernelFor(dtype);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const Terms terms, reduced.TermsOf(run));
    std::memset(run.output(0), 0, static_cast<size_t>(elements) * SizeOf(dtype));
    reduce(terms, run.input(1), run.output(0));
    return absl::OkStatus();
  });
}

template <SparseReduction reduction>
absl::StatusOr<std::unique_ptr<Kernel>> SparseReduceToSparseKernel(PrepareContext& p) {
  if (p.value(2) == nullptr || p.value(3) == nullptr) {
    return PrepareLate(p, SparseReduceToSparseKernel<reduction>, {2, 3});
  }
  TENON_ASSIGN_OR_RETURN(const Reduced reduced, ReducedOf(p));
  const bool keep = p.attrs().Bool("keep_dims", false);
  const DType dtype = p.input_dtype(1);
  const ReduceFn reduce = FindReduction(reduction, dtype);
  if (reduce == nullptr) return NoKernelFor(dtype);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(Terms terms, reduced.TermsOf(run));
    std::vector<int64_t> firsts;  // of each result, an element
    int64_t last = -1;
    for (auto& [offset, element] : terms) {
      if (offset != last) firsts.push_back(element);
      last = offset;
      offset = std::ssize(firsts) - 1;
    }
    std::vector<int64_t> coordinates, shape;
    const auto add = [&](std::vector<int64_t>& to, const int64_t* from, int64_t reduced_value) {
      for (size_t d = 0; d < reduced.sizes.size(); ++d) {
        if (!reduced.axes[d]) {
          to.push_back(from[d]);
        } else if (keep) {
          to.push_back(reduced_value);
        }
      }
    };
    for (const int64_t element : firsts) add(coordinates, reduced.At(run)[element], 0);
    add(shape, reduced.sizes.data(), 1);
    const int64_t n = std::ssize(firsts);
    TENON_ASSIGN_OR_RETURN(void* to, run.AllocateOutput(0, Shape({n, std::ssize(shape)})));
    std::copy(coordinates.begin(), coordinates.end(), static_cast<int64_t*>(to));
    TENON_ASSIGN_OR_RETURN(to, run.AllocateOutput(1, Shape({n})));
    reduce(terms, run.input(1), to);
    std::copy(shape.begin(), shape.end(), run.output<int64_t>(2));
    return absl::OkStatus();
  });
}

template absl::StatusOr<std::unique_ptr<Kernel>> SparseReduceKernel<SparseReduction::kSum>(
    PrepareContext& p);
template absl::StatusOr<std::unique_ptr<Kernel>> SparseReduceKernel<SparseReduction::kMax>(
    PrepareContext& p);

template absl::StatusOr<std::unique_ptr<Kernel>> SparseReduceToSparseKernel<SparseReduction::kSum>(
    PrepareContext& p);
template absl::StatusOr<std::unique_ptr<Kernel>> SparseReduceToSparseKernel<SparseReduction::kMax>(
    PrepareContext& p);

}  // namespace tenon
