#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

#include "graph/small_numbers.h"
#include "graph/stored_dtype.h"
#include "kernels/elementwise/cast.h"
#include "kernels/elementwise/plain_loops_simd.h"
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
      return v.real() != 0;
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

using Loop = void (*)(const void* src, void* dst, int64_t n);

template <typename S, typename D>
void CastLoop(const void* src, void* dst, int64_t n) {
  // GCC vectorizes no loop over bool, but one over bytes.
  using Element = std::conditional_t<std::is_same_v<S, bool>, uint8_t, S>;
  const Element* in = static_cast<const Element*>(src);
  D* out = static_cast<D*>(dst);
  for (int64_t i = 0; i < n; ++i) {
    out[i] = CastValue<Element, D>(in[i]);
  }
}

template <typename Bits>
void FloatToBits(const void* src, void* dst, int64_t n) {
  static const FloatToBitsFn<Bits> convert = FindFloatToBits<Bits>();
  convert(static_cast<const float*>(src), static_cast<Bits*>(dst), static_cast<size_t>(n));
}

// Null if there is none.
Loop LoopFor(DType src, DType dst) {
  if (src == DType::kFloat && (dst == DType::kInt8 || dst == DType::kUint8)) {
    return &FloatToBits<uint8_t>;
  }
  if (src == DType::kFloat && (dst == DType::kInt16 || dst == DType::kUint16)) {
    return &FloatToBits<uint16_t>;
  }
  Loop loop = nullptr;
  VisitTypes(NumbersAndBool{}, src, [&]<typename S>() {
    VisitTypes(NumbersAndBool{}, dst, [&]<typename D>() { loop = &CastLoop<S, D>; });
  });
  return loop;
}

// The value that fits best, as TensorFlow's packets have it.
template <typename S, typename D>
D SaturatedValue(S v) {
  int32_t whole;
  if constexpr (kIsComplex<S>) {
    whole = FloatToInt<int32_t>(v.real());
  } else {
    whole = FloatToInt<int32_t>(ToCompute(v));
  }
  // By way of uint16, whose upper half is negative as int16.
  constexpr bool kByWord = sizeof(D) == 1 && std::is_unsigned_v<D> && !std::is_same_v<S, float> &&
                           !std::is_same_v<S, bfloat16>;
  if (kByWord && whole > std::numeric_limits<int16_t>::max()) return 0;
  return static_cast<D>(
      std::clamp<int32_t>(whole, std::numeric_limits<D>::min(), std::numeric_limits<D>::max()));
}

template <typename S, typename D>
void SaturatingLoop(const void* src, void* dst, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    static_cast<D*>(dst)[i] = SaturatedValue<S, D>(static_cast<const S*>(src)[i]);
  }
}

// TensorFlow converts floats to quantized dtypes in packets, which saturate; the elements that no
// longer fill one wrap around.
struct Packets {
  Loop loop = nullptr;  // null: everything wraps
  int64_t size = 1;
};

Packets PacketsFor(DType src, DType dst) {
  Packets packets;
  if (!IsQuantized(dst) || dst == DType::kQint32) return packets;
  VisitTypes(TypeList<float, double, half, bfloat16, complex128>{}, src, [&]<typename S>() {
    packets.size = std::is_same_v<S, float> ? 32 : std::is_same_v<S, bfloat16> ? 8 : 16;
    VisitTypes(TypeList<int8_t, uint8_t, int16_t, uint16_t>{}, StoredAs(dst),
               [&]<typename D>() { packets.loop = &SaturatingLoop<S, D>; });
  });
  return packets;
}

// The dtype by which elements of float8, int4 and uint4 are cast.
DType WidthOf(DType small) {
  if (IsFloat8(small)) return DType::kFloat;
  return small == DType::kInt4 ? DType::kInt8 : DType::kUint8;
}

// Bits of the mantissa, with the hidden one; 0: not a floating-point number.
int MantissaBits(DType dtype) {
  switch (dtype) {
    case DType::kDouble:
      return 53;
    case DType::kFloat:
      return 24;
    case DType::kHalf:
      return 11;
    case DType::kBfloat16:
      return 8;
    case DType::kFloat8E4m3fn:
      return 4;
    case DType::kFloat8E5m2:
      return 3;
    default:
      return 0;
  }
}

// Clears the lowest bits, except those of NaN.
using ClearLoop = void (*)(const void* src, void* dst, int64_t n, int bits);
template <typename T, typename Bits>
void ClearBits(const void* src, void* dst, int64_t n, int bits) {
  for (int64_t i = 0; i < n; ++i) {
    const auto v = static_cast<const Bits*>(src)[i];
    bool is_nan = (v & 0x7F) == 0x7F;  // float8_e4m3fn
    if constexpr (sizeof(T) > 1) is_nan = std::isnan(ToCompute(std::bit_cast<T>(v)));
    static_cast<Bits*>(dst)[i] = is_nan ? v : static_cast<Bits>(v & ~((Bits{1} << bits) - 1));
  }
}

ClearLoop ClearLoopFor(DType src) {
  switch (src) {
    case DType::kDouble:
      return ClearBits<double, uint64_t>;
    case DType::kFloat:
      return ClearBits<float, uint32_t>;
    case DType::kHalf:
      return ClearBits<half, uint16_t>;
    case DType::kBfloat16:
      return ClearBits<bfloat16, uint16_t>;
    default:
      return ClearBits<uint8_t, uint8_t>;
  }
}

