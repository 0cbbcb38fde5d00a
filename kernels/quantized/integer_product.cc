#include "kernels/quantized/integer_product.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "env/status.h"
#include "kernels/contraction/packed_weights.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/round_up.h"
#include "kernels/interface/types.h"
#include "kernels/quantized/vector_epilogue.h"
#include "primitive_cache/isa.h"

namespace tenon {
namespace {

// Of the left side, which is read once for each panel.
constexpr size_t kStripBytes = 128 * 1024;
constexpr size_t kMostTiles = 16;  // of a strip
constexpr size_t kWordBytes = 4;
constexpr double kBytesPerNs = 8;  // assumed speed of one thread, for the grain

class IntegerProductKernel final : public Kernel {
 public:
  IntegerProductKernel(PrepareContext& p, IntegerProduct product, const IntegerLoops& loops,
                       LeftNumbers numbers, std::shared_ptr<const PackedWeights> weights)
      : product_(std::move(product)),
        m_(product_.matrix),
        loops_(loops),
        weights_(std::move(weights)),
        numbers_(numbers),
        epilogue_(p, product_.fusion, product_.min_first, product_.weight_sums),
        left_row_(m_.words() * kWordBytes),
        threads_(p.services().threads) {
    direct_ = product_.source == nullptr && numbers_.flip == 0 && loops_.left_bytes == 1 &&
              m_.terms % m_.word_terms == 0;
    const size_t tile = loops_.most_rows;
    tiles_ = std::clamp<size_t>(kStripBytes / left_row_ / tile, 1, kMostTiles);
    tiles_ = std::min(tiles_, (product_.rows + tile - 1) / tile);
    strips_ = (product_.rows + tiles_ * tile - 1) / (tiles_ * tile);
    // -zero times the column's sum, which each sum begins with.
    const auto* sums = reinterpret_cast<const int32_t*>(data() + m_.sums_at());
    start_.assign(sums, sums + m_.groups * m_.panels() * m_.width);
    for (int32_t& s : start_) s = WrapMul(-int32_t{numbers_.zero}, s);
    const auto rows = static_cast<double>(std::min(tile, product_.rows) * m_.width);
    const double terms = rows * static_cast<double>(m_.words() * m_.word_terms);
    const double ns = std::max(static_cast<double>(m_.panel_bytes()) / kBytesPerNs,
                               terms / static_cast<double>(loops_.lanes * m_.word_terms)) +
                      rows / 8;
    grain_ = ParallelGrain(ns);
    left_bytes_ = direct_ ? 0 : RoundUp(tiles_ * tile * left_row_, kCacheLine);
    range_bytes_ = left_bytes_ + RoundUp(tile * m_.width * sizeof(int32_t), kCacheLine);
  }

  absl::Status Prepare(PrepareContext& p) {
    p.RequestScratch(range_bytes_ * static_cast<size_t>(ParallelRanges(threads_, units(), grain_)));
    return epilogue_.Prepare(p);
  }

  absl::Status Run(RunContext& r) const override {
    const auto values = epilogue_.Begin(r);
    ParallelForRanges(threads_, units(), grain_, [&](int range, int64_t begin, int64_t end) {
      RunUnits(r, *values, static_cast<size_t>(begin), static_cast<size_t>(end),
               static_cast<char*>(r.scratch()) + static_cast<size_t>(range) * range_bytes_);
    });
    return absl::OkStatus();
  }
  std::string Implementation() const override {
    return absl::StrCat("integers:", VectorTargetName(), m_.word_terms == 4 ? "_vnni" : "");
  }
  double Flops() const override { return product_.flops; }

 private:
  const int8_t* data() const { return static_cast<const int8_t*>(weights_->data()); }
  // A unit is a tile of a panel; those of a strip of rows and a group are adjacent.
  int64_t units() const {
    const size_t tiles = (product_.rows + loops_.most_rows - 1) / loops_.most_rows;
    return static_cast<int64_t>(m_.groups * m_.panels() * tiles);
  }

  void RunUnits(RunContext& r, const VectorEpilogue::Values& values, size_t begin, size_t end,
                char* scratch) const {
    const size_t tile = loops_.most_rows, panels = m_.panels();
    const size_t all_tiles = (product_.rows + tile - 1) / tile;
    const size_t of_group = panels * all_tiles;
    for (size_t u = begin; u < end;) {
      const size_t group = u / of_group;
      const size_t strip = u % of_group / (panels * tiles_);
      const size_t first_tile = strip * tiles_;
      const size_t tiles = std::min(tiles_, all_tiles - first_tile);
      const size_t first = group * of_group + panels * first_tile;  // unit
      const size_t last = std::min(end, first + panels * tiles);
      const size_t row = first_tile * tile, rows = std::min(tiles * tile, product_.rows - row);
      const char* const left = LeftSide(r, group, row, rows, scratch);
      for (; u < last; ++u) {
        const size_t panel = (u - first) / tiles, own_tile = (u - first) % tiles;
        RunTile(r, values, group, panel, left, row, own_tile * tile,
                std::min(tile, rows - own_tile * tile), scratch + left_bytes_);
      }
    }
  }

