// Private to this folder: what to do about convolution implementations of oneDNN that give wrong
// results for some problems. A refused implementation is passed over like oneDNN's plain loops, so
// that the next one serves. tests/sweep looks for more.
#ifndef TENON_PRIMITIVE_CACHE_KNOWN_DEFECTS_H_
#define TENON_PRIMITIVE_CACHE_KNOWN_DEFECTS_H_

#include "absl/strings/string_view.h"
#include "primitive_cache/convolution.h"

namespace tenon {

enum class Computes { kResult, kSourceGradient, kWeightsGradient };

enum class Remedy {
  kNone,
  kClearScratch,  // it reads scratch memory that it did not write: fill that with zeros first
  kRefuse,
};

// What to do about `implementation` ("jit_1x1:avx2") for the problem: the strongest of its rows.
Remedy RemedyFor(Computes computes, const ConvolutionProblem& problem,
                 absl::string_view implementation);

}  // namespace tenon

#endif  // TENON_PRIMITIVE_CACHE_KNOWN_DEFECTS_H_
