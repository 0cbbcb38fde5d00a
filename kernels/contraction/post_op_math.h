// The post-ops in plain C++, a row of elements at a time. Half precisions compute in float and
// round after each step, as separate ops would.
#ifndef TENON_KERNELS_CONTRACTION_POST_OP_MATH_H_
#define TENON_KERNELS_CONTRACTION_POST_OP_MATH_H_

#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/interface/post_op.h"

namespace tenon {

template <typename T>
struct PostOpMath {
  using C = std::conditional_t<std::is_same_v<T, double>, double, float>;

  static void Unary(PostOp op, T* y, int64_t n, float slope) {
    const C a = static_cast<C>(slope);
    auto each = [y, n](auto f) {
      for (int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(f(static_cast<C>(y[i])));
    };
    switch (op) {
      case PostOp::kRelu:  // the comparison keeps NaN
        return each([](C x) { return x < C(0) ? C(0) : x; });
      case PostOp::kRelu6:
        return each([](C x) {
          const C low = x < C(0) ? C(0) : x;
          return low > C(6) ? C(6) : low;
        });
      case PostOp::kElu:
        return each([](C x) { return x < C(0) ? std::expm1(x) : x; });
      case PostOp::kSelu:
        return each([](C x) {
          const C scale = C(1.0507009873554804934193349852946);
          const C alpha = C(1.7580993408473768599402175208123);  // scale included
          return x < C(0) ? alpha * std::expm1(x) : scale * x;
        });
      case PostOp::kLeakyRelu:
        return each([a](C x) { return x < C(0) ? a * x : x; });
      case PostOp::kTanh:
        return each([](C x) { return std::tanh(x); });
      case PostOp::kSigmoid:
        return each(Logistic);
      case PostOp::kSoftplus:
        return each(Softplus);
      case PostOp::kGeluErf:
        return each(
            [](C x) { return C(0.5) * x * (C(1) + std::erf(x * C(0.70710678118654752440))); });
      case PostOp::kGeluTanh:
        return each([](C x) {
          const C inner = C(0.79788456080286535588) * (x + C(0.044715) * x * x * x);
          return C(0.5) * x * (C(1) + std::tanh(inner));
        });
      case PostOp::kSwish:
        return each([](C x) { return x * Logistic(x); });
      case PostOp::kHardSwish:
        return each([](C x) {
          C t = x + C(3);
          t = t < C(0) ? C(0) : t;
          t = t > C(6) ? C(6) : t;
          return x * t / C(6);
        });
      case PostOp::kMish:
        return each([](C x) { return x * std::tanh(Softplus(x)); });
      case PostOp::kExp:
        return each([](C x) { return std::exp(x); });
      case PostOp::kLog:
        return each([](C x) { return std::log(x); });
      case PostOp::kSqrt:
        return each([](C x) { return std::sqrt(x); });
      case PostOp::kSquare:
        return each([](C x) { return x * x; });
      case PostOp::kAbs:
        return each([](C x) { return std::abs(x); });
      case PostOp::kNone:
      case PostOp::kBiasAdd:
      case PostOp::kAdd:
      case PostOp::kMul:
        return;
    }
  }

  // y[i] op= x[i * stride]
  static void Binary(PostOp op, T* y, int64_t n, int64_t stride, const T* x) {
    auto each = [y, n, stride, x](auto f) {
      if (stride == 1) {
        for (int64_t i = 0; i < n; ++i) y[i] = f(y[i], x[i]);
      } else {
        for (int64_t i = 0; i < n; ++i) y[i] = f(y[i], x[i * stride]);
      }
    };
    if (op == PostOp::kMul) {
      each([](T a, T b) { return static_cast<T>(a * b); });
    } else {
      each([](T a, T b) { return static_cast<T>(a + b); });
    }
  }

  static void BatchNorm(T* y, int64_t n, int64_t stride, const T* scale, const T* offset,
                        const T* mean, const T* variance, float epsilon) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t c = i * stride;
      const C factor = static_cast<C>(scale[c]) /
                       std::sqrt(static_cast<C>(variance[c]) + static_cast<C>(epsilon));
      y[i] = static_cast<T>((static_cast<C>(y[i]) - static_cast<C>(mean[c])) * factor +
                            static_cast<C>(offset[c]));
    }
  }

 private:
  static C Logistic(C x) {
    // exp of a negative number only: no overflow on either side.
    const C e = std::exp(-std::abs(x));
    return x < C(0) ? e / (C(1) + e) : C(1) / (C(1) + e);
  }
  static C Softplus(C x) { return (x > C(0) ? x : C(0)) + std::log1p(std::exp(-std::abs(x))); }
};

}  // namespace tenon

#endif  // TENON_KERNELS_CONTRACTION_POST_OP_MATH_H_
