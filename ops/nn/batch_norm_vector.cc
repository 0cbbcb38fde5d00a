// Accelerated batch normalization. Statistics take one pass over memory: a block that fits the
// cache gives its mean and its squares about that mean, and blocks are joined in double:
//
//   sum((x - m)^2) = sum over blocks (squares + n_b (m_b - s)^2) - n (m - s)^2, for any s.
//
// How the work is cut follows from the shape alone, so results do not depend on threads.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "env/status.h"
#include "ops/nn/batch_norm.h"
#include "ops/parallel.h"
#include "ops/vector/batch_norm_simd.h"
#include "ops/vector/elementwise.h"

namespace tenon {
namespace {

constexpr int64_t kBlockBytes = 64 << 10;  // read twice, from the second-level cache
constexpr int64_t kChunkElements = 1 << 16;
constexpr int64_t kMaxChunks = 24;

// Channels last: chunks of whole rows; several pixels make one row where channels are few ("fold"),
// and what is per channel is repeated as often. Channels first: a chunk is a channel.
struct Layout {
  ChannelOrder order = ChannelOrder::kLast;
  int64_t outer = 0, channels = 0, inner = 0;
  int64_t fold = 1;
  int64_t n = 0;      // values per channel operand: channels * fold, or 1
  int64_t rows = 0;   // of n, channels last
  int64_t block = 1;  // rows, or elements of a channel
  int64_t chunks = 1;
  int64_t element = sizeof(float);

  explicit Layout(const BatchNormSpec& s)
      : outer(s.outer), channels(s.channels), inner(s.inner), element(SizeOf(s.dtype)) {
    if (s.inner > 1) {
      order = ChannelOrder::kFirst;
      n = 1;
      block = kBlockBytes / element;
      chunks = channels;
      return;
    }
    while (channels * fold < 64 && s.outer % (fold * 2) == 0) fold *= 2;
    n = channels * fold;
    rows = s.outer / fold;
    block = std::clamp<int64_t>(kBlockBytes / (element * n), 4, 512);
    chunks = std::clamp<int64_t>(rows * n / kChunkElements, 1, kMaxChunks);
    chunks = std::min(chunks, std::max<int64_t>(1, rows / 4));
  }

  int64_t elements() const { return outer * channels * inner; }
  int64_t chunk_operands() const { return order == ChannelOrder::kLast ? n : 1; }
  int64_t operands() const { return order == ChannelOrder::kLast ? n : channels; }

  // f(first element, rows, elements of a row) for each block of a chunk.
  template <typename F>
  void ForBlocks(int64_t chunk, F f) const {
    if (order == ChannelOrder::kLast) {
      const int64_t end = rows * (chunk + 1) / chunks;
      for (int64_t r = rows * chunk / chunks; r < end; r += block) {
        f(r * n, std::min(block, end - r), n);
      }
      return;
    }
    for (int64_t o = 0; o < outer; ++o) {
      const int64_t first = (o * channels + chunk) * inner;
      for (int64_t k = 0; k < inner; k += block) f(first + k, 1, std::min(block, inner - k));
    }
  }

  // f(first element, rows, elements of a row, first channel operand) over everything, in parallel.
  template <typename F>
  void ForAll(int threads, F f) const {
    const double ns = 0.15;
    if (order == ChannelOrder::kLast) {
      const int64_t step = std::max<int64_t>(1, 4096 / n), items = (rows + step - 1) / step;
      ParallelFor(threads, items, ParallelGrain(ns * static_cast<double>(step * n)),
                  [&](int64_t begin, int64_t end) {
                    const int64_t last = std::min(rows, end * step);
                    f(begin * step * n, last - begin * step, n, int64_t{0});
                  });
      return;
    }
    ParallelFor(threads, outer * channels, ParallelGrain(ns * static_cast<double>(inner)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i) f(i * inner, 1, inner, i % channels);
                });
  }

