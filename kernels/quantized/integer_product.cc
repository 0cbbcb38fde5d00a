#include "kernels/quantized/integer_product.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "env/round_up.h"
#include "env/status.h"
#include "kernels/contraction/packed_weights.h"
#include "kernels/contraction/strips.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "kernels/quantized/vector_epilogue.h"
#include "primitive_cache/isa.h"

namespace tenon {
namespace {

constexpr size_t kWordBytes = 4;

class IntegerProductKernel final : public Kernel {
 public:
  IntegerProductKernel(PrepareContext& p, IntegerProduct product, const NarrowLoops& loops,
                       LeftNumbers numbers, std::shared_ptr<const PackedWeights> weights)
      : product_(std::move(product)),
        m_(product_.matrix),
        loops_(loops),
        weights_(std::move(weights)),
        numbers_(numbers),
        epilogue_(p, product_.fusion, product_.min_first, product_.weight_sums),
        left_row_(m_.words() * kWordBytes),
        strips_(m_.groups, m_.panels(), product_.rows, loops.most_rows, left_row_),
        threads_(p.services().threads),
        direct_(product_.source == nullptr && numbers_.flip == 0 && loops_.left_bytes == 1 &&
                m_.terms % m_.word_terms == 0) {
    // -zero times the column's sum, which each sum begins with.
    const auto* sums = reinterpret_cast<const int32_t*>(data() + m_.sums_at());
    start_.assign(sums, sums + m_.groups * m_.panels() * m_.width);
    for (int32_t& s : start_) s = WrapMul(-int32_t{numbers_.zero}, s);
    const auto results = static_cast<double>(std::min(strips_.tile, product_.rows) * m_.width);
    const double terms = results * static_cast<double>(m_.words() * m_.word_terms);
    const double ns = std::max(static_cast<double>(m_.panel_bytes()) / kBytesPerNs,
                               terms / static_cast<double>(loops_.lanes * m_.word_terms)) +
                      results / 8;
    grain_ = ParallelGrain(ns);
    left_bytes_ = direct_ ? 0 : RoundUp(strips_.tiles * strips_.tile * left_row_, kCacheLine);
    range_bytes_ = left_bytes_ + RoundUp(strips_.tile * m_.width * sizeof(int32_t), kCacheLine);
  }

  absl::Status Prepare(PrepareContext& p) {
    const int ranges = ParallelRanges(threads_, strips_.units(), grain_);
    p.RequestScratch(range_bytes_ * static_cast<size_t>(ranges));
    return epilogue_.Prepare(p);
  }

  absl::Status Run(RunContext& r) const override {
    const auto values = epilogue_.Begin(r);
    ParallelForRanges(
        threads_, strips_.units(), grain_, [&](int range, int64_t begin, int64_t end) {
          char* const scratch =
              static_cast<char*>(r.scratch()) + static_cast<size_t>(range) * range_bytes_;
          strips_.Run(
              static_cast<size_t>(begin), static_cast<size_t>(end),
              [&](const Strips::Strip& strip) { return LeftSide(r, strip, scratch); },
              [&](const Strips::Strip& strip, const Strips::Tile& tile, const char* left) {
                RunTile(r, *values, strip, tile, left, scratch + left_bytes_);
              });
        });
    return absl::OkStatus();
  }
  std::string Implementation() const override {
    return IntegersImplementation(m_.word_terms == 4 ? NarrowForm::kIntegersVnni
                                                     : NarrowForm::kIntegers);
  }
  double Flops() const override { return product_.flops; }

 private:
  const char* data() const { return static_cast<const char*>(weights_->data()); }

  const char* LeftSide(RunContext& r, const Strips::Strip& strip, char* to) const {
    const auto* data = r.input<uint8_t>(0);
    if (direct_) return reinterpret_cast<const char*>(data + strip.row * m_.terms);
    if (m_.terms % m_.word_terms != 0) {
      for (size_t i = 1; i <= strip.rows; ++i) {
        std::memset(to + i * left_row_ - kWordBytes, 0, kWordBytes);
      }
    }
    if (product_.source != nullptr) {
      product_.source->Copy(loops_, data, strip.group, strip.row, strip.rows, numbers_, to,
                            left_row_);
    } else {
      for (size_t i = 0; i < strip.rows; ++i) {
        loops_.widen(data + (strip.row + i) * m_.terms, m_.terms, numbers_.flip,
                     to + i * left_row_);
      }
    }
    return to;
  }

  void RunTile(RunContext& r, const VectorEpilogue::Values& values, const Strips::Strip& strip,
               const Strips::Tile& tile, const char* left, char* scratch) const {
    const size_t panel = strip.group * m_.panels() + tile.panel, column = tile.panel * m_.width;
    const size_t columns = std::min(m_.width, m_.columns - column);
    NarrowTile t;
    t.left = left + tile.row * left_row_;
    t.left_row = left_row_;
    t.right = data() + panel * m_.panel_bytes();
    t.words = m_.words();
    t.start = start_.data() + panel * m_.width;
    t.sums = reinterpret_cast<int32_t*>(scratch);
    t.sums_row = m_.width;
    loops_.multiply[tile.rows - 1][(columns + loops_.lanes - 1) / loops_.lanes - 1](t);
    epilogue_.Apply(r, values,
                    {t.sums, m_.width, strip.row + tile.row, tile.rows,
                     strip.group * m_.columns + column, columns});
  }

  const IntegerProduct product_;
  const NarrowMatrix& m_;
  const NarrowLoops& loops_;
  const std::shared_ptr<const PackedWeights> weights_;
  const LeftNumbers numbers_;
  VectorEpilogue epilogue_;
  const size_t left_row_;  // bytes
  const Strips strips_;
  const int threads_;
  const bool direct_;  // the left side is read where it lies
  std::vector<int32_t> start_;
  int64_t grain_ = 1;
  size_t left_bytes_ = 0, range_bytes_ = 0;  // scratch memory of a range
};

}  // namespace

NarrowForm IntegerForm() {
  const bool vnni = HasAvx512Vnni() && FindNarrowLoops(NarrowForm::kIntegersVnni) != nullptr;
  return vnni ? NarrowForm::kIntegersVnni : NarrowForm::kIntegers;
}

std::string IntegersImplementation(NarrowForm form) {
  return absl::StrCat("integers:", VectorTargetName(),
                      form == NarrowForm::kIntegersVnni ? "_vnni" : "");
}

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
  const NarrowLoops& loops = *FindNarrowLoops(IntegerForm());
  product.matrix.width = loops.columns();
  product.matrix.word_terms = loops.word_terms;
  TENON_ASSIGN_OR_RETURN(
      auto packed, PackConstant(*weights, NarrowPanels(product.matrix, p.services().threads)));
  p.InputNotRead(1);
  auto kernel = std::make_unique<IntegerProductKernel>(p, std::move(product), loops, numbers,
                                                       std::move(packed));
  TENON_RETURN_IF_ERROR(kernel->Prepare(p));
  return kernel;
}

}  // namespace tenon
