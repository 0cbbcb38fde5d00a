#include "kernels/convolution/conv_winograd.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "env/flags.h"
#include "env/status.h"
#include "kernels/contraction/contraction.h"
#include "kernels/contraction/packed_weights.h"
#include "kernels/contraction/register_chain.h"
#include "kernels/contraction/tile_step.h"
#include "kernels/convolution/winograd.h"
#include "kernels/convolution/winograd_volume.h"
#include "kernels/matmul/tile_product.h"
#include "primitive_cache/isa.h"

namespace tenon {
namespace {

// The spatial dimension that is the height; the width follows.
size_t Row(const ConvGeometry& g) { return static_cast<size_t>(g.attrs.spatial) - 2; }

bool Fits(const PrepareContext& p, const ConvGeometry& g) {
  return MayUseWinograd(p) &&
         (p.output_dtype(0) == DType::kFloat || p.output_dtype(0) == DType::kBfloat16) &&
         (g.attrs.spatial == 2 || g.attrs.spatial == 3) && g.attrs.channels_last && g.groups == 1 &&
         !g.depthwise && All(g.attrs.strides, 1) && g.window[Row(g)] == 3 &&
         g.window[Row(g) + 1] == 3 &&
         (g.attrs.spatial == 2 ||
          (g.window[0] <= WinogradVolumeShape::kMostPlanes && g.attrs.dilations[0] == 1));
}

// With fewer channels, direct convolution is as fast.
constexpr int64_t kLeastInputs = 8;

// The number of image elements that the windows along one dimension cover.
int64_t Taps(const ConvGeometry& g, size_t dim) {
  const int64_t step = g.attrs.dilations[dim];
  int64_t taps = 0;
  for (int64_t i = 0; i < g.out[dim]; ++i) {
    for (int64_t k = 0; k < g.window[dim]; ++k) {
      const int64_t at = i - g.pads_begin[dim] + k * step;
      taps += at >= 0 && at < g.in[dim] ? 1 : 0;
    }
  }
  return taps;
}

// The number of tiles of `m` outputs along one dimension; with a dilation, each phase has its own.
int64_t TilesAlong(const ConvGeometry& g, size_t dim, int64_t m) {
  const int64_t step = std::min(g.attrs.dilations[dim], g.out[dim]);
  int64_t tiles = 0;
  for (int64_t phase = 0; phase < step; ++phase) {
    tiles += ((g.out[dim] - phase + step - 1) / step + m - 1) / m;
  }
  return tiles;
}

// The tile with the lowest cost per pair of input and output channel, in multiply-adds; measured on
// Zen 4, with and without AVX-512. Larger tiles take fewer products but have larger filters, which
// are read from memory.
// `direct_speed`: how much faster direct convolutions multiply than Winograd's, which use vectors
// of floats.
std::optional<WinogradTile> ChooseTile(const ConvGeometry& g, double direct_speed) {
  if (g.in_channels < kLeastInputs) return std::nullopt;
  constexpr double kReading = 10;      // per weight
  constexpr int64_t kVector = 16;      // outputs come in vectors
  constexpr double kPartOfVector = 6;  // times as long
  const double inputs = static_cast<double>(g.in_channels);
  const double outputs = static_cast<double>((g.out_channels + kVector - 1) / kVector * kVector);
  const double slower = g.in_channels < kVector ? kPartOfVector : 1;
  const size_t row = Row(g);
  const bool volume = g.attrs.spatial == 3;
  const double window_planes = volume ? static_cast<double>(g.window[0]) : 1;
  const int64_t planes = volume ? g.out[0] : 1;
  const int64_t planes_seen = volume ? Taps(g, 0) : 1;  // by all windows
  // `from`, `to`: the cost of transforming a tile, per channel.
  auto cost = [&](int64_t m, double from, double to) {
    const int64_t plane = g.batch * TilesAlong(g, row, m) * TilesAlong(g, row + 1, m);
    const double tiles = static_cast<double>(plane * planes);
    const double products = static_cast<double>(plane * planes_seen);
    const double positions = static_cast<double>((m + 2) * (m + 2));
    return positions * (products + window_planes * kReading) +
           tiles * (slower * from / outputs + to / inputs);
  };
  const double direct =
      static_cast<double>(g.batch * planes_seen * Taps(g, row) * Taps(g, row + 1)) +
      9 * window_planes * kReading;
  const double small = cost(2, 150, 75), large = cost(4, 400, 200);
  if (direct / direct_speed <= std::min(small, large)) return std::nullopt;
  return large <= small ? WinogradTile::k4x4 : WinogradTile::k2x2;
}

std::shared_ptr<const WinogradConvolution> MakeWinograd(const ConvGeometry& g, WinogradTile tile,
                                                        WinogradElement element, int threads) {
  if (g.attrs.spatial == 2 && All(g.attrs.dilations, 1)) {
    WinogradShape shape;
    shape.batch = g.batch;
    shape.in_height = g.in[0];
    shape.in_width = g.in[1];
    shape.in_channels = g.in_channels;
    shape.out_height = g.out[0];
    shape.out_width = g.out[1];
    shape.out_channels = g.out_channels;
    shape.pad_top = g.pads_begin[0];
    shape.pad_left = g.pads_begin[1];
    shape.element = element;
    return std::make_shared<Winograd>(shape, tile, threads);
  }
  const size_t row = Row(g);
  WinogradVolumeShape shape;
  shape.batch = g.batch;
  shape.in_channels = g.in_channels;
  shape.out_channels = g.out_channels;
  shape.in = {1, g.in[row], g.in[row + 1]};
  shape.out = {1, g.out[row], g.out[row + 1]};
  shape.pads_begin = {0, g.pads_begin[row], g.pads_begin[row + 1]};
  if (g.attrs.spatial == 3) {
    shape.in[0] = g.in[0];
    shape.out[0] = g.out[0];
    shape.pads_begin[0] = g.pads_begin[0];
    shape.window_depth = g.window[0];
  }
  shape.dilation_height = g.attrs.dilations[row];
  shape.dilation_width = g.attrs.dilations[row + 1];
  shape.element = element;
  return std::make_shared<WinogradVolume>(shape, tile, threads);
}

// The transformed filter as a layout. It cannot be unpacked, because the transform rounds.
class TransformedFilter final : public PackedLayout {
 public:
  TransformedFilter(std::shared_ptr<const WinogradConvolution> winograd, DType plain,
                    int64_t elements)
      : winograd_(std::move(winograd)),
        plain_(plain),
        elements_(elements),
        key_(absl::StrCat(winograd_->filter_key(), Name(plain))) {}
  const std::string& key() const override { return key_; }
  size_t bytes() const override { return winograd_->filter_bytes(); }
  absl::Status Pack(const void* plain, void* packed) const override {
    std::vector<float> wide;
    if (plain_ == DType::kBfloat16) {
      wide.resize(static_cast<size_t>(elements_));
      WidenBfloat16(static_cast<const uint16_t*>(plain), wide.data(), wide.size());
      plain = wide.data();
    }
    winograd_->TransformFilter(static_cast<const float*>(plain), static_cast<float*>(packed));
    return absl::OkStatus();
  }
  bool can_unpack() const override { return false; }
  absl::Status Unpack(const void*, void*) const override {
    return Unimplemented("a transformed filter");
  }