  int64_t ChunkGrain(double ns) const {
    return ParallelGrain(ns * static_cast<double>(elements()) / static_cast<double>(chunks));
  }
};

const char* At(const void* base, int64_t element, const Layout& layout) {
  return static_cast<const char*>(base) + element * layout.element;
}
char* At(void* base, int64_t element, const Layout& layout) {
  return static_cast<char*>(base) + element * layout.element;
}

// Memory of one run: per chunk two doubles and four floats an operand, then four floats a channel
// operand.
class Scratch {
 public:
  Scratch(const Layout& layout, void* memory)
      : chunk_(layout.chunk_operands()),
        chunks_(layout.chunks),
        operands_(layout.operands()),
        doubles_(static_cast<double*>(memory)),
        floats_(reinterpret_cast<float*>(doubles_ + 2 * chunk_ * chunks_)) {}
  static size_t Bytes(const Layout& layout) {
    return static_cast<size_t>(layout.chunk_operands() * layout.chunks) *
               (2 * sizeof(double) + 4 * sizeof(float)) +
           static_cast<size_t>(layout.operands()) * 4 * sizeof(float);
  }

  double* wide(int64_t chunk, int i) const { return doubles_ + (2 * chunk + i) * chunk_; }
  float* narrow(int64_t chunk, int i) const { return floats_ + (4 * chunk + i) * chunk_; }
  float* operand(int i) const { return floats_ + 4 * chunk_ * chunks_ + i * operands_; }

 private:
  const int64_t chunk_, chunks_, operands_;
  double* const doubles_;
  float* const floats_;
};

// Each channel's partial results: f(channel, chunk, index in the chunk).
template <typename F>
void ForPartials(const Layout& layout, F f) {
  for (int64_t k = 0; k < layout.chunks; ++k) {
    if (layout.order == ChannelOrder::kFirst) {
      f(k, k, int64_t{0});
      continue;
    }
    for (int64_t i = 0; i < layout.n; ++i) f(i % layout.channels, k, i);
  }
}

// Repeats the first `channels` values of an operand over all of it.
void Repeat(const Layout& layout, float* values) {
  for (int64_t i = layout.channels; i < layout.operands(); ++i) {
    values[i] = values[i - layout.channels];
  }
}

class BatchNormKernel : public Kernel {
 public:
  BatchNormKernel(const BatchNormSpec& spec)
      : spec_(spec),
        layout_(spec),
        loops_(FindBatchNormLoops(
            spec.dtype == DType::kFloat ? BatchNormElement::kFloat : BatchNormElement::kBfloat16,
            layout_.order)) {}
  size_t ScratchBytes() const { return Scratch::Bytes(layout_); }
  std::string Implementation() const override {
    return absl::StrCat("vector:", VectorTargetName());
  }

 protected:
  const BatchNormSpec spec_;
  const Layout layout_;
  const BatchNormLoops loops_;
};

class ForwardKernel final : public BatchNormKernel {
 public:
  using BatchNormKernel::BatchNormKernel;

  absl::Status Run(RunContext& r) const override {
    const Scratch scratch(layout_, r.scratch());
    const size_t channels = static_cast<size_t>(spec_.channels);
    std::vector<double> mean(channels), variance(channels);
    if (spec_.training) {
      Moments(r.input(0), scratch, mean, variance);
    } else {
      std::copy_n(r.input<float>(3), channels, mean.begin());
      std::copy_n(r.input<float>(4), channels, variance.begin());
    }
    float* const centre = scratch.operand(0);
    float* const scale = scratch.operand(1);
    float* const offset = scratch.operand(2);
    for (size_t c = 0; c < channels; ++c) {
      // The mean as a float, and what that loses in the offset.
      const double m = r.input<float>(1)[c] / std::sqrt(variance[c] + spec_.epsilon);
      centre[c] = static_cast<float>(mean[c]);
      scale[c] = static_cast<float>(m);
      offset[c] = static_cast<float>(r.input<float>(2)[c] + (centre[c] - mean[c]) * m);
    }
    for (float* values : {centre, scale, offset}) Repeat(layout_, values);
    layout_.ForAll(spec_.threads, [&](int64_t at, int64_t rows, int64_t n, int64_t channel) {
      BatchNormPiece piece;
      piece.rows = static_cast<size_t>(rows);
      piece.n = static_cast<size_t>(n);
      piece.x = At(r.input(0), at, layout_);
      if (spec_.has_side) piece.side = At(r.input(5), at, layout_);
      piece.relu = spec_.relu;
      piece.mean = centre + channel;
      piece.scale = scale + channel;
      piece.offset = offset + channel;
      piece.y = At(r.output(0), at, layout_);
      loops_.apply(piece);
    });
    StoreBatchNormStatistics(spec_, mean.data(), variance.data(), r);
    return absl::OkStatus();
  }

