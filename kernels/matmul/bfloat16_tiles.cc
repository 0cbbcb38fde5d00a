#include "kernels/matmul/bfloat16_tiles.h"

#include <algorithm>
#include <cstring>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "env/round_up.h"
#include "kernels/interface/parallel.h"
#include "kernels/matmul/tile_config.h"
#include "kernels/matmul/tile_math.h"

namespace tenon {
namespace {

constexpr size_t kHalfStrip = kBfloat16TileColumns / 2;          // the columns of one tile
constexpr size_t kWeightTile = kBfloat16TileTerms * kHalfStrip;  // elements
constexpr size_t kStepElements = 2 * kWeightTile;                // of a strip

class Bfloat16StripLayoutImpl final : public PackedLayout {
 public:
  Bfloat16StripLayoutImpl(const Bfloat16Strips& weights, int threads)
      : w_(weights),
        threads_(threads),
        key_(absl::StrCat("bfloat16 strips ", w_.taps, "x", w_.channels, "x", w_.columns,
                          w_.transposed ? " transposed" : "")) {}
  const std::string& key() const override { return key_; }
  size_t bytes() const override { return w_.strips() * w_.strip_bytes(); }

  absl::Status Pack(const void* plain, void* packed) const override {
    std::memset(packed, 0, bytes());
    ForElements([from = static_cast<const uint16_t*>(plain), to = static_cast<uint16_t*>(packed)](
                    size_t at, size_t packed_at) { to[packed_at] = from[at]; });
    return absl::OkStatus();
  }
  absl::Status Unpack(const void* packed, void* plain) const override {
    ForElements([from = static_cast<const uint16_t*>(packed), to = static_cast<uint16_t*>(plain)](
                    size_t at, size_t packed_at) { to[at] = from[packed_at]; });
    return absl::OkStatus();
  }

 private:
  // fn(place in the plain weights, place in the packed ones).
  template <typename F>
  void ForElements(F fn) const {
    const size_t of_strip = w_.strip_bytes() / sizeof(uint16_t);
    const double ns = static_cast<double>(w_.taps * w_.channels * kBfloat16TileColumns);
    const size_t step = w_.transposed ? w_.channels : 1;
    ParallelFor(
        threads_, static_cast<int64_t>(w_.strips()), ParallelGrain(ns),
        [&](int64_t begin, int64_t end) {
          for (auto s = static_cast<size_t>(begin); s < static_cast<size_t>(end); ++s) {
            const size_t first = s * kBfloat16TileColumns;
            const size_t columns = std::min(kBfloat16TileColumns, w_.columns - first);
            for (size_t t = 0; t < w_.taps; ++t) {
              for (size_t k = 0; k < w_.channels; ++k) {
                const size_t row = w_.transposed ? first * w_.channels + k
                                                 : (t * w_.channels + k) * w_.columns + first;
                // Pairs of terms of a column are adjacent.
                const size_t packed = s * of_strip +
                                      (k / kBfloat16TileTerms * w_.taps + t) * kStepElements +
                                      k % kBfloat16TileTerms / 2 * kHalfStrip * 2 + k % 2;
                for (size_t c = 0; c < columns; ++c) {
                  fn(row + c * step, packed + c / kHalfStrip * kWeightTile + c % kHalfStrip * 2);
                }
              }
            }
          }
        });
  }

