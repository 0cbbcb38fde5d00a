// Private to this folder: remedies for convolution implementations in oneDNN that give wrong
// results for some problems. A refused implementation is skipped, as oneDNN's plain loops are, and
// the next one is used. tests/sweep looks for more.
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

// The strongest remedy among the rows that match `implementation` ("jit_1x1:avx2") and the problem.
Remedy RemedyFor(Computes computes, const ConvolutionProblem& problem,
                 absl::string_view implementation);

// Whether oneDNN would take minutes to choose an implementation, since it tries each length of a
// block of a line that is computed: for 2^29 pixels that takes longer than one.
bool SearchesTooLong(Computes computes, const ConvolutionProblem& problem);

}  // namespace tenon

#endif  // TENON_PRIMITIVE_CACHE_KNOWN_DEFECTS_H_
