// The loops behind FindVectorProduct, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/matmul/vector_product_simd.cc"
#include "kernels/matmul/vector_product_simd.h"

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
  constexpr size_t kRows = 4;
  size_t i = 0;
  for (; i + kRows <= p.n; i += kRows) {
    SumDots<kRows>(p, a + i * p.a_step, b + i * p.b_step, out + i * p.out_step);
  }
  for (; i < p.n; ++i) SumDots<1>(p, a + i * p.a_step, b + i * p.b_step, out + i * p.out_step);
}

void ComputeVectorElements(const VectorProduct& p, const float* a, const float* b, float* out) {
  const FloatTag d;
  ForParts(p.n, [&](auto part, size_t i) HWY_ATTR {
    const float *x = a + i * p.a_step, *y = b + i * p.b_step;
    const auto load = [&](const float* at, size_t step)
                          HWY_ATTR { return step == 0 ? hn::Set(d, *at) : part.Load(at); };
    // The first product is no sum, so that a single one has the sign of its zero.
    Vf sum = hn::Mul(load(x, p.a_step), load(y, p.b_step));
    for (size_t k = 1; k < p.terms; ++k) {
      sum = hn::MulAdd(load(x + k * p.a_term, p.a_step), load(y + k * p.b_term, p.b_step), sum);
    }
    if (p.add) sum = hn::Add(part.Load(out + i), sum);
    part.Store(sum, out + i);
  });
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
