#include "kernels/convolution/conv_small_groups.h"

#include <utility>

#include "absl/container/inlined_vector.h"
#include "env/status.h"
#include "kernels/contraction/contraction.h"
#include "kernels/contraction/packed_weights.h"
#include "kernels/contraction/tile_chain.h"
#include "kernels/convolution/conv.h"
#include "kernels/convolution/small_groups_simd.h"
#include "kernels/convolution/window_spans.h"
#include "kernels/interface/parallel.h"

namespace tenon {
namespace {

// Of a sum with one accumulator.
constexpr int64_t kMostTerms = 512;

class SmallGroupsKernel final : public Kernel {
 public:
  SmallGroupsKernel(const PrepareContext& p, const ConvGeometry& g, const FusedOps& fused,
                    const SmallGroupsLoops& loops, std::shared_ptr<const PackedWeights> filter)
      : height_(g, 0),
        width_(g, 1),
        lines_(g.batch * g.out[0]),
        channels_(g.in_channels),
        group_(g.in_per_group()),
        loops_(loops),
        filter_(std::move(filter)),
        chain_(p, fused, static_cast<size_t>(g.out_channels)),
        threads_(ThreadsWorth(p.services().threads, g.flops(), filter_->bytes())),
        flops_(g.flops()) {}

  absl::Status Run(RunContext& r) const override {
    ParallelTasks(threads_, lines_, [&](int, int64_t line) {
      width_.ForParts([&](int64_t x, int64_t pixels) { ComputePixels(r, line, x, pixels); });
      chain_.Apply(r, {static_cast<size_t>(line * width_.out), static_cast<size_t>(width_.out), 0,
                       static_cast<size_t>(channels_)});
    });
    chain_.Finish(r);
    return absl::OkStatus();
  }
  std::string Implementation() const override { return "small groups"; }
  double Flops() const override { return flops_; }

 private:
  // Pixels with the same taps.
  void ComputePixels(RunContext& r, int64_t line, int64_t x, int64_t pixels) const {
    absl::InlinedVector<GroupTap, 32> taps;
    const int64_t first_row = line / height_.out * height_.in, y = line % height_.out;
    const TapRange down = height_.Taps(y), across = width_.Taps(x);
    for (int64_t dy = down.first; dy < down.last; ++dy) {
      for (int64_t dx = across.first; dx < across.last; ++dx) {
        const int64_t pixel =
            (first_row + height_.Source(y, dy)) * width_.in + width_.Source(x, dx);
        taps.push_back({static_cast<size_t>(pixel * channels_),
                        static_cast<size_t>((dy * width_.window + dx) * group_)});
      }
    }
    SmallGroups s;
    s.image = r.input<float>(0);
    s.image_step = static_cast<size_t>(width_.stride * channels_);
    s.taps = taps.data();
    s.num_taps = taps.size();
    s.filter = static_cast<const float*>(filter_->data());
    s.filter_panel = static_cast<size_t>(height_.window * width_.window * group_) * loops_.lanes;
    s.pixels = static_cast<size_t>(pixels);
    s.channels = static_cast<size_t>(channels_);
    s.group = static_cast<size_t>(group_);
    s.out = r.output<float>(0) + (line * width_.out + x) * channels_;
    loops_.compute(s);
  }

  const WindowSpans height_, width_;
  const int64_t lines_, channels_, group_;
  const SmallGroupsLoops loops_;
  const std::shared_ptr<const PackedWeights> filter_;
  const TileChain chain_;
  const int threads_;
  const double flops_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> ConvSmallGroupsKernel(PrepareContext& p,
                                                              const ConvGeometry& g,
                                                              const FusedOps& fused) {
  const int64_t terms = g.window_positions() * g.in_per_group();
  const SmallGroupsLoops loops = FindSmallGroupsLoops();
  if (p.constant(1) == nullptr || p.output_dtype(0) != DType::kFloat || !g.attrs.channels_last ||
      g.attrs.spatial != 2 || g.depthwise || g.groups == 1 || g.in_channels != g.out_channels ||
      !IsSmallGroup(static_cast<size_t>(g.in_per_group())) || terms > kMostTerms) {
    return Unimplemented("not small groups with a constant filter");
  }
  TENON_ASSIGN_OR_RETURN(
      auto filter,
      PackConstant(*p.constant(1), FilterPanels(g, loops.lanes, p.services().threads)));
  p.InputNotRead(1);
  return std::make_unique<SmallGroupsKernel>(p, g, fused, loops, std::move(filter));
}

}  // namespace tenon
