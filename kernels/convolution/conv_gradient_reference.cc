#include "kernels/convolution/conv_gradient_reference.h"

#include <Eigen/Core>
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

template <typename C>
using Matrix = Eigen::Matrix<C, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int64_t kRows = 256;       // output positions at a time
constexpr int64_t kLeastBlock = 16;  // input channels per task

// A range of the input channels of one group.
struct Block {
  int64_t group, first, count;
};

class Blocks {
 public:
  // Makes enough tasks for the threads if each block is computed `times` times.
  Blocks(const ConvGeometry& g, int64_t times, int threads) : channels_(g.in_per_group()) {
    // The groups of a depthwise convolution have one channel each, so each task takes many.
    if (g.depthwise) channels_ = g.in_channels;
    groups_ = g.depthwise ? 1 : g.groups;
    const int64_t tasks = std::max<int64_t>(times * groups_, 1);
    const int64_t shares = (2 * threads + tasks - 1) / tasks;
    size_ = std::clamp<int64_t>((channels_ + shares - 1) / shares, kLeastBlock,
                                std::max(channels_, kLeastBlock));
    per_group_ = (channels_ + size_ - 1) / size_;
  }
  int64_t count() const { return groups_ * per_group_; }
  Block at(int64_t i) const {
    const int64_t first = i % per_group_ * size_;
    return {i / per_group_, first, std::min(size_, channels_ - first)};
  }

 private:
  int64_t channels_, groups_, size_, per_group_;
};

template <typename T>
class Gradient {
  using C = AccumulatorType<T>;

 public:
  Gradient(const ConvGeometry& g, ProductCode code)
      : g_(g),
        vectors_(code == ProductCode::kVectors),
        in_(g.attrs.channels_last, g.in_channels, ProductOf(g.in)),
        out_(g.attrs.channels_last, g.out_channels, g.out_positions()),
        window_(g.window_positions()),
        multiplier_(g.in_channels > 0 ? g.out_channels / g.in_channels : 0) {}

