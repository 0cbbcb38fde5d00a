// The loops behind FindBfloat16Swish, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/convolution/bfloat16_swish_simd.cc"
#include "kernels/convolution/bfloat16_swish_simd.h"

#include <algorithm>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/part-inl.h"
#include "kernels/simd/quick_swish-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {
#if HWY_TARGET == HWY_AVX3
namespace bfloat16_swish {

// Rounds by AVX-512 BF16, which Highway does not use for this target.
HWY_INLINE void StoreRounded(WholePart, Vf v, uint16_t* to) {
  hn::Vec<Bfloat16Tag> bits;
  asm("vcvtneps2bf16 %[v], %[bits]" : [bits] "=v"(bits.raw) : [v] "v"(v.raw));
  hn::StoreU(bits, Bfloat16Tag(), to);
}
HWY_INLINE void StoreRounded(RestPart part, Vf v, uint16_t* to) { part.Store(v, to); }

void Apply(const Bfloat16Swish& p) {
  // A few rows at a time: a bias is loaded once for all of them, and the results of a row are still
  // written one after the other.
  constexpr size_t kRows = 4;
  const size_t sums_row = p.sums_row, out_row = p.out_row;
  for (size_t first = 0; first < p.rows; first += kRows) {
    const size_t rows = std::min(kRows, p.rows - first);
    ForParts(p.columns, [&](auto part, size_t i) HWY_ATTR {
      const Vf bias = p.bias == nullptr ? hn::Zero(FloatTag()) : part.Load(p.bias + i);
      const float* sums = p.sums + first * p.sums_row + i;
      uint16_t* out = p.out + first * p.out_row + i;
      for (size_t row = 0; row < rows; ++row, sums += sums_row, out += out_row) {
        StoreRounded(part, QuickSwish<false>(hn::Add(part.Load(sums), bias)), out);
      }
    });
  }
}

}  // namespace bfloat16_swish

Bfloat16SwishFn Bfloat16SwishLoops() { return &bfloat16_swish::Apply; }
#else
Bfloat16SwishFn Bfloat16SwishLoops() { return nullptr; }
#endif

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(Bfloat16SwishLoops);

Bfloat16SwishFn FindBfloat16Swish() { return HWY_DYNAMIC_DISPATCH(Bfloat16SwishLoops)(); }

}  // namespace tenon
#endif
