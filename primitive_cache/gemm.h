// Private to this folder: a matrix product by oneDNN's gemm function, which packs the weights piece
// by piece as it reads them.
#ifndef TENON_PRIMITIVE_CACHE_GEMM_H_
#define TENON_PRIMITIVE_CACHE_GEMM_H_

#include <memory>

#include "primitive_cache/matmul.h"

namespace tenon {

// Null if oneDNN's matmul is as fast, or is the only one that supports the problem. Measured on
// AVX-512: if weights may not be packed ahead of time, gemm is faster for few rows and large
// weights (128x768x3072: 6.3 ms against 7.9; 64x256x512: 0.144 against 0.154; 128x512x256: 0.294
// against 0.286, but it sums parts of K and so rounds less).
std::shared_ptr<const Primitive> GemmFor(const MatmulProblem& problem);

}  // namespace tenon

#endif  // TENON_PRIMITIVE_CACHE_GEMM_H_