  void OfInput(const T* filter, const T* dy, T* dx, int threads) const {
    const Blocks blocks(g_, g_.batch, threads);
    const int64_t tasks = g_.batch * blocks.count();
    const int used = g_.flops() > 1e6 ? threads : 1;
    ParallelFor(used, tasks, /*grain=*/1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t n = task / blocks.count();
        const Block block = blocks.at(task % blocks.count());
        Matrix<C> sum = Matrix<C>::Zero(ProductOf(g_.in), block.count);
        if (g_.depthwise) {
          InputDepthwise(n, block, filter, dy, sum);
        } else {
          InputDense(n, block, filter, dy, sum);
        }
        T* const first =
            dx + n * in_.batch + (block.group * g_.in_per_group() + block.first) * in_.channel;
        for (int64_t i = 0; i < sum.rows(); ++i) {
          for (int64_t c = 0; c < block.count; ++c) {
            first[i * in_.position + c * in_.channel] = static_cast<T>(sum(i, c));
          }
        }
      }
    });
  }

  void OfFilter(const T* x, const T* dy, T* dw, int threads) const {
    const Blocks blocks(g_, window_, threads);
    const int64_t tasks = window_ * blocks.count();
    const int used = g_.flops() > 1e6 ? threads : 1;
    ParallelFor(used, tasks, /*grain=*/1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t w = task / blocks.count();
        const Block block = blocks.at(task % blocks.count());
        if (g_.depthwise) {
          FilterDepthwise(w, block, x, dy, dw);
        } else {
          FilterDense(w, block, x, dy, dw);
        }
      }
    });
  }

  void OfBias(const T* dy, T* db) const {
    std::vector<C> sum(static_cast<size_t>(g_.out_channels), C(0));
    for (int64_t n = 0; n < g_.batch; ++n) {
      for (int64_t o = 0; o < g_.out_positions(); ++o) {
        const T* y = dy + n * out_.batch + o * out_.position;
        for (int64_t c = 0; c < g_.out_channels; ++c) {
          sum[static_cast<size_t>(c)] += static_cast<C>(y[c * out_.channel]);
        }
      }
    }
    for (size_t c = 0; c < sum.size(); ++c) db[c] = static_cast<T>(sum[c]);
  }

 private:
  // [count, outputs of the group], starting at position `first`.
  void GatherOut(const T* dy, int64_t n, int64_t group, int64_t first, Matrix<C>& rows) const {
    const T* y =
        dy + n * out_.batch + first * out_.position + group * g_.out_per_group() * out_.channel;
    for (int64_t i = 0; i < rows.rows(); ++i) {
      CopyChannels(y + i * out_.position, out_.channel, rows.cols(), rows.row(i).data());
    }
  }

  void Multiply(const Matrix<C>& a, const Matrix<C>& b, Matrix<C>& product) const {
    product.resize(a.rows(), b.cols());
    if constexpr (std::is_same_v<C, double>) {
      if (vectors_) {
        return MultiplyDense<double>({1, a.rows(), b.cols(), a.cols()}, a.data(), b.data(),
                                     product.data());
      }
    }
    ReferenceProduct(a.rows(), b.cols(), a.cols(), a.data(), b.data(), b.cols(), product.data());
  }

  // Output gradients [positions, O] times the transposed filter [window * block, O]: the
  // contribution of each window to its input pixels.
  void InputDense(int64_t n, const Block& b, const T* filter, const T* dy, Matrix<C>& sum) const {
    const int64_t outputs = g_.out_per_group();
    Matrix<C> weights(outputs, window_ * b.count);  // transposed
    for (int64_t w = 0; w < window_; ++w) {
      for (int64_t c = 0; c < b.count; ++c) {
        const T* f =
            filter + (w * g_.in_per_group() + b.first + c) * g_.out_channels + b.group * outputs;
        for (int64_t o = 0; o < outputs; ++o) weights(o, w * b.count + c) = static_cast<C>(f[o]);
      }
    }
    Matrix<C> out, added;
    // What vector code adds stays in the second-level cache.
    const int64_t most =
        vectors_ ? std::clamp<int64_t>((12 << 10) / (window_ * b.count), 12, kRows) : kRows;
    for (int64_t first = 0; first < g_.out_positions(); first += most) {
      out.resize(std::min(most, g_.out_positions() - first), outputs);
      GatherOut(dy, n, b.group, first, out);
      Multiply(out, weights, added);
      for (int64_t i = 0; i < added.rows(); ++i) {
        ForWindow(g_, first + i, [&](int64_t w, int64_t position) {
          if (position < 0) return;
          sum.row(position) += added.row(i).segment(w * b.count, b.count);
        });
      }
    }
  }

  void InputDepthwise(int64_t n, const Block& b, const T* filter, const T* dy,
                      Matrix<C>& sum) const {
    const int64_t m = multiplier_;
    for (int64_t o = 0; o < g_.out_positions(); ++o) {
      const T* y = dy + n * out_.batch + o * out_.position + b.first * m * out_.channel;
      for (int64_t w = 0; w < window_; ++w) {
        const int64_t position = InputPosition(g_, o, w);
        if (position < 0) continue;
        const T* f = filter + w * g_.out_channels + b.first * m;
        C* const x = sum.data() + position * b.count;
        for (int64_t c = 0; c < b.count; ++c) {
          for (int64_t k = c * m; k < (c + 1) * m; ++k) {
            x[c] += static_cast<C>(y[k * out_.channel]) * static_cast<C>(f[k]);
          }
        }
      }
    }
  }

  // The inputs at one tap of the window, transposed, times the output gradients.
  void FilterDense(int64_t w, const Block& b, const T* x, const T* dy, T* dw) const {
    const int64_t outputs = g_.out_per_group();
    Matrix<C> sum = Matrix<C>::Zero(b.count, outputs), in, out, transposed, added;
    for (int64_t n = 0; n < g_.batch; ++n) {
      const T* const image =
          x + n * in_.batch + (b.group * g_.in_per_group() + b.first) * in_.channel;
      for (int64_t first = 0; first < g_.out_positions(); first += kRows) {
        const int64_t rows = std::min(kRows, g_.out_positions() - first);
        in.resize(rows, b.count);
        out.resize(rows, outputs);
        GatherOut(dy, n, b.group, first, out);
        ForOutputs(g_, w, first, rows, [&](int64_t i, int64_t position) {
          if (position < 0) {
            // Not a product with zero, because the input may be infinite.
            in.row(i).setZero();
            out.row(i).setZero();
            return;
          }
          CopyChannels(image + position * in_.position, in_.channel, b.count, in.row(i).data());
        });
        transposed = in.transpose();
        Multiply(transposed, out, added);
        sum += added;
      }
    }
    for (int64_t c = 0; c < b.count; ++c) {
      T* f = dw + (w * g_.in_per_group() + b.first + c) * g_.out_channels + b.group * outputs;
      for (int64_t o = 0; o < outputs; ++o) f[o] = static_cast<T>(sum(c, o));
    }
  }

  void FilterDepthwise(int64_t w, const Block& b, const T* x, const T* dy, T* dw) const {
    const int64_t m = multiplier_;
    std::vector<C> sum(static_cast<size_t>(b.count * m), C(0));
    for (int64_t n = 0; n < g_.batch; ++n) {
      for (int64_t o = 0; o < g_.out_positions(); ++o) {
        const int64_t position = InputPosition(g_, o, w);
        if (position < 0) continue;
        const T* in = x + n * in_.batch + position * in_.position + b.first * in_.channel;
        const T* y = dy + n * out_.batch + o * out_.position + b.first * m * out_.channel;
        for (int64_t c = 0; c < b.count; ++c) {
          const C value = static_cast<C>(in[c * in_.channel]);
          for (int64_t k = c * m; k < (c + 1) * m; ++k) {
            sum[static_cast<size_t>(k)] += value * static_cast<C>(y[k * out_.channel]);
          }
        }
      }
    }
    T* const f = dw + w * g_.out_channels + b.first * m;
    for (size_t k = 0; k < sum.size(); ++k) f[k] = static_cast<T>(sum[k]);
  }

  const ConvGeometry& g_;
  const bool vectors_;  // for products of doubles
  const ImageStrides in_, out_;
  const int64_t window_, multiplier_;
};