 private:
  void Moments(const void* x, const Scratch& scratch, std::vector<double>& mean,
               std::vector<double>& variance) const {
    std::vector<double> counts(static_cast<size_t>(layout_.chunks));
    ParallelFor(spec_.threads, layout_.chunks, layout_.ChunkGrain(0.2),
                [&](int64_t begin, int64_t end) {
                  for (int64_t k = begin; k < end; ++k) {
                    counts[static_cast<size_t>(k)] = ChunkMoments(x, scratch, k);
                  }
                });
    // A chunk's sum is about its shift: its first block's mean.
    const double n = static_cast<double>(spec_.count());
    ForPartials(layout_, [&](int64_t c, int64_t k, int64_t i) {
      const double shift = scratch.narrow(k, 3)[i];
      const double count = counts[static_cast<size_t>(k)];
      mean[static_cast<size_t>(c)] += (shift * count + scratch.wide(k, 0)[i]) / n;
    });
    ForPartials(layout_, [&](int64_t c, int64_t k, int64_t i) {
      const double shift = scratch.narrow(k, 3)[i];
      const double count = counts[static_cast<size_t>(k)];
      const double d = mean[static_cast<size_t>(c)] - shift;
      // Squares about the mean from those about the shift.
      const double squares = scratch.wide(k, 1)[i] - 2 * d * scratch.wide(k, 0)[i] + count * d * d;
      variance[static_cast<size_t>(c)] += squares / n;
    });
    for (double& v : variance) v = v < 0 ? 0 : v;
  }

  // The number of elements of a channel operand.
  double ChunkMoments(const void* x, const Scratch& scratch, int64_t chunk) const {
    const int64_t n = layout_.chunk_operands();
    double* const sums = scratch.wide(chunk, 0);
    double* const squares = scratch.wide(chunk, 1);
    float* const block_sum = scratch.narrow(chunk, 0);
    float* const block_mean = scratch.narrow(chunk, 1);
    float* const block_squares = scratch.narrow(chunk, 2);
    float* const shift = scratch.narrow(chunk, 3);
    double total = 0;
    std::fill_n(sums, n, 0.0);
    std::fill_n(squares, n, 0.0);
    layout_.ForBlocks(chunk, [&](int64_t at, int64_t rows, int64_t row) {
      const double count = static_cast<double>(layout_.order == ChannelOrder::kLast ? rows : row);
      BatchNormPiece piece;
      piece.rows = static_cast<size_t>(rows);
      piece.n = static_cast<size_t>(row);
      piece.x = At(x, at, layout_);
      std::fill_n(block_sum, n, 0.0f);
      piece.sum = block_sum;
      loops_.sum(piece);
      const float inverse = static_cast<float>(1 / count);
      for (int64_t i = 0; i < n; ++i) block_mean[i] = block_sum[i] * inverse;
      if (total == 0) {
        for (int64_t i = 0; i < n; ++i) shift[i] = std::isfinite(block_mean[i]) ? block_mean[i] : 0;
      }
      std::fill_n(block_squares, n, 0.0f);
      piece.sum = block_squares;
      piece.mean = block_mean;
      loops_.squares(piece);
      for (int64_t i = 0; i < n; ++i) {
        const double d = static_cast<double>(block_mean[i]) - static_cast<double>(shift[i]);
        sums[i] += count * d;
        squares[i] += static_cast<double>(block_squares[i]) + count * d * d;
      }
      total += count;
    });
    return total;
  }
};

class GradientKernel final : public BatchNormKernel {
 public:
  using BatchNormKernel::BatchNormKernel;