  const Bfloat16Strips w_;
  const int threads_;
  const std::string key_;
};

}  // namespace

std::shared_ptr<const PackedLayout> Bfloat16StripLayout(const Bfloat16Strips& weights,
                                                        int threads) {
  return std::make_shared<Bfloat16StripLayoutImpl>(weights, threads);
}

namespace {

constexpr size_t kRowsOfTwoTiles = 32;
// Elements of a packed block of rows for one step.
constexpr size_t kPackedStep = kRowsOfTwoTiles * kBfloat16TileTerms;

}  // namespace

size_t PackedBfloat16Elements(const Bfloat16Strips& strips, size_t rows) {
  return (rows + kRowsOfTwoTiles - 1) / kRowsOfTwoTiles * strips.steps() * kPackedStep;
}

#if defined(__x86_64__)

namespace {

// What weights may take of a second-level cache.
constexpr size_t kSmallWeights = 256 * 1024;
constexpr size_t kCachedWeights = 768 * 1024;
// Blocks of rows that are multiplied by a strip of small weights before the next one.
constexpr size_t kBlocksTogether = 2;

// Weights that are needed soon, which are fetched into the second-level cache bit by bit.
class Ahead {
 public:
  // Spreads the bytes over so many steps.
  void Start(const char* from, size_t bytes, size_t steps) {
    next_ = from;
    end_ = from + bytes;
    each_ = RoundUp((bytes + steps - 1) / steps, kCacheLine);
  }
  TENON_TILES inline void Fetch() {
    const char* const until = std::min(next_ + each_, end_);
    for (; next_ < until; next_ += kCacheLine) __builtin_prefetch(next_, 0, 2);
  }

 private:
  const char *next_ = nullptr, *end_ = nullptr;
  size_t each_ = 0;
};

template <bool whole = false>
TENON_TILES inline __m512 LoadBfloat16(__mmask16 lanes, const uint16_t* x) {
  const __m256i bits = whole ? _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x))
                             : _mm256_maskz_loadu_epi16(lanes, x);
  const __m512i wide = _mm512_cvtepu16_epi32(bits);
  return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
}

// x / (1 + 2^t), with a relative error below 2^-12.
TENON_TILES inline __m512 OverOnePlusPower(__m512 x, __m512 t) {
  // If one is NaN, these return the second. Beyond the bounds, 2^t is infinite, or nothing next
  // to 1.
  t = _mm512_min_ps(_mm512_set1_ps(129), _mm512_max_ps(_mm512_set1_ps(-129), t));
  return _mm512_mul_ps(x, _mm512_rcp14_ps(_mm512_add_ps(PowerOf2(t), _mm512_set1_ps(1))));
}

// x / (1 + exp(-x))
TENON_TILES inline __m512 SwishOf(__m512 x) {
  return OverOnePlusPower(x, _mm512_mul_ps(x, _mm512_set1_ps(-kLog2OfE)));
}

// x / 2 (1 + tanh(u)) = x / (1 + exp(-2u)), u = sqrt(2 / pi) (x + 0.044715 x^3)
TENON_TILES inline __m512 GeluApproximateOf(__m512 x) {
  constexpr float kSlope = -2 * 0.797884561f * kLog2OfE;
  const __m512 square = _mm512_mul_ps(x, x);
  const __m512 slope =
      _mm512_fmadd_ps(square, _mm512_set1_ps(kSlope * 0.044715f), _mm512_set1_ps(kSlope));
  return OverOnePlusPower(x, _mm512_mul_ps(x, slope));
}

// x P(x), where P(x) is the integral of the normal distribution up to x. With t = 1 / (1 + c |x|),
// P(-|x|) = exp(-x^2 / 2) polynomial(t), with a relative error below 2^-13.
TENON_TILES inline __m512 GeluExactOf(__m512 x) {
  // From here on P(-|x|) is 0 (and not denormal), so that the result is NaN at -infinity.
  constexpr float kLast = 16;
  const __m512 one = _mm512_set1_ps(1);
  const __m512 size = _mm512_min_ps(_mm512_abs_ps(x), _mm512_set1_ps(kLast));
  // c = 0.54 / sqrt(2); a minimax fit, halved.
  const __m512 t = _mm512_rcp14_ps(_mm512_fmadd_ps(size, _mm512_set1_ps(0.381837662f), one));
  __m512 sum = _mm512_fmadd_ps(t, _mm512_set1_ps(-0.089399835f), _mm512_set1_ps(0.184261405f));
  sum = _mm512_fmadd_ps(t, sum, _mm512_set1_ps(0.09526743f));
  sum = _mm512_fmadd_ps(t, sum, _mm512_set1_ps(0.157830485f));
  sum = _mm512_fmadd_ps(t, sum, _mm512_set1_ps(0.152021065f));
  const __m512 square = _mm512_mul_ps(size, size);
  const __m512 power = PowerOf2(
      _mm512_max_ps(_mm512_mul_ps(square, _mm512_set1_ps(-0.5f * kLog2OfE)), _mm512_set1_ps(-160)));
  const __m512 below = _mm512_mul_ps(_mm512_mul_ps(power, t), sum);
  const __mmask16 positive = _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_GT_OQ);
  return _mm512_mul_ps(x, _mm512_mask_sub_ps(below, positive, one, below));
}

