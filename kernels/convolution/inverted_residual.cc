#include "kernels/convolution/inverted_residual.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "env/cpu.h"
#include "env/flags.h"
#include "env/round_up.h"
#include "env/status.h"
#include "kernels/convolution/conv.h"
#include "kernels/convolution/depthwise_floats.h"
#include "kernels/convolution/pointwise_rows.h"
#include "kernels/interface/parallel.h"
#include "kernels/matmul/tile_product.h"

namespace tenon {
namespace {

// Rows of a product that are worth a call.
constexpr int64_t kRowsOfCall = 96;
// What a thread computes, for the grain.
constexpr double kBlockFlopsPerNs = 50;
// So many parts need not be divisible by the number of threads.
constexpr int64_t kPartsOfThread = 6;

// What one of the stages runs with.
class StageRun {
 public:
  StageRun(const RunContext& r, const std::vector<int>& inputs) : output_(r.output(0)) {
    for (const int i : inputs) inputs_.push_back(i < 0 ? nullptr : r.input(i));
  }
  RunContext context() { return RunContext(inputs_.data(), &output_, nullptr); }

 private:
  absl::InlinedVector<const void*, 8> inputs_;
  void* output_;
};

// The lines that an output of the depthwise stage reads, with those that dilation skips.
int64_t SpanOf(const WindowSpans& height) { return (height.window - 1) * height.dilation + 1; }

// In how many parts of lines an image is computed; 0 if a quarter of the threads would wait. A part
// expands anew the last lines of the one before it: at most a quarter of its lines.
int64_t PartsOf(const WindowSpans& height, int64_t images, int64_t threads) {
  const int64_t again = std::max<int64_t>(SpanOf(height) - height.stride, 0);
  const int64_t most = std::max<int64_t>(height.out * height.stride / (4 * again + 1), 1);
  int64_t parts = std::min(most, threads);
  while (parts < most && images * parts % threads != 0 &&
         images * parts < kPartsOfThread * threads) {
    ++parts;
  }
  const int64_t turns = CeilDiv(images * parts, threads);
  return 4 * images * parts >= 3 * turns * threads ? parts : 0;
}

struct BlockParts {
  PointwiseRows expand;
  DepthwiseFloats depthwise;
  std::optional<PointwiseRows> project;
  ConvGeometry geometry;  // of the depthwise stage
  double flops = 0;
  int64_t parts = 1;  // of an image
};

class InvertedResidualImpl final : public Kernel {
 public:
  InvertedResidualImpl(const ConvStages& stages, BlockParts parts)
      : expand_inputs_(stages.expand.inputs),
        depthwise_inputs_(stages.depthwise.inputs),
        project_inputs_(stages.project.inputs),
        image_(parts.geometry.in[0] * parts.geometry.in[1]),
        pixels_(parts.geometry.in[1]),
        channels_(parts.geometry.in_channels),
        out_pixels_(parts.geometry.out[1]),
        expand_(std::move(parts.expand)),
        depthwise_(std::move(parts.depthwise)),
        project_(std::move(parts.project)),
        threads_(stages.depthwise.context->services().threads),
        flops_(parts.flops),
        in_channels_(stages.expand.context->input_shape(0).dims().back()),
        panel_(expand_.panel()) {
    const WindowSpans& height = depthwise_.height();
    group_ = std::clamp<int64_t>(CeilDiv(kRowsOfCall, pixels_), 1, height.in);
    kept_lines_ = RoundUp(SpanOf(height) + group_ - 1, group_);
    if (project_.has_value()) {
      lines_ = std::clamp<int64_t>(CeilDiv(kRowsOfCall, out_pixels_), 1, height.out);
    }
    parts_ = parts.parts;
    units_ = depthwise_.lines() / height.out * parts_;
    grain_ = ParallelGrain(flops_ / kBlockFlopsPerNs / static_cast<double>(units_));
    const int ranges = ParallelRanges(threads_, units_, grain_);
    stages.depthwise.context->RequestScratch(static_cast<size_t>(ranges) * own_floats() *
                                             sizeof(float));
  }