  absl::Status Run(RunContext& r) const override {
    const Scratch scratch(layout_, r.scratch());
    float* const mean = scratch.operand(0);
    std::copy_n(r.input<float>(3), spec_.channels, mean);
    Repeat(layout_, mean);
    ParallelFor(spec_.threads, layout_.chunks, layout_.ChunkGrain(0.3),
                [&](int64_t begin, int64_t end) {
                  for (int64_t k = begin; k < end; ++k) ChunkSums(r, scratch, k);
                });
    const size_t channels = static_cast<size_t>(spec_.channels);
    std::vector<double> sum(channels), product(channels);
    ForPartials(layout_, [&](int64_t c, int64_t k, int64_t i) {
      sum[static_cast<size_t>(c)] += scratch.wide(k, 0)[i];
      product[static_cast<size_t>(c)] += scratch.wide(k, 1)[i];
    });
    float* const scale = scratch.operand(1);
    float* const curve = scratch.operand(2);
    float* const offset = scratch.operand(3);
    const double n = static_cast<double>(spec_.count());
    for (size_t c = 0; c < channels; ++c) {
      const double variance = r.input<float>(4)[c];
      const double root = 1 / std::sqrt(variance + spec_.epsilon);
      const double slope = r.input<float>(2)[c] * root;
      scale[c] = static_cast<float>(slope);
      curve[c] = spec_.training ? static_cast<float>(-slope * root * root * product[c] / n) : 0.0f;
      offset[c] = spec_.training ? static_cast<float>(-slope * sum[c] / n) : 0.0f;
      r.output<float>(1)[c] = static_cast<float>(product[c] * root);
      r.output<float>(2)[c] = static_cast<float>(sum[c]);
    }
    for (float* values : {scale, curve, offset}) Repeat(layout_, values);
    layout_.ForAll(spec_.threads, [&](int64_t at, int64_t rows, int64_t row, int64_t channel) {
      BatchNormPiece piece = Piece(r, at, rows, row);
      piece.mean = mean + channel;
      piece.scale = scale + channel;
      piece.curve = curve + channel;
      piece.offset = offset + channel;
      piece.y = At(r.output(0), at, layout_);
      if (spec_.has_side) piece.gated = At(r.output(5), at, layout_);
      loops_.gradient(piece);
    });
    return absl::OkStatus();
  }

 private:
  BatchNormPiece Piece(const RunContext& r, int64_t at, int64_t rows, int64_t row) const {
    BatchNormPiece piece;
    piece.rows = static_cast<size_t>(rows);
    piece.n = static_cast<size_t>(row);
    piece.dy = At(r.input(0), at, layout_);
    piece.x = At(r.input(1), at, layout_);
    if (spec_.relu) piece.gate = At(r.input(7), at, layout_);
    return piece;
  }

  void ChunkSums(const RunContext& r, const Scratch& scratch, int64_t chunk) const {
    const int64_t n = layout_.chunk_operands();
    double* const sums = scratch.wide(chunk, 0);
    double* const products = scratch.wide(chunk, 1);
    std::fill_n(sums, n, 0.0);
    std::fill_n(products, n, 0.0);
    layout_.ForBlocks(chunk, [&](int64_t at, int64_t rows, int64_t row) {
      BatchNormPiece piece = Piece(r, at, rows, row);
      piece.mean = scratch.operand(0) + (layout_.order == ChannelOrder::kLast ? 0 : chunk);
      piece.sum = scratch.narrow(chunk, 0);
      piece.product = scratch.narrow(chunk, 1);
      std::fill_n(piece.sum, n, 0.0f);
      std::fill_n(piece.product, n, 0.0f);
      loops_.gradient_sums(piece);
      for (int64_t i = 0; i < n; ++i) {
        sums[i] += static_cast<double>(piece.sum[i]);
        products[i] += static_cast<double>(piece.product[i]);
      }
    });
  }
};

template <typename K>
absl::StatusOr<std::unique_ptr<Kernel>> Make(PrepareContext& p, int x) {
  TENON_ASSIGN_OR_RETURN(const BatchNormSpec s, BatchNormSpecOf(p, x));
  if (s.dtype != DType::kFloat && s.dtype != DType::kBfloat16) {
    return Unimplemented("no vector kernel for ", Name(s.dtype));
  }
  if (s.count() == 0 || s.channels == 0) return Unimplemented("empty");
  auto kernel = std::make_unique<K>(s);
  p.RequestScratch(kernel->ScratchBytes());
  p.AllowInPlace(0, 0);
  return std::unique_ptr<Kernel>(std::move(kernel));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> BatchNormVector(PrepareContext& p) {
  return Make<ForwardKernel>(p, 0);
}
absl::StatusOr<std::unique_ptr<Kernel>> BatchNormGradVector(PrepareContext& p) {
  return Make<GradientKernel>(p, 1);
}

}  // namespace tenon