template <Bfloat16Last last>
TENON_TILES inline __m512 ApplyLast(__m512 x) {
  if constexpr (last == Bfloat16Last::kSwish) return SwishOf(x);
  if constexpr (last == Bfloat16Last::kGeluExact) return GeluExactOf(x);
  if constexpr (last == Bfloat16Last::kGeluApproximate) return GeluApproximateOf(x);
  // If one is NaN, these return the second.
  if constexpr (last == Bfloat16Last::kRelu || last == Bfloat16Last::kRelu6) {
    x = _mm512_max_ps(_mm512_setzero_ps(), x);
  }
  if constexpr (last == Bfloat16Last::kRelu6) x = _mm512_min_ps(_mm512_set1_ps(6), x);
  return x;
}

// A block's sums that are finished while tiles multiply the next ones.
struct Pending;
using FinishFn = void (*)(const Bfloat16Product& p, size_t count, Pending& pending);
struct Pending {
  FinishFn finish = nullptr;
  const float* sums = nullptr;
  size_t row = 0, rows = 0;  // the next one, of p.rows, and how many are left
  size_t column = 0;
};

// `whole`: the strip has all its columns, so that no lanes are masked.
template <bool add, Bfloat16Last last, bool whole>
TENON_TILES void FinishRows(const Bfloat16Product& p, size_t count, Pending& pending) {
  const size_t width = p.strips.columns, column = pending.column;
  const size_t columns = whole ? kBfloat16TileColumns : width - column;
  const __mmask16 low = FirstLanes(columns);
  const __mmask16 high = FirstLanes(columns - std::min(columns, kHalfStrip));
  const size_t n = std::min(count, pending.rows), first = pending.row;
  const float* sums = pending.sums;
  const int32_t* const out_rows = p.out_rows == nullptr ? nullptr : p.out_rows + first;
  uint16_t* const out = p.out + column;
  const uint16_t* const addend = add ? p.finish.addend + column : nullptr;
  const size_t out_first = p.out_first + first;
  for (size_t i = 0; i < n; ++i, sums += kBfloat16TileColumns) {
    size_t row = out_first + i;
    if (out_rows != nullptr) {
      if (out_rows[i] < 0) continue;
      row = static_cast<size_t>(out_rows[i]);
    }
    const size_t at = row * width;
    __m512 x[2] = {_mm512_loadu_ps(sums), _mm512_loadu_ps(sums + kHalfStrip)};
    if constexpr (add) {
      x[0] = _mm512_add_ps(x[0], LoadBfloat16<whole>(low, addend + at));
      x[1] = _mm512_add_ps(x[1], LoadBfloat16<whole>(high, addend + at + kHalfStrip));
    }
#pragma GCC unroll 2
    for (__m512& half : x) half = ApplyLast<last>(half);
    const auto rounded = _mm512_cvtne2ps_pbh(x[1], x[0]);
    const __m512i bits = reinterpret_cast<const __m512i&>(rounded);
    if constexpr (whole) {
      _mm512_storeu_si512(out + at, bits);
    } else {
      _mm512_mask_storeu_epi16(out + at, static_cast<__mmask32>(uint32_t{high} << 16 | low), bits);
    }
  }
  pending.sums = sums;
  pending.row = first + n;
  pending.rows -= n;
}