  const char* LeftSide(RunContext& r, size_t group, size_t row, size_t rows, char* to) const {
    const auto* data = r.input<uint8_t>(0);
    if (direct_) return reinterpret_cast<const char*>(data + row * m_.terms);
    if (m_.terms % m_.word_terms != 0) {
      for (size_t i = 1; i <= rows; ++i)
        std::memset(to + i * left_row_ - kWordBytes, 0, kWordBytes);
    }
    if (product_.source != nullptr) {
      product_.source->Copy(loops_, data, group, row, rows, numbers_, to, left_row_);
    } else {
      for (size_t i = 0; i < rows; ++i) {
        loops_.widen(data + (row + i) * m_.terms, m_.terms, numbers_.flip, to + i * left_row_);
      }
    }
    return to;
  }

  // The rows [own, own + rows) of a strip that begins at `row`.
  void RunTile(RunContext& r, const VectorEpilogue::Values& values, size_t group, size_t panel,
               const char* left, size_t row, size_t own, size_t rows, char* scratch) const {
    const size_t of_all = group * m_.panels() + panel, column = panel * m_.width;
    const size_t columns = std::min(m_.width, m_.columns - column);
    auto* const sums = reinterpret_cast<int32_t*>(scratch);
    IntegerTile t;
    t.left = left + own * left_row_;
    t.left_row = left_row_;
    t.right = data() + of_all * m_.panel_bytes();
    t.words = m_.words();
    t.start = start_.data() + of_all * m_.width;
    t.sums = sums;
    t.sums_row = m_.width;
    loops_.multiply[rows - 1][(columns + loops_.lanes - 1) / loops_.lanes - 1](t);
    epilogue_.Apply(r, values,
                    {sums, m_.width, row + own, rows, group * m_.columns + column, columns});
  }

  const IntegerProduct product_;
  const IntegerMatrix& m_;
  const IntegerLoops& loops_;
  const std::shared_ptr<const PackedWeights> weights_;
  const LeftNumbers numbers_;
  VectorEpilogue epilogue_;
  const size_t left_row_;  // bytes
  const int threads_;
  bool direct_ = false;            // the left side is read where it lies
  size_t tiles_ = 1, strips_ = 1;  // of a strip; of rows
  std::vector<int32_t> start_;
  int64_t grain_ = 1;
  size_t left_bytes_ = 0, range_bytes_ = 0;  // scratch memory of a range
};

}  // namespace

absl::StatusOr<LeftNumbers> LeftNumbersOf(const PrepareContext& p, const QuantizedFusion& fusion) {
  const bool is_signed = p.input_dtype(0) == DType::kQint8;
  LeftNumbers numbers;
  numbers.flip = is_signed ? 128 : 0;
  const int32_t zero = WrapAdd(fusion.data_zero, int32_t{numbers.flip});
  if (zero < 0 || zero > 255) return Unimplemented("a zero point that is no value of the data");
  numbers.zero = static_cast<uint8_t>(zero);
  return numbers;
}

absl::StatusOr<std::unique_ptr<Kernel>> PrepareIntegerProduct(PrepareContext& p,
                                                              IntegerProduct product) {
  Constant* const weights = p.constant(1);
  if (weights == nullptr || p.input_dtype(1) != DType::kQint8) {
    return Unimplemented("weights that are no qint8 constant");
  }
  if (p.input_shape(0).num_elements() == 0 || p.input_shape(1).num_elements() == 0 ||
      p.output_shape(0).num_elements() == 0) {
    return Unimplemented("empty");
  }
  TENON_RETURN_IF_ERROR(VectorEpilogue::CanApply(p, product.fusion));
  TENON_ASSIGN_OR_RETURN(const LeftNumbers numbers, LeftNumbersOf(p, product.fusion));
  const IntegerLoops& loops = FindIntegerLoops(HasAvx512Vnni());
  product.matrix.width = loops.columns();
  product.matrix.word_terms = loops.word_terms;
  TENON_ASSIGN_OR_RETURN(
      auto packed, PackConstant(*weights, IntegerPanels(product.matrix, p.services().threads)));
  p.InputNotRead(1);
  auto kernel = std::make_unique<IntegerProductKernel>(p, std::move(product), loops, numbers,
                                                       std::move(packed));
  TENON_RETURN_IF_ERROR(kernel->Prepare(p));
  return kernel;
}

}  // namespace tenon
