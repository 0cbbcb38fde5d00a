// Standard kernels of reductions over a set of axes.
//
// A reducer is a template over the element type T with an accumulator type Acc, Init(), Map(T),
// Combine(Acc, Acc) and Finish(Acc, count):
//
//   .reference = Reduction<SumReducer, Numbers>,
#ifndef TENON_KERNELS_REDUCTION_REFERENCE_H_
#define TENON_KERNELS_REDUCTION_REFERENCE_H_

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/types.h"

namespace tenon {

// Which axes of `input` reduction indices (a scalar or a vector) name.
absl::StatusOr<std::vector<bool>> ReducedAxes(const Shape& input, const Tensor& axes);

// The loops of one reduction, with neighbouring axes of a kind merged.
struct ReductionSpace {
  struct Dim {
    int64_t size = 1;
    int64_t in = 0;   // stride in the input
    int64_t out = 0;  // stride in the output; 0: reduced
  };
  std::vector<Dim> outer;  // outermost first
  int64_t inner = 1;       // contiguous in the input
  bool inner_reduced = false;
  int64_t in_elements = 0;
  int64_t out_elements = 0;
  int64_t count = 1;  // input elements per output element

  static absl::StatusOr<ReductionSpace> Make(const Shape& input, const Tensor& axes);
};

namespace reduction {

// Several partial results side by side: shorter dependency chains, and less rounding.
template <typename R, typename T>
typename R::Acc Row(const T* in, int64_t n) {
  constexpr int64_t kLanes = 8;
  typename R::Acc lane[kLanes];
  std::fill_n(lane, kLanes, R::Init());
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t k = 0; k < kLanes; ++k) lane[k] = R::Combine(lane[k], R::Map(in[i + k]));
  }
  for (; i < n; ++i) lane[i % kLanes] = R::Combine(lane[i % kLanes], R::Map(in[i]));
  for (int64_t width = kLanes / 2; width > 0; width /= 2) {
    for (int64_t k = 0; k < width; ++k) lane[k] = R::Combine(lane[k], lane[k + width]);
  }
  return lane[0];
}

template <typename R, typename T>
void Run(const ReductionSpace& space, const T* in, typename R::Acc* acc, T* out) {
  std::fill_n(acc, space.out_elements, R::Init());
  std::vector<int64_t> index(space.outer.size(), 0);
  typename R::Acc* a = acc;
  bool more = space.in_elements > 0;
  while (more) {
    if (space.inner_reduced) {
      *a = R::Combine(*a, Row<R, T>(in, space.inner));
    } else {
      for (int64_t i = 0; i < space.inner; ++i) a[i] = R::Combine(a[i], R::Map(in[i]));
    }
    more = false;
    for (size_t k = space.outer.size(); k > 0; --k) {
      const ReductionSpace::Dim& dim = space.outer[k - 1];
      in += dim.in;
      a += dim.out;
      if (++index[k - 1] < dim.size) {
        more = true;
        break;
      }
      index[k - 1] = 0;
      in -= dim.in * dim.size;
      a -= dim.out * dim.size;
    }
  }
  for (int64_t i = 0; i < space.out_elements; ++i) out[i] = R::Finish(acc[i], space.count);
}

}  // namespace reduction

// Input 0 reduced over `space`.
template <template <typename> typename Reducer, typename Types>
absl::StatusOr<std::unique_ptr<Kernel>> ReductionOver(PrepareContext& p,
                                                      const ReductionSpace& space) {
  return DispatchType(Types{}, p.input_dtype(0), [&]<typename T>() {
    using R = Reducer<T>;
    p.RequestScratch(static_cast<size_t>(space.out_elements) * sizeof(typename R::Acc));
    return MakeKernel([space](RunContext& run) {
      reduction::Run<R, T>(space, run.input<T>(0), static_cast<typename R::Acc*>(run.scratch()),
                           run.output<T>(0));
      return absl::OkStatus();
    });
  });
}

// Sums, of every dtype that is a number.
absl::StatusOr<std::unique_ptr<Kernel>> SumOver(PrepareContext& p, const ReductionSpace& space);

template <template <typename> typename Reducer, typename Types>
absl::StatusOr<std::unique_ptr<Kernel>> Reduction(PrepareContext& p) {
  const Tensor* axes = p.value(1);
  if (axes == nullptr) return PrepareLate(p, Reduction<Reducer, Types>, {1});
  p.InputNotRead(1);
  TENON_ASSIGN_OR_RETURN(const ReductionSpace space, ReductionSpace::Make(p.input_shape(0), *axes));
  return ReductionOver<Reducer, Types>(p, space);
}

}  // namespace tenon

#endif  // TENON_KERNELS_REDUCTION_REFERENCE_H_