template <typename F>
absl::Status Visit(DType dtype, F f) {
  using Types = TypeList<half, bfloat16, float, double, int32_t>;
  return DispatchType(Types{}, dtype, [&]<typename T>() {
    f.template operator()<T>();
    return absl::OkStatus();
  });
}

}  // namespace

absl::Status RunInputGradient(DType dtype, const ConvGeometry& g, const void* filter,
                              const void* out_backprop, void* input_gradient, int threads,
                              ProductCode code) {
  return Visit(dtype, [&]<typename T>() {
    Gradient<T>(g, code).OfInput(static_cast<const T*>(filter), static_cast<const T*>(out_backprop),
                                 static_cast<T*>(input_gradient), threads);
  });
}

absl::Status RunFilterGradient(DType dtype, const ConvGeometry& g, const void* input,
                               const void* out_backprop, void* filter_gradient, int threads,
                               ProductCode code) {
  return Visit(dtype, [&]<typename T>() {
    Gradient<T>(g, code).OfFilter(static_cast<const T*>(input), static_cast<const T*>(out_backprop),
                                  static_cast<T*>(filter_gradient), threads);
  });
}

absl::Status RunBiasGradient(DType dtype, const ConvGeometry& g, const void* out_backprop,
                             void* bias_gradient) {
  return Visit(dtype, [&]<typename T>() {
    Gradient<T>(g, ProductCode::kEigen)
        .OfBias(static_cast<const T*>(out_backprop), static_cast<T*>(bias_gradient));
  });
}

}  // namespace tenon
