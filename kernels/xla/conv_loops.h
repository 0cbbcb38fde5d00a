// The loops of a general convolution, over operands and a result in any layout.
#ifndef TENON_KERNELS_XLA_CONV_LOOPS_H_
#define TENON_KERNELS_XLA_CONV_LOOPS_H_

#include <cstdint>
#include <vector>

#include "kernels/interface/parallel.h"
#include "kernels/xla/conv.h"

namespace tenon {

// A loop over one spatial dimension.
struct ConvAxis {
  ConvWindow window;
  int64_t in, in_stride, kernel, kernel_stride, out_stride;

  // The input element under element k of the window at `position`, or -1.
  int64_t Under(int64_t position, int64_t k) const {
    const int64_t at = position * window.stride - window.low + k * window.rhs_dilation;
    if (at < 0 || at % window.lhs_dilation != 0) return -1;
    const int64_t i = at / window.lhs_dilation;
    return i < in ? i : -1;
  }
};

struct ConvLoops {
  std::vector<ConvAxis> axes;
  DimList positions;                            // of the window, by axis
  int64_t images = 0, features = 0, depth = 0;  // of the result; products of one sum
  int64_t features_per_group = 1, features_per_batch_group = 1;
  int64_t in_image = 0, in_feature = 0, kernel_in = 0, kernel_out = 0, out_image = 0,
          out_feature = 0;  // strides
};

ConvLoops MakeConvLoops(const ConvSpec& spec, const Shape& lhs, const Shape& rhs, const Shape& out);

// The sum of products at one position of the window.
template <typename C>
C ConvSumAt(const ConvLoops& loops, const C* x, const C* w, const DimList& position) {
  C sum(0);
  const size_t rank = loops.axes.size();
  DimList k(rank, 0);
  while (true) {
    int64_t from = 0, weight = 0;
    bool inside = true;
    for (size_t d = 0; inside && d < rank; ++d) {
      const int64_t i = loops.axes[d].Under(position[d], k[d]);
      inside = i >= 0;
      from += i * loops.axes[d].in_stride;
      weight += k[d] * loops.axes[d].kernel_stride;
    }
    if (inside) {
      for (int64_t c = 0; c < loops.depth; ++c) {
        sum += x[from + c * loops.in_feature] * w[weight + c * loops.kernel_in];
      }
    }
    size_t d = rank;
    for (; d > 0; --d) {
      if (++k[d - 1] < loops.axes[d - 1].kernel) break;
      k[d - 1] = 0;
    }
    if (d == 0) return sum;
  }
}

// y at each place = finish(sum of products, the image of x, the feature of y).
template <typename C, typename T, typename Finish>
void RunConvLoops(const ConvLoops& loops, const C* x, const C* w, T* y, int threads,
                  const Finish& finish) {
  int64_t places = 1, terms = loops.depth;
  bool window = true;
  for (size_t d = 0; d < loops.axes.size(); ++d) {
    places *= loops.positions[d];
    terms *= loops.axes[d].kernel;
    window = window && loops.axes[d].kernel > 0;
  }
  const int64_t tasks = loops.images * places;
  const int64_t grain =
      ParallelGrain(static_cast<double>(loops.features) * static_cast<double>(terms + 1));
  ParallelFor(threads, tasks, grain, [&](int64_t begin, int64_t end) {
    DimList position(loops.axes.size(), 0);
    for (int64_t task = begin; task < end; ++task) {
      const int64_t image = task / places;
      int64_t left = task % places, to = image * loops.out_image;
      for (size_t d = loops.axes.size(); d-- > 0;) {
        position[d] = left % loops.positions[d];
        left /= loops.positions[d];
        to += position[d] * loops.axes[d].out_stride;
      }
      for (int64_t f = 0; f < loops.features; ++f) {
        const int64_t batch_group = f / loops.features_per_batch_group;
        const int64_t from_image = batch_group * loops.images + image;
        const C* const from = x + from_image * loops.in_image +
                              f / loops.features_per_group * loops.depth * loops.in_feature;
        const C sum = window ? ConvSumAt(loops, from, w + f * loops.kernel_out, position) : C(0);
        y[to + f * loops.out_feature] = finish(sum, from_image, f);
      }
    }
  });
}

}  // namespace tenon

#endif  // TENON_KERNELS_XLA_CONV_LOOPS_H_
