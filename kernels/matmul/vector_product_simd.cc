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

// `vectors` whole ones of results at once, so that additions of one need not wait for each other.
template <size_t vectors, bool a_varies, bool b_varies, class Part>
HWY_INLINE void SumElements(const VectorProduct& p, Part part, const float* a, const float* b,
                            float* out) {
  const FloatTag d;
  const auto load = [&](auto varies, const float* from, size_t v) HWY_ATTR {
    return varies ? part.Load(from + v * hn::Lanes(d)) : hn::Set(d, *from);
  };
  constexpr std::bool_constant<a_varies> kA;
  constexpr std::bool_constant<b_varies> kB;
  Vf sums[vectors];
#pragma GCC unroll 4
  for (size_t v = 0; v < vectors; ++v) {
    // The first product is no sum, so that a single one has the sign of its zero.
    sums[v] = hn::Mul(load(kA, a, v), load(kB, b, v));
  }
  for (size_t k = 1; k < p.terms; ++k) {
#pragma GCC unroll 4
    for (size_t v = 0; v < vectors; ++v) {
      sums[v] = hn::MulAdd(load(kA, a + k * p.a_term, v), load(kB, b + k * p.b_term, v), sums[v]);
    }
  }
#pragma GCC unroll 4
  for (size_t v = 0; v < vectors; ++v) {
    float* const to = out + v * hn::Lanes(d);
    part.Store(p.add ? hn::Add(part.Load(to), sums[v]) : sums[v], to);
  }
}

template <bool a_varies, bool b_varies>
HWY_INLINE void ComputeElementRows(const VectorProduct& p, const float* a, const float* b,
                                   float* out) {
  constexpr size_t kVectors = 4;
  const size_t together = kVectors * hn::Lanes(FloatTag());
  for (size_t row = 0; row < p.rows; ++row, a += p.a_row, b += p.b_row, out += p.out_row) {
    size_t first = 0;
    for (; first + together <= p.n; first += together) {
      SumElements<kVectors, a_varies, b_varies>(p, WholePart(), a + (a_varies ? first : 0),
                                                b + (b_varies ? first : 0), out + first);
    }
    ForParts(p.n - first, [&](auto part, size_t i) HWY_ATTR {
      SumElements<1, a_varies, b_varies>(p, part, a + (a_varies ? first + i : 0),
                                         b + (b_varies ? first + i : 0), out + first + i);
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
