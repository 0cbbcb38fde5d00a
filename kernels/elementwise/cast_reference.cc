#include <cmath>
#include <cstring>
#include <limits>

#include "graph/stored_dtype.h"
#include "kernels/elementwise/cast.h"
#include "kernels/interface/float_to_int.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "kernels/layout/copy.h"

namespace tenon {
namespace {

template <typename S, typename D>
D CastValue(S v) {
  if constexpr (std::is_same_v<S, D>) {
    return v;
  } else if constexpr (std::is_same_v<D, bool>) {
    if constexpr (kIsComplex<S>) {
      return v != S(0);
    } else {
      return ToCompute(v) != ComputeType<S>(0);
    }
  } else if constexpr (kIsComplex<S>) {
    if constexpr (kIsComplex<D>) {
      return static_cast<D>(v);
    } else {
      return CastValue<typename S::value_type, D>(v.real());
    }
  } else if constexpr (kIsComplex<D>) {
    return D(static_cast<typename D::value_type>(ToCompute(v)));
  } else if constexpr (kIsFloat<S> && kIsInt<D>) {
    return FloatToInt<D>(ToCompute(v));
  } else if constexpr (kIsSmallFloat<D>) {
    return static_cast<D>(static_cast<float>(ToCompute(v)));
  } else {
    return static_cast<D>(ToCompute(v));
  }
}

// Clears the mantissa bits that D does not have, so that nothing is rounded.
template <typename S, typename D>
D TruncateFloat(S v) {
  using Bits = std::conditional_t<sizeof(S) == 4, uint32_t, uint64_t>;
  constexpr int kDropped = (sizeof(S) == 4 ? 23 : 52) - (std::is_same_v<D, half> ? 10 : 7);
  Bits bits;
  std::memcpy(&bits, &v, sizeof(bits));
  bits &= ~((Bits{1} << kDropped) - 1);
  std::memcpy(&v, &bits, sizeof(v));
  return CastValue<S, D>(v);
}

using Loop = void (*)(const void* src, void* dst, int64_t n);

template <typename S, typename D, bool truncate>
void CastLoop(const void* src, void* dst, int64_t n) {
  // GCC vectorizes no loop over bool, but one over bytes.
  using Element = std::conditional_t<std::is_same_v<S, bool>, uint8_t, S>;
  const Element* in = static_cast<const Element*>(src);
  D* out = static_cast<D*>(dst);
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (truncate) {
      out[i] = TruncateFloat<Element, D>(in[i]);
    } else {
      out[i] = CastValue<Element, D>(in[i]);
    }
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> CastReference(PrepareContext& p) {
  const DType src = StoredAs(p.input_dtype(0));
  const DType dst = StoredAs(p.output_dtype(0));
  const int64_t n = p.input_shape(0).num_elements();
  if (src == dst) return CopyKernel(p);
  const bool truncate = p.attrs().Bool("Truncate", false);
  Loop loop = nullptr;
  VisitTypes(NumbersAndBool{}, src, [&]<typename S>() {
    VisitTypes(NumbersAndBool{}, dst, [&]<typename D>() {
      loop = &CastLoop<S, D, false>;
      if constexpr (kIsSmallFloat<D> && std::is_floating_point_v<S>) {
        if (truncate) loop = &CastLoop<S, D, true>;
      }
    });
  });
  if (loop == nullptr) {
    return Unimplemented("no cast from ", Name(src), " to ", Name(dst));
  }
  const size_t src_bytes = SizeOf(src), dst_bytes = SizeOf(dst);
  if (src_bytes == dst_bytes) p.AllowInPlace(0, 0);
  constexpr double kNsPerElement = 0.4;
  const int threads = p.services().threads;
  return MakeKernel([=](RunContext& run) {
    const char* const from = static_cast<const char*>(run.input(0));
    char* const to = static_cast<char*>(run.output(0));
    ParallelFor(threads, n, ParallelGrain(kNsPerElement), [&](int64_t begin, int64_t end) {
      const auto first = static_cast<size_t>(begin);
      loop(from + first * src_bytes, to + first * dst_bytes, end - begin);
    });
    return absl::OkStatus();
  });
}

}  // namespace tenon