  absl::Status Run(RunContext& r) const override {
    ParallelForRanges(threads_, units_, grain_, [&](int range, int64_t begin, int64_t end) {
      float* const own =
          static_cast<float*>(r.scratch()) + static_cast<size_t>(range) * own_floats();
      for (int64_t u = begin; u < end; ++u) {
        const int64_t image = u / parts_, part = u % parts_, height = depthwise_.height().out;
        ComputePart(r, image * height + height * part / parts_,
                    image * height + height * (part + 1) / parts_, own);
      }
    });
    return absl::OkStatus();
  }
  std::string Implementation() const override { return "lines of a block"; }
  double Flops() const override { return flops_; }

 private:
  int64_t kept_floats() const { return kept_lines_ * pixels_ * channels_; }
  size_t own_floats() const {
    return RoundUp(static_cast<size_t>(kept_floats() + lines_ * out_pixels_ * channels_),
                   kCacheLine / sizeof(float));
  }

  // The lines [line, last) of the result, of one image. `kept`: the last lines of the expanded
  // image, panel by panel; line i is number (i - begin) % kept_lines_ of each.
  void ComputePart(RunContext& r, int64_t line, int64_t last, float* kept) const {
    StageRun expand(r, expand_inputs_), depthwise(r, depthwise_inputs_);
    StageRun project(r, project_inputs_);
    RunContext first = expand.context(), second = depthwise.context(), third = project.context();
    const WindowSpans& height = depthwise_.height();
    const int64_t image = line / height.out, before = image * height.out;
    const auto after = [&](int64_t y) {  // the lines of the expanded image that line y reads
      const TapRange taps = height.Taps(y - before);
      return taps.first < taps.last ? height.Source(y - before, taps.last - 1) + 1 : int64_t{0};
    };
    const int64_t begin = std::clamp<int64_t>(height.Source(line - before, 0), 0, height.in);
    const int64_t end = std::max(after(last - 1), begin);
    float* const between = kept + kept_floats();
    for (int64_t done = begin; line < last;) {
      const int64_t lines = after(line) > done ? std::min(group_, end - done) : 0;
      int64_t ready = line;  // lines that need no others
      const int64_t most = project_.has_value() ? std::min(last, line + lines_) : last;
      while (ready < most && after(ready) <= done + lines) ++ready;
      float* const filtered =
          project_.has_value() ? between : r.output<float>(0) + line * out_pixels_ * channels_;
      for (int64_t c = 0; c < channels_; c += panel_) {
        const int64_t columns = std::min(panel_, channels_ - c);
        const auto at = [&](int64_t y) {
          return kept + ((y - begin) % kept_lines_ * columns + c * kept_lines_) * pixels_;
        };
        if (lines > 0) {
          const int64_t row = image * image_ + done * pixels_;
          expand_.Run(first, first.input<float>(0) + row * in_channels_, row, lines * pixels_, c,
                      columns, at(done), columns);
        }
        for (int64_t y = line; y < ready; ++y) {
          depthwise_.Compute(second, y, c, c + columns, at, columns,
                             filtered + (y - line) * out_pixels_ * channels_);
        }
      }
      if (ready > line) FinishLines(second, third, line, ready, filtered);
      line = ready;
      done += lines;
    }
  }

  // All channels of the lines [line, last) are filtered; applies what follows.
  void FinishLines(RunContext& depthwise, RunContext& project, int64_t line, int64_t last,
                   float* filtered) const {
    depthwise_.FinishLines(depthwise, line, last, filtered);
    if (!project_.has_value()) return;
    const int64_t row = line * out_pixels_, columns = project_->columns();
    project_->Run(project, filtered, row, (last - line) * out_pixels_, 0, columns,
                  project.output<float>(0) + row * columns, columns);
  }