 private:
  const std::shared_ptr<const WinogradConvolution> winograd_;
  const DType plain_;
  const int64_t elements_;
  const std::string key_;
};

// The part of the fused chain that is applied tile by tile: in registers, then steps in the cache.
struct Chain : RegisterChain {
  absl::InlinedVector<NodeTileStep, 4> steps;  // `count` includes them
};

Chain PlanChain(const PrepareContext& p, const FusedOps& fused) {
  Chain chain{PlanRegisterChain(p, fused), {}};
  for (size_t& i = chain.count; i < fused.size(); ++i) {
    const std::optional<NodeTileStep> step = TileStepOf(p, fused[i]);
    if (!step.has_value()) break;
    chain.steps.push_back(*step);
  }
  return chain;
}

class WinogradKernel final : public Kernel {
 public:
  WinogradKernel(std::shared_ptr<const WinogradConvolution> winograd,
                 std::shared_ptr<const PackedWeights> filter, Chain chain, FusedPass rest,
                 double flops)
      : winograd_(std::move(winograd)),
        filter_(std::move(filter)),
        chain_(std::move(chain)),
        rest_(std::move(rest)),
        flops_(flops) {}

  absl::Status Run(RunContext& r) const override {
    if (r.input(0) == r.output(0)) {
      return Internal("the output of a convolution overlaps its source");
    }
    WinogradFinish finish;
    if (chain_.bias >= 0) finish.bias = r.input(chain_.bias);
    if (chain_.addend >= 0) finish.addend = r.input(chain_.addend);
    finish.clamp_low = chain_.clamp_low;
    finish.clamp_high = chain_.clamp_high;
    absl::InlinedVector<TileStep, 4> steps;
    for (const NodeTileStep& s : chain_.steps) {
      steps.push_back(s.step);
      if (s.input >= 0) steps.back().operand = r.input<float>(s.input);
    }
    finish.steps = steps;
    winograd_->Run(r.input(0), static_cast<const float*>(filter_->data()), finish, r.output(0),
                   r.scratch());
    rest_.Run(r, r.output(0));
    return absl::OkStatus();
  }
  std::string Implementation() const override { return winograd_->Name(); }
  double Flops() const override { return flops_; }

