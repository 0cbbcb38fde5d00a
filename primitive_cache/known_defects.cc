#include "primitive_cache/known_defects.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "primitive_cache/onednn/onednn.h"

namespace tenon {
namespace {

bool Always(const ConvolutionProblem&) { return true; }

int64_t ResultsPerGroup(const ConvolutionProblem& p) { return p.weights.dims[p.grouped ? 1 : 0]; }
int64_t SourcesPerGroup(const ConvolutionProblem& p) { return p.weights.dims[p.grouped ? 2 : 1]; }

bool HasStrides(const ConvolutionProblem& p) {
  return std::any_of(p.strides.begin(), p.strides.end(), [](int64_t s) { return s != 1; });
}

// Whether some window along `dim` lies entirely outside the image.
bool MissesImage(const ConvolutionProblem& p, size_t dim) {
  const int64_t size = p.src.dims[2 + dim], taps = p.weights.dims[(p.grouped ? 3 : 2) + dim];
  for (int64_t o = 0; o < p.dst.dims[2 + dim]; ++o) {
    const int64_t first = o * p.strides[dim] - p.pads_begin[dim];
    bool hit = false;
    for (int64_t k = 0; k < taps; ++k) {
      const int64_t at = first + k * p.dilations[dim];
      hit = hit || (at >= 0 && at < size);
    }
    if (!hit) return true;
  }
  return false;
}
bool HasWindowInPadding(const ConvolutionProblem& p) {
  for (size_t d = 0; d < p.strides.size(); ++d) {
    if (MissesImage(p, d)) return true;
  }
  return false;
}

// Whether no window reads some of the rows of the image between the first and the last.
bool SkipsRows(const ConvolutionProblem& p) {
  for (size_t d = 0; d < p.strides.size(); ++d) {
    if (p.strides[d] > p.window_range(d)) return true;
  }
  return false;
}

// Of a line whose pixels some code generators unroll, each into up to 1.5 kB of code: 2^16 of them
// make 90 MB, 2^20 more than a GB, and without that memory the generator crashes.
bool IsLongLine(const ConvolutionProblem& p) { return p.dst.dims.back() > int64_t{1} << 16; }

struct KnownDefect {
  Computes computes;
  const char* implementation;  // part of its name; ";" stands for the end
  Remedy remedy;
  int until;  // the last major version of oneDNN that has it
  bool (*applies)(const ConvolutionProblem&);
};

// Seen in oneDNN 2.6.3, or 3.7.2. Those of 2.6.3 that were not seen to be mended stay in force.
constexpr KnownDefect kDefects[] = {
    // Binary post-ops read wrong elements with more than one image, or with one value per image and
    // channel.
    {Computes::kResult, ":gemm:", Remedy::kRefuse, 3,
     [](const ConvolutionProblem& p) { return p.has_binary_post_op(); }},
    // If a depthwise result is one pixel of more than 16 channels, binary post-ops read wrong
    // elements.
    {Computes::kResult, "", Remedy::kRefuse, 3,
     [](const ConvolutionProblem& p) {
       return p.grouped && SourcesPerGroup(p) == 1 && p.has_binary_post_op() &&
              p.dst.num_elements() == p.dst.dims[1];
     }},
    // If a window lies entirely in the padding, a sum gives wrong values or crashes.
    {Computes::kResult, "brgconv", Remedy::kRefuse, 3,
     [](const ConvolutionProblem& p) {
       return (p.adds_to_destination() || p.has_binary_post_op()) && HasWindowInPadding(p);
     }},
    // These unroll a line.
    {Computes::kResult, "brgconv:", Remedy::kRefuse, 3, IsLongLine},
    {Computes::kWeightsGradient, "jit:avx2", Remedy::kRefuse, 3, IsLongLine},
    // With AMX it crashes, whatever follows; and if steps skip rows of the image, it reads others.
    {Computes::kResult, "brgconv:avx512_core_amx", Remedy::kRefuse, 3,
     [](const ConvolutionProblem& p) { return HasWindowInPadding(p) || SkipsRows(p); }},
    // With a bias, too.
    {Computes::kResult, "brg_conv_fwd", Remedy::kRefuse, 3,
     [](const ConvolutionProblem& p) {
       return (p.has_bias || p.adds_to_destination() || p.has_binary_post_op()) &&
              HasWindowInPadding(p);
     }},
    // With one source channel and a step wider than the result, it reads other rows than it should.
    {Computes::kResult, "brg_conv_fwd", Remedy::kRefuse, 3,
     [](const ConvolutionProblem& p) {
       return SourcesPerGroup(p) == 1 && p.dst.dims.back() == 1 && HasStrides(p);
     }},
    // One source channel of bfloat16 in three dimensions: with more planes in the window than in
    // the
    // image it gives wrong values.
    {Computes::kResult, "brg_conv_fwd", Remedy::kRefuse, 3,
     [](const ConvolutionProblem& p) {
       return SourcesPerGroup(p) == 1 && p.src.type == ElementType::kBf16 && p.strides.size() == 3;
     }},
    // The corrections of packed sums for signed sources and zero points are wrong at the borders.
    {Computes::kResult, "brg_conv_fwd", Remedy::kRefuse, 3,
     [](const ConvolutionProblem& p) {
       return p.weights.type == ElementType::kS8 &&
              (p.src.type == ElementType::kS8 || p.src_zero != 0) &&
              (HasWindowInPadding(p) || SourcesPerGroup(p) == 1);
     }},
    // They write beyond the result: the first two of 1 in 11 results of int8, and in 1 of 16,000
    // problems of bfloat16; the third with dilations.
    {Computes::kResult, "jit_1x1:avx512_core_amx_int8", Remedy::kRefuse, 3, Always},
    {Computes::kResult, "jit_1x1:avx512_core_amx_bf16", Remedy::kRefuse, 3, Always},
    {Computes::kResult, "jit:avx512_core_amx_int8", Remedy::kRefuse, 3,
     [](const ConvolutionProblem& p) { return !All(p.dilations, 1); }},
    // A sum reads the result by aligned loads, which crash.
    {Computes::kResult, "jit_dw:sse41", Remedy::kRefuse, 3,
     [](const ConvolutionProblem& p) { return p.adds_to_destination() && p.dst.dims[1] % 4 != 0; }},
    // With strides and few source channels, it writes past its scratch memory, into which it first
    // gathers the source in whole vectors.
    {Computes::kWeightsGradient, "1x1:avx2", Remedy::kRefuse, 3,
     [](const ConvolutionProblem& p) { return HasStrides(p) && p.src.dims[1] < 8; }},
    {Computes::kWeightsGradient, "1x1:avx512", Remedy::kRefuse, 3,
     [](const ConvolutionProblem& p) { return HasStrides(p) && p.src.dims[1] < 16; }},
    // Gradients in bfloat16 first copy rows into another order. In three dimensions, with strides,
    // this reads beyond the image or crashes.
    {Computes::kWeightsGradient, "jit_bf16:", Remedy::kRefuse, 3,
     [](const ConvolutionProblem& p) { return p.strides.size() == 3; }},
    // With AMX, dilations give wrong values, too.
    {Computes::kWeightsGradient, "jit:avx512_core_amx_bf16", Remedy::kRefuse, 3,
     [](const ConvolutionProblem& p) {
       return (p.strides.size() == 3 && HasStrides(p)) || !All(p.dilations, 1);
     }},
    // With strides and a result one element wide, it reads beyond the image.
    {Computes::kWeightsGradient, "jit_bf16:", Remedy::kRefuse, 3,
     [](const ConvolutionProblem& p) { return HasStrides(p) && p.dst.dims.back() == 1; }},
    // Dilated rows of more than 32 elements give wrong values.
    {Computes::kWeightsGradient, "jit_bf16:", Remedy::kRefuse, 3,
     [](const ConvolutionProblem& p) { return p.dilations.back() != 1; }},
    // It multiplies unwritten scratch memory by zero.
    {Computes::kWeightsGradient, "jit_bf16:", Remedy::kClearScratch, 3, Always},
    {Computes::kWeightsGradient, "jit:avx512_core_amx_bf16", Remedy::kClearScratch, 3, Always},
    // Without bfloat16 instructions it runs out of registers: five pixels and more than 64 channels
    // of its result give wrong values.
    {Computes::kResult, "jit_bf16_1x1:avx512_core;", Remedy::kRefuse, 3, Always},
    {Computes::kSourceGradient, "jit_bf16_1x1:avx512_core;", Remedy::kRefuse, 3, Always},
    // It multiplies channels in pairs: if pixels fill blocks of 30, the last of an odd number of
    // channels is paired with the next pixel's first one.
    {Computes::kResult, "jit_bf16_1x1:", Remedy::kRefuse, 3,
     [](const ConvolutionProblem& p) { return SourcesPerGroup(p) % 2 == 1; }},
    {Computes::kSourceGradient, "jit_bf16_1x1:", Remedy::kRefuse, 3,
     [](const ConvolutionProblem& p) { return ResultsPerGroup(p) % 2 == 1; }},
};

}  // namespace

bool LosesInfinity(Eltwise function) {
  return function == Eltwise::kGeluErf && onednn::MajorVersion() == 3;  // seen in 3.7.2
}

Remedy RemedyFor(Computes computes, const ConvolutionProblem& problem,
                 absl::string_view implementation) {
  const std::string name = absl::StrCat(implementation, ";");
  const int version = onednn::MajorVersion();
  Remedy strongest = Remedy::kNone;
  for (const KnownDefect& d : kDefects) {
    if (version > d.until || d.computes != computes || !absl::StrContains(name, d.implementation))
      continue;
    if (d.remedy > strongest && d.applies(problem)) strongest = d.remedy;
  }
  return strongest;
}

bool SearchesTooLong(Computes computes, const ConvolutionProblem& problem) {
  constexpr int64_t kLongestLine = int64_t{1} << 24;
  // A gradient asks for the forward convolution, too.
  return problem.dst.dims.back() > kLongestLine ||
         (computes != Computes::kResult && problem.src.dims.back() > kLongestLine);
}

}  // namespace tenon
