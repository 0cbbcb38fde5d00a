#include "kernels/convolution/conv_padded.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "env/round_up.h"
#include "env/status.h"
#include "kernels/contraction/contraction.h"
#include "kernels/convolution/conv.h"
#include "kernels/interface/parallel.h"
#include "primitive_cache/convolution.h"

namespace tenon {
namespace {

// An image of the padded size, whose channels each appear `times` times.
struct PaddedImage {
  int64_t batch;           // with the channels, if these come first
  Dims in, out;            // spatial sizes
  Dims before;             // padding
  size_t pixel_bytes = 0;  // of the input
  size_t element_bytes = 0;
  int64_t times = 1;
  int threads = 1;

  size_t bytes() const { return static_cast<size_t>(lines() * out.back() * times) * pixel_bytes; }

  void Fill(const char* image, char* to) const {
    // Parts of lines, so that even one line is work for several threads.
    const int64_t pixels = std::max<int64_t>(
        kPartBytes / static_cast<int64_t>(pixel_bytes * static_cast<size_t>(times)), 1);
    const int64_t parts = CeilDiv(out.back(), pixels);
    const double ns = 20 + 0.05 * static_cast<double>(
                                      std::min<int64_t>(kPartBytes, static_cast<int64_t>(bytes())));
    ParallelFor(threads, lines() * parts, ParallelGrain(ns), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i % parts * pixels;
        FillPart(image, i / parts, first, std::min(first + pixels, out.back()), to);
      }
    });
  }

 private:
  static constexpr int64_t kPartBytes = 1 << 15;

  int64_t lines() const {
    int64_t n = batch;
    for (size_t d = 0; d + 1 < out.size(); ++d) n *= out[d];
    return n;
  }

  // The pixels [first, last) of a line.
  void FillPart(const char* image, int64_t line, int64_t first, int64_t last, char* to) const {
    const size_t pixel = pixel_bytes * static_cast<size_t>(times);
    to += static_cast<size_t>(line * out.back() + first) * pixel;
    const int64_t source = SourceLine(line);
    // Of the input; none in the padding.
    const int64_t begin = std::clamp<int64_t>(first - before.back(), 0, in.back());
    const int64_t end =
        source < 0 ? begin : std::clamp<int64_t>(last - before.back(), 0, in.back());
    const auto zeros =
        static_cast<size_t>(std::clamp<int64_t>(before.back() - first, 0, last - first)) * pixel;
    const size_t copied = static_cast<size_t>(end - begin) * pixel;
    std::memset(to, 0, zeros);
    Repeat(image + static_cast<size_t>(source * in.back() + begin) * pixel_bytes,
           static_cast<size_t>(end - begin) * pixel_bytes, to + zeros);
    std::memset(to + zeros + copied, 0, static_cast<size_t>(last - first) * pixel - zeros - copied);
  }
  // The line of the input; -1 in the padding.
  int64_t SourceLine(int64_t line) const {
    int64_t source = 0, scale = 1;
    for (size_t d = out.size() - 1; d-- > 0; line /= out[d]) {
      const int64_t at = line % out[d] - before[d];
      if (at < 0 || at >= in[d]) return -1;
      source += at * scale;
      scale *= in[d];
    }
    return source + line * scale;
  }
  void Repeat(const char* from, size_t bytes, char* to) const {
    if (bytes == 0) return;
    if (times == 1) {
      std::memcpy(to, from, bytes);
    } else if (element_bytes == sizeof(float)) {
      RepeatElements<float>(from, bytes, to);
    } else {
      RepeatElements<uint16_t>(from, bytes, to);
    }
  }
  template <typename T>
  void RepeatElements(const char* from, size_t bytes, char* to) const {
    const T* elements = reinterpret_cast<const T*>(from);
    T* at = reinterpret_cast<T*>(to);
    for (size_t i = 0; i < bytes / sizeof(T); ++i) at = std::fill_n(at, times, elements[i]);
  }
};