 private:
  const std::shared_ptr<const WinogradConvolution> winograd_;
  const std::shared_ptr<const PackedWeights> filter_;
  const Chain chain_;
  const FusedPass rest_;
  const double flops_;
};

// Whether the output may overlap the addend: each of its elements is read just before it is
// written, and by nothing else.
bool OnlyAddend(const PrepareContext& p, const FusedOps& fused, int addend) {
  if (p.constant(addend) != nullptr) return false;
  for (const FusedOp& op : fused) {
    for (int i = op.input; op.input >= 0 && i < op.input + (op.batch_norm ? 4 : 1); ++i) {
      if (i != addend && SameInput(p, i, addend)) return false;
    }
  }
  return !SameInput(p, 0, addend) && !SameInput(p, 1, addend);
}

double DirectSpeed(const PrepareContext& p, const ConvGeometry& g) {
  if (p.output_dtype(0) == DType::kBfloat16) return Bfloat16Speed();
  // Of filters that are certain to be worth the tiles.
  constexpr double kFloatOnTiles = 1.2, kLeastFilter = 1 << 20;
  const Flags* flags = p.services().flags;
  const bool tiles = HasTileProducts() && (flags == nullptr ? Flags() : *flags).tiles != 0;
  return tiles && static_cast<double>(g.filter_elements()) >= kLeastFilter ? kFloatOnTiles : 1;
}

}  // namespace

bool MayUseWinograd(const PrepareContext& p) {
  const Flags* flags = p.services().flags;
  return (flags == nullptr || flags->winograd) && !StrictNan(p) && p.constant(1) != nullptr;
}

absl::StatusOr<std::unique_ptr<Kernel>> ConvWinogradKernel(PrepareContext& p, const ConvGeometry& g,
                                                           const FusedOps& fused) {
  if (!Fits(p, g)) return Unimplemented("not a convolution for Winograd's algorithm");
  const bool bfloat16 = p.output_dtype(0) == DType::kBfloat16;
  const std::optional<WinogradTile> tile = ChooseTile(g, DirectSpeed(p, g));
  if (!tile.has_value()) return Unimplemented("Winograd's algorithm is not faster");
  Chain chain = PlanChain(p, fused);
  if (bfloat16 && chain.count < fused.size()) return Unimplemented("rounding between fused ops");
  if (bfloat16 && !chain.steps.empty()) return Unimplemented("steps on bfloat16 tiles");

  const size_t filter_bytes = static_cast<size_t>(g.filter_elements()) * sizeof(float);
  const int threads = ThreadsWorth(p.services().threads, g.flops(), filter_bytes);
  const std::shared_ptr<const WinogradConvolution> winograd = MakeWinograd(
      g, *tile, bfloat16 ? WinogradElement::kBfloat16 : WinogradElement::kFloat, threads);
  TENON_ASSIGN_OR_RETURN(
      auto filter,
      PackConstant(*p.constant(1), std::make_shared<TransformedFilter>(winograd, p.input_dtype(1),
                                                                       g.filter_elements())));
  p.InputNotRead(1);
  p.RequestScratch(winograd->scratch_bytes());

  if (chain.addend >= 0 && OnlyAddend(p, fused, chain.addend)) p.AllowInPlace(chain.addend, 0);
  FusedPass rest(p, absl::MakeConstSpan(fused).subspan(chain.count), g.attrs.channel_axis());
  return std::make_unique<WinogradKernel>(winograd, std::move(filter), std::move(chain),
                                          std::move(rest), g.flops());
}

}  // namespace tenon
