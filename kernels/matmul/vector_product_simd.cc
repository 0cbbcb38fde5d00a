// The loops behind FindVectorProduct, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/matmul/vector_product_simd.cc"
#include "kernels/matmul/vector_product_simd.h"

#include <type_traits>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

// Sums of `rows` results at once, so that additions of one need not wait for each other.
template <size_t rows>
HWY_INLINE void SumDots(const VectorProduct& p, const float* a, const float* b, float* out) {
  Vf sums[rows];
#pragma GCC unroll 4
  for (Vf& sum : sums) sum = hn::Zero(FloatTag());
  ForParts(p.terms, [&](auto part, size_t k) HWY_ATTR {
#pragma GCC unroll 4
    for (size_t r = 0; r < rows; ++r) {
      sums[r] =
          hn::MulAdd(part.Load(a + r * p.a_step + k), part.Load(b + r * p.b_step + k), sums[r]);
    }
  });
#pragma GCC unroll 4
  for (size_t r = 0; r < rows; ++r) {
    float& to = out[r * p.out_step];
    to = p.add ? to + Total(sums[r]) : Total(sums[r]);
  }
}

void ComputeVectorDots(const VectorProduct& p, const float* a, const float* b, float* out) {
  constexpr size_t kResults = 4;
  for (size_t row = 0; row < p.rows; ++row, a += p.a_row, b += p.b_row, out += p.out_row) {
    size_t i = 0;
    for (; i + kResults <= p.n; i += kResults) {
      SumDots<kResults>(p, a + i * p.a_step, b + i * p.b_step, out + i * p.out_step);
    }
    for (; i < p.n; ++i) SumDots<1>(p, a + i * p.a_step, b + i * p.b_step, out + i * p.out_step);
  }
}

template <bool a_varies, bool b_varies>
HWY_INLINE void ComputeElementRows(const VectorProduct& p, const float* a, const float* b,
                                   float* out) {
  const FloatTag d;
  const auto load = [&](auto part, auto varies, const float* row, size_t i)
                        HWY_ATTR { return varies ? part.Load(row + i) : hn::Set(d, *row); };
  constexpr std::bool_constant<a_varies> kA;
  constexpr std::bool_constant<b_varies> kB;
  for (size_t row = 0; row < p.rows; ++row, a += p.a_row, b += p.b_row, out += p.out_row) {
    ForParts(p.n, [&](auto part, size_t i) HWY_ATTR {
      // The first product is no sum, so that a single one has the sign of its zero.
      Vf sum = hn::Mul(load(part, kA, a, i), load(part, kB, b, i));
      for (size_t k = 1; k < p.terms; ++k) {
        sum = hn::MulAdd(load(part, kA, a + k * p.a_term, i), load(part, kB, b + k * p.b_term, i),
                         sum);
      }
      if (p.add) sum = hn::Add(part.Load(out + i), sum);
      part.Store(sum, out + i);
    });
  }
}

void ComputeVectorElements(const VectorProduct& p, const float* a, const float* b, float* out) {
  if (p.a_step == 0) {
    ComputeElementRows<false, true>(p, a, b, out);
  } else if (p.b_step == 0) {
    ComputeElementRows<true, false>(p, a, b, out);
  } else {
    ComputeElementRows<true, true>(p, a, b, out);
  }
}

VectorProductLoops VectorProductOfTarget() { return {&ComputeVectorDots, &ComputeVectorElements}; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(VectorProductOfTarget);

VectorProductLoops FindVectorProduct() { return HWY_DYNAMIC_DISPATCH(VectorProductOfTarget)(); }

}  // namespace tenon
#endif
