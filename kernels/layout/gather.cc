#include "kernels/layout/gather.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <type_traits>

#include "env/status.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "kernels/layout/addressing.h"
#include "kernels/layout/visit_elements.h"

namespace tenon {
namespace {

// Slices of `inner` elements, known to the compiler.
template <int64_t inner, typename T, typename I>
[[gnu::noinline]] void CopyShortSlices(const T* from, const I* ids, int64_t n, T* to) {
  for (int64_t i = 0; i < n; ++i, to += inner) {
    const T* slice = from + ids[i] * inner;
    for (int64_t k = 0; k < inner; ++k) to[k] = slice[k];
  }
}

// to[i, inner] = from[ids[i], inner] for i < n.
template <typename T, typename I>
void CopySlices(const T* from, const I* ids, int64_t n, int64_t inner, T* to) {
  if (inner == 1) return CopyShortSlices<1>(from, ids, n, to);
  if (inner == 2) return CopyShortSlices<2>(from, ids, n, to);
  if (inner == 3) return CopyShortSlices<3>(from, ids, n, to);
  if (inner == 4) return CopyShortSlices<4>(from, ids, n, to);
  for (int64_t i = 0; i < n; ++i, to += inner) std::copy_n(from + ids[i] * inner, inner, to);
}

// Whether all of ids[0 ... n - 1] are in [0, limit). Reads all of them, as vectors do.
template <typename I>
bool AllBelow(const I* ids, int64_t n, int64_t limit) {
  using U = std::make_unsigned_t<I>;
  // Of a narrow type, no id is above the largest value.
  const auto most = static_cast<U>(std::min<int64_t>(limit - 1, std::numeric_limits<I>::max()));
  U outside = 0;
  for (int64_t i = 0; i < n; ++i) outside |= static_cast<U>(static_cast<U>(ids[i]) > most);
  return limit > 0 ? outside == 0 : n == 0;
}

template <typename I>
absl::Status OutsideError(const I* ids, int64_t n, int64_t limit) {
  int64_t i = 0;
  while (i < n && ids[i] >= 0 && ids[i] < limit) ++i;
  if (i == n) return Internal("no index is outside of [0, ", limit, ")");
  return InvalidArgument("index ", i, " is ", ids[i], ", which is not in [0, ", limit, ")");
}

}  // namespace

absl::StatusOr<GatherAxes> FindGatherAxes(const AttrReader& attrs, const Shape& params,
                                          const Shape& indices, const Tensor* axis) {
  GatherAxes out{0, 0};
  const int64_t batch_dims = attrs.Int("batch_dims", 0);
  if (batch_dims < -indices.rank() || batch_dims > indices.rank()) {
    return InvalidArgument("batch_dims ", batch_dims, " for indices of shape ", indices.ToString());
  }
  out.batch_dims = static_cast<int>(batch_dims < 0 ? batch_dims + indices.rank() : batch_dims);
  int64_t value = 0;
  if (axis != nullptr) {
    TENON_ASSIGN_OR_RETURN(value, ScalarInteger(*axis, "axis"));
  }
  TENON_ASSIGN_OR_RETURN(out.axis, NormalizeAxis(value, params.rank()));
  if (out.batch_dims > out.axis) {
    return InvalidArgument("batch_dims ", out.batch_dims, " is greater than axis ", out.axis);
  }
  for (int i = 0; i < out.batch_dims; ++i) {
    if (params.dim(i) >= 0 && indices.dim(i) >= 0 && params.dim(i) != indices.dim(i)) {
      return InvalidArgument("batch dimension ", i, " differs: params ", params.ToString(),
                             ", indices ", indices.ToString());
    }
  }
  return out;
}

absl::StatusOr<std::unique_ptr<Kernel>> GatherKernel(PrepareContext& p) {
  const bool has_axis = p.num_inputs() > 2;
  const Tensor* axis = has_axis ? p.value(2) : nullptr;
  if (has_axis && axis == nullptr) return PrepareLate(p, GatherKernel, {2});
  if (has_axis) p.InputNotRead(2);
  const Shape& params = p.input_shape(0);
  const Shape& indices = p.input_shape(1);
  TENON_ASSIGN_OR_RETURN(const GatherAxes axes, FindGatherAxes(p.attrs(), params, indices, axis));
  const int64_t batch = Product(params, 0, axes.batch_dims);
  const int64_t outer = Product(params, axes.batch_dims, axes.axis);
  const int64_t limit = params.dim(axes.axis);
  const int64_t inner = Product(params, axes.axis + 1, params.rank());
  const int64_t count = Product(indices, axes.batch_dims, indices.rank());
  const DType dtype = p.input_dtype(0);
  const int threads = p.services().threads;
  return DispatchType(TypeList<int16_t, int32_t, int64_t>{}, p.input_dtype(1), [&]<typename I>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      const I* ids = run.input<I>(1);
      const bool any = batch * outer * count * inner > 0;
      // Nothing is read for an empty output, but its indices are checked, too.
      if (!any && !AllBelow(ids, batch * count, limit)) {
        return OutsideError(ids, batch * count, limit);
      }
      std::atomic<bool> all_inside = true;
      VisitElements(dtype, [&]<typename T>() {
        const T* in = run.input<T>(0);
        T* out = run.output<T>(0);
        const double ns = 1 + 0.05 * static_cast<double>(inner * int64_t{sizeof(T)});
        ParallelFor(threads, batch * outer * count, ParallelGrain(ns),
                    [&](int64_t begin, int64_t end) {
                      // A block is what one list of indices takes from one slice of params.
                      for (int64_t block = begin / count, at = begin; at < end; ++block) {
                        const int64_t stop = std::min((block + 1) * count, end);
                        const T* from = in + block * limit * inner;
                        const I* id = ids + block / outer * count + at % count;
                        if (!AllBelow(id, stop - at, limit)) {
                          all_inside = false;
                          return;
                        }
                        CopySlices(from, id, stop - at, inner, out + at * inner);
                        at = stop;
                      }
                    });
      });
      return all_inside ? absl::OkStatus() : OutsideError(ids, batch * count, limit);
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> GatherNdKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Addressing a,
                         MakeAddressing(p.attrs(), p.input_shape(0), p.input_shape(1)));
  const DType dtype = p.input_dtype(0), index_type = p.input_dtype(1);
  return MakeKernel([=](RunContext& run) {
    return ForEachOffsets(a, index_type, run.input(1), [&](int64_t first, auto offsets) {
      VisitElements(dtype, [&]<typename T>() {
        const T* in = run.input<T>(0);
        T* out = run.output<T>(0) + first * a.slice;
        if (a.slice == 1) {
          for (const int64_t offset : offsets) *out++ = offset >= 0 ? in[offset] : T();
          return;
        }
        for (const int64_t offset : offsets) {
          out =
              offset >= 0 ? std::copy_n(in + offset, a.slice, out) : std::fill_n(out, a.slice, T());
        }
      });
    });
  });
}

}  // namespace tenon