// Whether the kernel is made for what it computes. oneDNN's kernel for any groups leaves all but
// one lane of a vector empty if each channel is a group: where windows reach into the padding by 8
// pixels or more, that takes 4 to 10 times as long as the copy and the kernel for such groups.
bool IsDirect(const ConvGeometry& g,
              const absl::StatusOr<std::shared_ptr<const Primitive>>& convolution) {
  if (!convolution.ok() || ComputesByGemm(**convolution)) return false;
  const bool each_channel = g.groups > 1 && g.groups == g.in_channels;
  return !each_channel || !absl::StartsWith((*convolution)->implementation(), "jit:");
}

// oneDNN's kernel for AVX-512 computes windows that reach into the padding tap by tap. Where many
// do, it takes longer than the copy and the convolution of it. Two threads of Sapphire Rapids, its
// time over theirs: 8x1000x1, 1x64, 64 filters: 6.7; 64x128x1, 1x64, 8: 5.3; 1x8000x1, 1x80, 32,
// strides of 4: 3.7; 8x1000x4, 1x16, 64: 1.7; 1x5000x12, 1x31, 64: 1.04; but 1x5000x32, 1x31, 64
// and 64x64x16, 13x13, 16: 0.9.
bool PadsSlowly(const ConvGeometry& g, const Primitive& convolution) {
  return absl::StartsWith(convolution.implementation(), "brgconv") && g.attrs.channels_last &&
         g.groups == 1 && g.in_channels < 16 && g.window.back() >= 15 &&
         g.pads_begin.back() + g.pads_end.back() > 0;
}

// The convolution of the copy.
ConvGeometry OfCopy(ConvGeometry g) {
  for (size_t d = 0; d < g.in.size(); ++d) {
    g.in[d] += std::exchange(g.pads_begin[d], 0) + std::exchange(g.pads_end[d], 0);
  }
  // The plain filter [H, W, C, M] is [H, W, C * M, 1], too.
  if (g.depthwise) g.groups = g.in_channels = g.out_channels;
  return g;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> ConvPaddedKernel(PrepareContext& p, const ConvGeometry& g,
                                                         const FusedOps& fused) {
  TENON_ASSIGN_OR_RETURN(const ElementType type, ElementTypeOf(p.output_dtype(0)));
  const bool repeats = g.depthwise && g.out_channels > g.in_channels;
  if ((repeats && !g.attrs.channels_last) ||
      (!repeats && All(g.pads_begin, 0) && All(g.pads_end, 0))) {
    return Unimplemented("there is nothing to pad");
  }
  PrimitiveCache* const cache = p.services().cache;
  const auto convolution = GetConvolution(ConvProblem(g, type, p.services().threads), cache);
  if (IsDirect(g, convolution) && !(type == ElementType::kF32 && PadsSlowly(g, **convolution))) {
    return Unimplemented("oneDNN pads");
  }
  const ConvGeometry of_copy = OfCopy(g);
  if (!IsDirect(of_copy, GetConvolution(ConvProblem(of_copy, type, p.services().threads), cache))) {
    return Unimplemented("oneDNN has no direct kernel");
  }
  PaddedImage image;
  image.element_bytes = SizeOf(p.input_dtype(0));
  image.batch = g.attrs.channels_last ? g.batch : g.batch * g.in_channels;
  image.pixel_bytes =
      image.element_bytes * (g.attrs.channels_last ? static_cast<size_t>(g.in_channels) : 1);
  image.times = of_copy.in_channels / g.in_channels;
  image.in = g.in;
  image.out = of_copy.in;
  image.before = g.pads_begin;
  image.threads = p.services().threads;
  Contraction c = ConvContraction(p, of_copy, type, fused);
  c.source_bytes = image.bytes();
  c.make_source = [image = std::move(image)](const void* from, void* to) {
    image.Fill(static_cast<const char*>(from), static_cast<char*>(to));
  };
  return PrepareContraction(p, std::move(c));
}

}  // namespace tenon
