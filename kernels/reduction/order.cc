#include "kernels/reduction/order.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "env/status.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

template <typename T>
using KeyOf =
    std::conditional_t<kIsInt<T>, T,
                       std::conditional_t<sizeof(T) == 8, int64_t,
                                          std::conditional_t<sizeof(T) == 4, int32_t, int16_t>>>;

// Integers in the order of the numbers, all NaN at the end.
template <typename T>
KeyOf<T> ToKey(T v) {
  if constexpr (kIsInt<T>) {
    return v;
  } else {
    using K = KeyOf<T>;
    if (v != v) return std::numeric_limits<K>::max();
    const K bits = Eigen::numext::bit_cast<K>(v);
    return bits < 0 ? static_cast<K>(bits ^ std::numeric_limits<K>::max()) : bits;
  }
}
template <typename T>
T FromKey(KeyOf<T> key) {
  if constexpr (kIsInt<T>) {
    return key;
  } else {
    using K = KeyOf<T>;
    if (key == std::numeric_limits<K>::max()) return std::numeric_limits<T>::quiet_NaN();
    return Eigen::numext::bit_cast<T>(key < 0 ? static_cast<K>(key ^ std::numeric_limits<K>::max())
                                              : key);
  }
}

// A run of elements with one result, their mean.
template <typename S>
struct EqualRun {
  int64_t end;
  S sum, mean;
};

// Pools adjacent violators: a run that is above the one before it joins it.
template <typename T, typename Out, typename S>
void FitRow(const T* in, int64_t n, Out* out, int32_t* segments, std::vector<EqualRun<S>>& runs) {
  runs.clear();
  for (int64_t i = 0; i < n; ++i) {
    const S value = static_cast<S>(in[i]);
    EqualRun<S> last{i + 1, value, value / S(1)};
    while (!runs.empty() && runs.back().mean < last.mean) {
      last.sum = runs.back().sum + last.sum;
      runs.pop_back();
      const int64_t begin = runs.empty() ? 0 : runs.back().end;
      last.mean = last.sum / static_cast<S>(last.end - begin);
    }
    runs.push_back(last);
  }
  int64_t begin = 0;
  for (size_t r = 0; r < runs.size(); ++r) {
    std::fill(out + begin, out + runs[r].end, static_cast<Out>(runs[r].mean));
    std::fill(segments + begin, segments + runs[r].end, static_cast<int32_t>(r));
    begin = runs[r].end;
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> NthElementKernel(PrepareContext& p) {
  if (p.value(1) == nullptr) return PrepareLate(p, NthElementKernel, {1});
  p.InputNotRead(1);
  TENON_ASSIGN_OR_RETURN(int64_t n, ScalarInteger(*p.value(1), "n"));
  const Shape& in = p.input_shape(0);
  const int64_t size = in.dim(in.rank() - 1);
  const int64_t rows = p.output_shape(0).num_elements();
  if (p.attrs().Bool("reverse", false)) n = size - n - 1;
  const int threads = p.services().threads;
  return DispatchType(RealNumbers{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      const T* const x = run.input<T>(0);
      T* const out = run.output<T>(0);
      constexpr double kNanoseconds = 5;
      ParallelFor(threads, rows, ParallelGrain(kNanoseconds * static_cast<double>(size)),
                  [&](int64_t begin, int64_t end) {
                    std::vector<KeyOf<T>> row(static_cast<size_t>(size));
                    for (int64_t r = begin; r < end; ++r) {
                      std::transform(x + r * size, x + (r + 1) * size, row.begin(), ToKey<T>);
                      std::nth_element(row.begin(), row.begin() + n, row.end());
                      out[r] = FromKey<T>(row[static_cast<size_t>(n)]);
                    }
                  });
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> IsotonicKernel(PrepareContext& p) {
  const Shape& shape = p.input_shape(0);
  const int64_t size = shape.dim(shape.rank() - 1), elements = shape.num_elements();
  const DType out_type = p.output_dtype(0);
  const int threads = p.services().threads;
  return DispatchType(RealNumbers{}, p.input_dtype(0), [&]<typename T>() {
    return DispatchType(Floats{}, out_type, [&]<typename Out>() {
      return MakeKernel([=](RunContext& run) {
        if (elements == 0) return absl::OkStatus();
        constexpr double kNanoseconds = 8;
        ParallelFor(threads, elements / size,
                    ParallelGrain(kNanoseconds * static_cast<double>(size)),
                    [&](int64_t begin, int64_t end) {
                      std::vector<EqualRun<ComputeType<Out>>> runs;
                      for (int64_t at = begin * size; at < end * size; at += size) {
                        FitRow(run.input<T>(0) + at, size, run.output<Out>(0) + at,
                               run.output<int32_t>(1) + at, runs);
                      }
                    });
        return absl::OkStatus();
      });
    });
  });
}

}  // namespace tenon