template <bool add, bool whole>
FinishFn FindFinish(const Bfloat16Finish& f) {
  using Last = Bfloat16Last;
  switch (f.last) {
    case Last::kNothing:
      return FinishRows<add, Last::kNothing, whole>;
    case Last::kRelu:
      return FinishRows<add, Last::kRelu, whole>;
    case Last::kRelu6:
      return FinishRows<add, Last::kRelu6, whole>;
    case Last::kSwish:
      return FinishRows<add, Last::kSwish, whole>;
    case Last::kGeluExact:
      return FinishRows<add, Last::kGeluExact, whole>;
    case Last::kGeluApproximate:
      return FinishRows<add, Last::kGeluApproximate, whole>;
  }
  return nullptr;
}
template <bool whole>
FinishFn FindFinish(const Bfloat16Finish& f) {
  return f.addend != nullptr ? FindFinish<true, whole>(f) : FindFinish<false, whole>(f);
}

// Up to 32 rows by a strip of columns.
struct Block {
  const uint16_t* a;
  size_t a_row;
  const uint16_t* w;
  const float* bias;               // of the strip
  float* sums;                     // [rows][kBfloat16TileColumns]
  size_t first_rows, second_rows;  // of its two tiles
};

// After each step, finishes some rows of the block before.
template <size_t row_tiles, size_t column_tiles>
TENON_TILES void MultiplyBlock(const Bfloat16Product& p, absl::Span<const size_t> offsets,
                               const Block& b, Ahead& ahead, Pending& pending) {
  constexpr size_t kRowBytes = kBfloat16TileColumns * sizeof(float);
  constexpr bool kRows = row_tiles == 2, kColumns = column_tiles == 2;
  const size_t a_bytes = b.a_row * sizeof(uint16_t), second = b.first_rows * b.a_row;
  const size_t each = (pending.rows + offsets.size() - 1) / offsets.size();
  float* const second_sums = b.sums + b.first_rows * kBfloat16TileColumns;
  CompilerBarrier();
  // All rows begin with the bias.
  _tile_loadd(0, b.bias, 0);
  if constexpr (kColumns) _tile_loadd(1, b.bias + kHalfStrip, 0);
  if constexpr (kRows) _tile_loadd(2, b.bias, 0);
  if constexpr (kRows && kColumns) _tile_loadd(3, b.bias + kHalfStrip, 0);
  const uint16_t* w = b.w;
  for (const size_t offset : offsets) {
    const uint16_t* const a = b.a + offset;
    _tile_loadd(6, w, kCacheLine);
    _tile_loadd(4, a, a_bytes);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (kColumns) {
      _tile_loadd(7, w + kWeightTile, kCacheLine);
      _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (kRows) {
      _tile_loadd(5, a + second, a_bytes);
      _tile_dpbf16ps(2, 5, 6);
    }
    if constexpr (kRows && kColumns) _tile_dpbf16ps(3, 5, 7);
    if (pending.rows > 0) pending.finish(p, each, pending);
    ahead.Fetch();
    w += kStepElements;
  }
  _tile_stored(0, b.sums, kRowBytes);
  if constexpr (kColumns) _tile_stored(1, b.sums + kHalfStrip, kRowBytes);
  if constexpr (kRows) _tile_stored(2, second_sums, kRowBytes);
  if constexpr (kRows && kColumns) _tile_stored(3, second_sums + kHalfStrip, kRowBytes);
  CompilerBarrier();
}

// A single row, in vectors: to load a tile takes as long as to multiply it by 16 rows.
template <size_t column_tiles>
TENON_TILES void MultiplyRow(const Bfloat16Product& p, absl::Span<const size_t> offsets,
                             const Block& b, Ahead& ahead, Pending& pending) {
  constexpr size_t kPairs = kBfloat16TileTerms / 2, kChains = 4;
  __m512 sums[kChains][column_tiles];
#pragma GCC unroll 4
  for (size_t i = 0; i < kChains; ++i) {
    for (size_t j = 0; j < column_tiles; ++j) {
      sums[i][j] = i == 0 ? _mm512_load_ps(b.bias + j * kHalfStrip) : _mm512_setzero_ps();
    }
  }
  if (pending.rows > 0) pending.finish(p, pending.rows, pending);
  const uint16_t* w = b.w;
  for (const size_t offset : offsets) {
    const uint16_t* const a = b.a + offset;
#pragma GCC unroll 16
    for (size_t i = 0; i < kPairs; ++i) {
      int pair;
      std::memcpy(&pair, a + 2 * i, sizeof pair);
      const __m512i pairs = _mm512_set1_epi32(pair);
#pragma GCC unroll 2
      for (size_t j = 0; j < column_tiles; ++j) {
        __m512& sum = sums[i % kChains][j];
        const __m512i weights = _mm512_load_si512(w + j * kWeightTile + i * 2 * kHalfStrip);
        sum = _mm512_dpbf16_ps(sum, reinterpret_cast<const __m512bh&>(pairs),
                               reinterpret_cast<const __m512bh&>(weights));
      }
    }
    ahead.Fetch();
    w += kStepElements;
  }
  for (size_t j = 0; j < column_tiles; ++j) {
    _mm512_store_ps(b.sums + j * kHalfStrip, _mm512_add_ps(_mm512_add_ps(sums[0][j], sums[1][j]),
                                                           _mm512_add_ps(sums[2][j], sums[3][j])));
  }
}

// [step][row][term], filled up with zeros.
TENON_TILES void PackRows(const Bfloat16Product& p, size_t first, size_t rows, uint16_t* to) {
  const size_t steps = p.strips.steps();
  const size_t last = p.strips.channels - (steps - 1) * kBfloat16TileTerms;
  const auto lanes = static_cast<__mmask32>((uint64_t{1} << last) - 1);
  for (size_t i = 0; i < rows; ++i) {
    const uint16_t* const row =
        p.a + (p.a_rows == nullptr ? (first + i) * p.a_row : p.a_rows[first + i]);
    uint16_t* at = to + i * kBfloat16TileTerms;
    for (size_t k = 0; k + 1 < steps; ++k, at += kPackedStep) {
      _mm512_store_si512(at, _mm512_loadu_si512(row + k * kBfloat16TileTerms));
    }
    const uint16_t* const rest = row + (steps - 1) * kBfloat16TileTerms;
    _mm512_store_si512(at, _mm512_maskz_loadu_epi16(lanes, rest));
  }
}

class Multiplier {
 public:
  explicit Multiplier(const Bfloat16Product& p)
      : p_(p),
        blocks_((p.rows + kRowsOfTwoTiles - 1) / kRowsOfTwoTiles),
        strip_bytes_(p.strips.strip_bytes()) {
    for (size_t k = 0; k < p.strips.steps(); ++k) {
      for (size_t t = 0; t < p.strips.taps; ++t) {
        offsets_.push_back(p.packed == nullptr ? p.taps[t] + k * kBfloat16TileTerms
                                               : k * kPackedStep);
      }
    }
  }

  TENON_TILES void Run() {
    const size_t strips = p_.end_strip - p_.first_strip;
    const size_t groups = (blocks_ + kBlocksTogether - 1) / kBlocksTogether;
    // Small weights stay in the cache, so that a group of rows is finished before the next one;
    // large ones are read once.
    const bool by_rows = strips * strip_bytes_ <= kSmallWeights;
    // A single row takes as long as it takes to load the weights, which may still be in the cache.
    const bool in_cache = p_.only_row && strips * strip_bytes_ <= kCachedWeights;
    for (size_t i = 0; i < groups * strips; ++i) {
      const size_t group = by_rows ? i / strips : i % groups;
      const size_t strip = p_.first_strip + (by_rows ? i % strips : i / groups);
      if (strip + 1 < p_.end_strip && group == 0 && !in_cache) {
        ahead_.Start(p_.weights + (strip + 1) * strip_bytes_, strip_bytes_,
                     offsets_.size() * (by_rows ? std::min(blocks_, kBlocksTogether) : blocks_));
      }
      RunGroup(group * kBlocksTogether, std::min(blocks_, (group + 1) * kBlocksTogether), strip,
               by_rows);
    }
    pending_.finish(p_, pending_.rows, pending_);
  }

 private:
  TENON_TILES void RunGroup(size_t first_block, size_t end_block, size_t strip, bool by_rows) {
    const size_t column = strip * kBfloat16TileColumns, columns = p_.strips.columns - column;
    alignas(kCacheLine) float bias[kBfloat16TileColumns] = {};
    if (p_.finish.bias != nullptr) {
      const uint16_t* const from = p_.finish.bias + column;
      _mm512_store_ps(bias, LoadBfloat16(FirstLanes(columns), from));
      _mm512_store_ps(
          bias + kHalfStrip,
          LoadBfloat16(FirstLanes(columns - std::min(columns, kHalfStrip)), from + kHalfStrip));
    }
    const bool two = columns > kHalfStrip, whole = columns >= kBfloat16TileColumns;
    const size_t packed_block = p_.strips.steps() * kPackedStep;
    for (size_t i = first_block; i < end_block; ++i) {
      const size_t first = i * kRowsOfTwoTiles;
      const size_t rows = std::min(kRowsOfTwoTiles, p_.rows - first);
      const bool one = rows <= TileConfig::kRows;
      Block block;
      block.a = p_.a + first * p_.a_row;
      block.a_row = p_.a_row;
      if (p_.packed != nullptr) {
        uint16_t* const to = p_.packed + (by_rows ? i - first_block : i) * packed_block;
        if (strip == p_.first_strip) PackRows(p_, first, rows, to);
        block.a = to;
        block.a_row = kBfloat16TileTerms;
      }
      block.w = reinterpret_cast<const uint16_t*>(p_.weights + strip * strip_bytes_);
      block.bias = bias;
      block.sums = sums_[turn_++ % std::size(sums_)];
      block.first_rows = std::min(rows, TileConfig::kRows);
      block.second_rows = rows - block.first_rows;
      config_.SetRows(block.first_rows, std::max<size_t>(block.second_rows, 1));
      const auto multiply = p_.only_row ? (two ? MultiplyRow<2> : MultiplyRow<1>)
                            : one       ? (two ? MultiplyBlock<1, 2> : MultiplyBlock<1, 1>)
                                        : (two ? MultiplyBlock<2, 2> : MultiplyBlock<2, 1>);
      multiply(p_, offsets_, block, ahead_, pending_);
      pending_ = {whole ? FindFinish<true>(p_.finish) : FindFinish<false>(p_.finish), block.sums,
                  first, rows, column};
    }
  }

  const Bfloat16Product& p_;
  const size_t blocks_, strip_bytes_;
  absl::InlinedVector<size_t, 64> offsets_;
  TileConfig config_;
  Ahead ahead_;
  Pending pending_;
  // Of the block that is multiplied and the one that is finished meanwhile, in turn.
  size_t turn_ = 0;
  alignas(kCacheLine) float sums_[2][kRowsOfTwoTiles * kBfloat16TileColumns];
};

}  // namespace

void MultiplyBfloat16Tiles(const Bfloat16Product& p) {
  if (p.rows > 0 && p.first_strip < p.end_strip) Multiplier(p).Run();
}

#else

void MultiplyBfloat16Tiles(const Bfloat16Product&) {}

#endif

}  // namespace tenon
