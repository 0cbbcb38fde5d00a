#include "kernels/convolution/conv_reference.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "kernels/contraction/reference_product.h"
#include "kernels/contraction/reference_types.h"
#include "kernels/convolution/image_positions.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "kernels/matmul/dense_product.h"

namespace tenon {
namespace {

template <typename T>
class ConvReference {
  using C = AccumulatorType<T>;

 public:
  ConvReference(const ConvGeometry& g, ProductCode code, const T* input, const T* filter, T* output)
      : g_(g),
        vectors_(code == ProductCode::kVectors && g.groups == 1),
        input_(input),
        output_(output),
        in_(g.attrs.channels_last, g.in_channels, ProductOf(g.in)),
        out_(g.attrs.channels_last, g.out_channels, g.out_positions()),
        filter_(static_cast<size_t>(g.filter_elements())) {
    for (size_t i = 0; i < filter_.size(); ++i) filter_[i] = static_cast<C>(filter[i]);
  }

  void Run(int threads) const {
    const int64_t positions = g_.out_positions();
    const int64_t depth = g_.window_positions() * g_.in_per_group();
    // Rows of the unfolded input that fill about a quarter megabyte, or a tenth for vector code.
    const int64_t elements = vectors_ ? 12 << 10 : 1 << 16;
    const int64_t rows = std::clamp<int64_t>(elements / std::max<int64_t>(depth, 1), 4,
                                             std::max<int64_t>(positions, 4));
    const int64_t chunks = (positions + rows - 1) / rows;
    const int64_t tasks = g_.batch * chunks;
    const int used = g_.flops() > 1e6 ? threads : 1;
    ParallelFor(used, tasks, /*grain=*/1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t n = task / chunks, first = task % chunks * rows;
        const int64_t count = std::min(rows, positions - first);
        if (g_.depthwise) {
          Depthwise(n, first, count);
        } else {
          Dense(n, first, count);
        }
      }
    });
  }

 private:
  // Per group: unfolded input [count, window * I] times filter [window * I, O].
  void Dense(int64_t n, int64_t first, int64_t count) const {
    const int64_t window = g_.window_positions(), channels = g_.in_per_group();
    const int64_t outputs = g_.out_per_group();
    const int64_t depth = window * channels;
    std::vector<C> unfolded(static_cast<size_t>(count * depth));
    std::vector<C> product(static_cast<size_t>(count * outputs));
    for (int64_t group = 0; group < g_.groups; ++group) {
      for (int64_t i = 0; i < count; ++i) {
        ForWindow(g_, first + i, [&](int64_t w, int64_t position) {
          C* row = unfolded.data() + (i * window + w) * channels;
          if (position < 0) {
            std::fill(row, row + channels, C(0));
            return;
          }
          const T* x =
              input_ + n * in_.batch + position * in_.position + group * channels * in_.channel;
          CopyChannels(x, in_.channel, channels, row);
        });
      }
      Multiply(count, depth, unfolded.data(), filter_.data() + group * outputs, product.data());
      for (int64_t i = 0; i < count; ++i) {
        T* y =
            output_ + n * out_.batch + (first + i) * out_.position + group * outputs * out_.channel;
        const C* const y_row = product.data() + i * outputs;
        for (int64_t o = 0; o < outputs; ++o) y[o * out_.channel] = static_cast<T>(y_row[o]);
      }
    }
  }

  // `unfolded`: [rows, depth]; `filter`: the group's columns of the filter.
  void Multiply(int64_t rows, int64_t depth, const C* unfolded, const C* filter, C* product) const {
    if constexpr (std::is_same_v<C, double>) {
      if (vectors_) {
        return MultiplyDense<double>({1, rows, g_.out_channels, depth}, unfolded, filter, product);
      }
    }
    ReferenceProduct(rows, g_.out_per_group(), depth, unfolded, filter, g_.out_channels, product);
  }

  void Depthwise(int64_t n, int64_t first, int64_t count) const {
    const int64_t window = g_.window_positions();
    const int64_t multiplier = g_.in_channels > 0 ? g_.out_channels / g_.in_channels : 0;
    std::vector<C> sum(static_cast<size_t>(g_.out_channels));
    for (int64_t i = first; i < first + count; ++i) {
      std::fill(sum.begin(), sum.end(), C(0));
      for (int64_t w = 0; w < window; ++w) {
        const int64_t position = InputPosition(g_, i, w);
        if (position < 0) continue;
        const T* x = input_ + n * in_.batch + position * in_.position;
        const C* f = filter_.data() + w * g_.out_channels;
        if (multiplier == 1 && in_.channel == 1) {
          for (int64_t c = 0; c < g_.in_channels; ++c) {
            sum[static_cast<size_t>(c)] += static_cast<C>(x[c]) * f[c];
          }
          continue;
        }
        for (int64_t c = 0; c < g_.in_channels; ++c) {
          const C value = static_cast<C>(x[c * in_.channel]);
          for (int64_t m = 0; m < multiplier; ++m) {
            sum[static_cast<size_t>(c * multiplier + m)] += value * f[c * multiplier + m];
          }
        }
      }
      T* y = output_ + n * out_.batch + i * out_.position;
      for (int64_t o = 0; o < g_.out_channels; ++o) {
        y[o * out_.channel] = static_cast<T>(sum[static_cast<size_t>(o)]);
      }
    }
  }

  const ConvGeometry& g_;
  const bool vectors_;
  const T* const input_;
  T* const output_;
  const ImageStrides in_, out_;
  std::vector<C> filter_;
};

}  // namespace

absl::Status RunConvReference(DType dtype, const ConvGeometry& g, const void* input,
                              const void* filter, void* output, int threads, ProductCode code) {
  using Types = TypeList<half, bfloat16, float, double, int32_t>;
  return DispatchType(Types{}, dtype, [&]<typename T>() {
    ConvReference<T>(g, code, static_cast<const T*>(input), static_cast<const T*>(filter),
                     static_cast<T*>(output))
        .Run(threads);
    return absl::OkStatus();
  });
}

}  // namespace tenon
