#include "primitive_cache/known_defects.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace tenon {
namespace {

bool Always(const ConvolutionProblem&) { return true; }

int64_t ResultsPerGroup(const ConvolutionProblem& p) { return p.weights.dims[p.grouped ? 1 : 0]; }
int64_t SourcesPerGroup(const ConvolutionProblem& p) { return p.weights.dims[p.grouped ? 2 : 1]; }

bool HasBinaryPostOp(const ConvolutionProblem& p) {
  return std::any_of(p.post_ops.begin(), p.post_ops.end(),
                     [](const PostOpSpec& op) { return op.binary(); });
}

bool IsDepthwise(const ConvolutionProblem& p) {
  return p.grouped && p.weights.dims[1] == 1 && p.weights.dims[2] == 1;
}

bool HasStrides(const ConvolutionProblem& p) {
  return std::any_of(p.strides.begin(), p.strides.end(), [](int64_t s) { return s != 1; });
}

bool HasSum(const ConvolutionProblem& p) {
  return std::any_of(p.post_ops.begin(), p.post_ops.end(),
                     [](const PostOpSpec& op) { return op.kind == PostOpSpec::Kind::kSum; });
}

// Whether some window along `dim` has no tap in the image.
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

constexpr KnownDefect kDefects[] = {
    {Computes::kResult, "gemm:", Remedy::kRefuse, HasBinaryPostOp,
     "binary post-ops take wrong elements with more than one image, or a value for each image and "
     "channel",
     "2.6.3"},
    {Computes::kResult, "", Remedy::kRefuse,
     [](const ConvolutionProblem& p) {
       return IsDepthwise(p) && HasBinaryPostOp(p) && p.dst.num_elements() == p.dst.dims[1];
     },
     "where a depthwise result is one pixel of more than 16 channels, binary post-ops take wrong "
     "elements",
     "2.6.3"},
    {Computes::kResult, "brgconv", Remedy::kRefuse,
     [](const ConvolutionProblem& p) {
       return (HasSum(p) || HasBinaryPostOp(p)) && HasWindowInPadding(p);
     },
     "where a window lies in the padding altogether, a sum gives wrong values or ends the process",
     "2.6.3"},
    {Computes::kResult, "jit_dw:sse41", Remedy::kRefuse,
     [](const ConvolutionProblem& p) { return HasSum(p) && p.dst.dims[1] % 4 != 0; },
     "a sum reads the result by aligned loads, which end the process", "2.6.3"},
    // The source is first gathered into scratch memory, by whole vectors.
    {Computes::kWeightsGradient, "1x1:avx2", Remedy::kRefuse,
     [](const ConvolutionProblem& p) { return HasStrides(p) && p.src.dims[1] < 8; },
     "with strides and few source channels it writes past its scratch memory", "2.6.3"},
    {Computes::kWeightsGradient, "1x1:avx512", Remedy::kRefuse,
     [](const ConvolutionProblem& p) { return HasStrides(p) && p.src.dims[1] < 16; },
     "with strides and few source channels it writes past its scratch memory", "2.6.3"},
    // Gradients in bfloat16 copy rows in other orders first.
    {Computes::kWeightsGradient, "jit_bf16:", Remedy::kRefuse,
     [](const ConvolutionProblem& p) { return p.strides.size() == 3; },
     "in three dimensions, with strides, it reads beyond the image or ends the process", "2.6.3"},
    {Computes::kWeightsGradient, "jit_bf16:", Remedy::kRefuse,
     [](const ConvolutionProblem& p) { return HasStrides(p) && p.dst.dims.back() == 1; },
     "with strides and a result one element wide it reads beyond the image", "2.6.3"},
    {Computes::kWeightsGradient, "jit_bf16:", Remedy::kRefuse,
     [](const ConvolutionProblem& p) { return p.dilations.back() != 1; },
     "dilated rows of more than 32 elements give wrong values", "2.6.3"},
    {Computes::kWeightsGradient, "jit_bf16:", Remedy::kClearScratch, Always,
     "it multiplies what lies in unwritten scratch memory by zero", "2.6.3"},
    // Without instructions for bfloat16 it runs out of registers.
    {Computes::kResult, "jit_bf16_1x1:avx512_core;", Remedy::kRefuse, Always,
     "five pixels and more than 64 result channels give wrong values", "2.6.3"},
    {Computes::kSourceGradient, "jit_bf16_1x1:avx512_core;", Remedy::kRefuse, Always,
     "five pixels and more than 64 source channels give wrong values", "2.6.3"},
    // Products of pairs: the last of an odd number of channels meets the next pixel's first.
    {Computes::kResult, "jit_bf16_1x1:", Remedy::kRefuse,
     [](const ConvolutionProblem& p) { return SourcesPerGroup(p) % 2 == 1; },
     "an odd number of source channels gives wrong values where pixels fill blocks of 30", "2.6.3"},
    {Computes::kSourceGradient, "jit_bf16_1x1:", Remedy::kRefuse,
     [](const ConvolutionProblem& p) { return ResultsPerGroup(p) % 2 == 1; },
     "an odd number of result channels gives wrong values where pixels fill blocks of 30", "2.6.3"},
};

}  // namespace

absl::Span<const KnownDefect> KnownDefects() { return kDefects; }

Remedy RemedyFor(Computes computes, const ConvolutionProblem& problem,
                 absl::string_view implementation) {
  const std::string name = absl::StrCat(implementation, ";");
  Remedy strongest = Remedy::kNone;
  for (const KnownDefect& d : kDefects) {
    if (d.computes != computes || !absl::StrContains(name, d.implementation)) continue;
    if (d.remedy > strongest && d.applies(problem)) strongest = d.remedy;
  }
  return strongest;
}

}  // namespace tenon