  const std::vector<int> expand_inputs_, depthwise_inputs_, project_inputs_;
  const int64_t image_, pixels_, channels_;  // of the expanded image: pixels, those of a line
  const int64_t out_pixels_;
  const PointwiseRows expand_;
  const DepthwiseFloats depthwise_;
  const std::optional<PointwiseRows> project_;
  const int threads_;
  const double flops_;
  const int64_t in_channels_;
  const int64_t panel_;     // channels that are computed together
  int64_t group_ = 1;       // lines that are expanded together
  int64_t kept_lines_ = 0;  // a multiple of it
  int64_t lines_ = 0;       // that are projected together, at most
  int64_t parts_ = 1;       // of an image
  int64_t units_ = 1;       // parts of all images
  int64_t grain_ = 1;
};

int64_t LinesFlag(const PrepareContext& p) {
  return p.services().flags == nullptr ? 1 : p.services().flags->block_lines;
}

// Where what is between the stages does not stay in the second-level caches anyway. Two threads of
// Zen 4, the time of the stages one after the other over that of their lines, alone and, in
// brackets, within MobileNetV2: 112x112x16, 96 channels between, strides of 2, 24 after: 1.10
// (1.41); 56x56x24, 144, 24: 1.00 (1.05); the same with strides of 2 and 32: 1.09 (1.15); 28x28x32,
// 192, 32, which fits: 1.00. A depthwise convolution and its projection alone, 112x112x32, 16:
// 0.72. Of a CPU with matrix tiles, whose second-level caches are larger and slower, within
// MobileNetV2: the first one 1.42, the others 1.17, 1.23 and 1.10; 14x14x64, 384, 64: 0.62.
bool IsWorthJoining(const ConvStages& stages) {
  const PrepareContext& p = *stages.depthwise.context;
  if (LinesFlag(p) != 1) return LinesFlag(p) == 2;
  const int64_t bytes = p.input_shape(0).num_elements() * int64_t{sizeof(float)};
  const int64_t caches = static_cast<int64_t>(SecondLevelCacheBytes()) * p.services().threads;
  return bytes > caches / (HasTileProducts() ? 8 : 2);
}

absl::StatusOr<PointwiseRows> RowsOf(PrepareContext& p, bool all_rows, double& flops) {
  TENON_ASSIGN_OR_RETURN(const ConvGeometry g, ResolveConv(p.attrs(), 2, ConvKind::kDense,
                                                           p.input_shape(0), p.input_shape(1)));
  flops += g.flops();
  return PointwiseRows::Make(p, g, all_rows);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> InvertedResidualKernel(const ConvStages& stages) {
  PrepareContext& p = *stages.depthwise.context;
  if (!IsWorthJoining(stages)) return Unimplemented("the caches keep what is between the stages");

  if (p.input_shape(0).num_elements() == 0 || p.output_shape(0).num_elements() == 0 ||
      stages.expand.context->input_shape(0).num_elements() == 0) {
    return Unimplemented("empty");
  }
  TENON_ASSIGN_OR_RETURN(const ConvGeometry g, ResolveConv(p.attrs(), 2, ConvKind::kDepthwise,
                                                           p.input_shape(0), p.input_shape(1)));
  double flops = g.flops();
  TENON_ASSIGN_OR_RETURN(const FusedOps fused, ParseFusedOps(p.attrs(), 2, p.num_inputs()));
  TENON_ASSIGN_OR_RETURN(DepthwiseFloats depthwise, DepthwiseFloats::Make(p, g, fused));
  if (!depthwise.InParts()) return Unimplemented("a fused op that needs the whole result");
  int64_t in_parts = PartsOf(depthwise.height(), g.batch, p.services().threads);
  if (in_parts == 0 && LinesFlag(p) == 2) in_parts = 1;
  if (in_parts == 0) return Unimplemented("fewer lines than its threads need");
  TENON_ASSIGN_OR_RETURN(PointwiseRows expand,
                         RowsOf(*stages.expand.context, /*all_rows=*/false, flops));
  if (expand.last_panel() < static_cast<int64_t>(depthwise.lanes())) {
    return Unimplemented("few channels in the last panel");
  }
  BlockParts parts{std::move(expand), std::move(depthwise), std::nullopt, g, flops, in_parts};
  if (stages.project.context != nullptr) {
    TENON_ASSIGN_OR_RETURN(parts.project,
                           RowsOf(*stages.project.context, /*all_rows=*/true, flops));
  }
  parts.flops = flops;
  return std::make_unique<InvertedResidualImpl>(stages, std::move(parts));
}

}  // namespace tenon