// The bits that truncation clears, so that nothing is rounded: of float and double for half and
// bfloat16, and of any number for float8.
int ClearedBits(DType src, DType dst) {
  const bool wide = src == DType::kFloat || src == DType::kDouble;
  const bool narrow = dst == DType::kHalf || dst == DType::kBfloat16;
  return IsFloat8(dst) || (wide && narrow) ? MantissaBits(src) - MantissaBits(dst) : 0;
}

bool IsSmall(DType dtype) { return IsFloat8(dtype) || IsFourBits(dtype); }

// From or to float8, int4 or uint4, or after clearing the lowest bits: some elements at a time.
absl::StatusOr<std::unique_ptr<Kernel>> CastInParts(const PrepareContext& p, DType src, DType dst,
                                                    int cleared) {
  const bool widens = IsSmall(src), narrows = IsSmall(dst);
  const DType from = widens ? WidthOf(src) : src;
  const bool from_double = from == DType::kDouble && IsFloat8(dst);
  const DType to = from_double ? DType::kDouble : narrows ? WidthOf(dst) : dst;
  const Loop loop = LoopFor(from, to);
  if (loop == nullptr) return Unimplemented("no cast from ", Name(src), " to ", Name(dst));
  std::array<float, 256> values{};
  if (IsFloat8(src)) {
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = Float8Value(src, static_cast<uint8_t>(i));
    }
  }
  const ClearLoop clear = ClearLoopFor(src);
  const size_t src_bytes = SizeOf(src), dst_bytes = SizeOf(dst);
  const int64_t n = p.input_shape(0).num_elements();
  const int threads = p.services().threads;
  constexpr double kNsPerElement = 3;
  return MakeKernel([=](RunContext& run) {
    ParallelFor(threads, n, ParallelGrain(kNsPerElement), [&](int64_t begin, int64_t end) {
      constexpr int64_t kTogether = 256;
      alignas(64) std::byte wide[kTogether * sizeof(double)], cast[kTogether * sizeof(double)];
      alignas(64) std::byte truncated[kTogether * sizeof(double)];
      for (int64_t at = begin; at < end; at += kTogether) {
        const int64_t count = std::min(kTogether, end - at);
        const void* in =
            static_cast<const char*>(run.input(0)) + static_cast<size_t>(at) * src_bytes;
        void* const out = static_cast<char*>(run.output(0)) + static_cast<size_t>(at) * dst_bytes;
        if (cleared > 0) {
          clear(in, truncated, count, cleared);
          in = truncated;
        }
        if (widens) {
          const auto* const bits = static_cast<const uint8_t*>(in);
          in = wide;
          for (int64_t i = 0; i < count; ++i) {
            if (from == DType::kFloat) {
              reinterpret_cast<float*>(wide)[i] = values[bits[i]];
            } else if (from == DType::kInt8) {
              reinterpret_cast<int8_t*>(wide)[i] = Int4Value(bits[i]);
            } else {
              reinterpret_cast<uint8_t*>(wide)[i] = bits[i] & 15;
            }
          }
        }
        loop(in, narrows ? cast : out, count);
        if (!narrows) continue;
        auto* const bits = static_cast<uint8_t*>(out);
        for (int64_t i = 0; i < count; ++i) {
          if (to == DType::kDouble) {
            bits[i] = Float8Bits(dst, reinterpret_cast<double*>(cast)[i]);
          } else if (to == DType::kFloat) {
            bits[i] = Float8Bits(dst, static_cast<double>(reinterpret_cast<float*>(cast)[i]));
          } else if (to == DType::kInt8) {
            bits[i] = static_cast<uint8_t>(Int4Value(reinterpret_cast<uint8_t*>(cast)[i]));
          } else {
            bits[i] = reinterpret_cast<uint8_t*>(cast)[i] & 15;
          }
        }
      }
    });
    return absl::OkStatus();
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> CastReference(PrepareContext& p) {
  const DType src = StoredAs(p.input_dtype(0));
  const DType dst = StoredAs(p.output_dtype(0));
  const int64_t n = p.input_shape(0).num_elements();
  if (src == dst) return CopyKernel(p);
  const int cleared = p.attrs().Bool("Truncate", false) ? ClearedBits(src, dst) : 0;
  if (IsSmall(src) || IsSmall(dst) || cleared > 0) return CastInParts(p, src, dst, cleared);
  const Loop loop = LoopFor(src, dst);
  if (loop == nullptr) {
    return Unimplemented("no cast from ", Name(src), " to ", Name(dst));
  }
  const size_t src_bytes = SizeOf(src), dst_bytes = SizeOf(dst);
  if (src_bytes == dst_bytes) p.AllowInPlace(0, 0);
  const Packets packets = PacketsFor(src, p.output_dtype(0));
  const int64_t saturated = packets.loop != nullptr ? n - n % packets.size : 0;
  constexpr double kNsPerElement = 0.4;
  const int threads = p.services().threads;
  return MakeKernel([=](RunContext& run) {
    const char* const from = static_cast<const char*>(run.input(0));
    char* const to = static_cast<char*>(run.output(0));
    const auto convert = [&](Loop with, int64_t begin, int64_t end) {
      const auto first = static_cast<size_t>(begin);
      if (begin < end) with(from + first * src_bytes, to + first * dst_bytes, end - begin);
    };
    ParallelFor(threads, n, ParallelGrain(kNsPerElement), [&](int64_t begin, int64_t end) {
      convert(packets.loop, begin, std::min(end, saturated));
      convert(loop, std::max(begin, saturated), end);
    });
    return absl::OkStatus();
  });
}

}  // namespace tenon
