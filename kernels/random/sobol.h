// Sobol's sequence: points that fill the unit cube more evenly than random ones.
#ifndef TENON_KERNELS_RANDOM_SOBOL_H_
#define TENON_KERNELS_RANDOM_SOBOL_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// TensorFlow has 21200, whose direction numbers are half a megabyte.
inline constexpr int64_t kMaxSobolDims = 1111;

// For each dimension after the first, in order of its degree s: the s - 1 inner coefficients of its
// primitive polynomial, then its direction numbers m_2 to m_s, of which m_k, which is odd, is given
// by its first k - 1 bits. All of it is one string of bits, in base64.
extern const std::string_view kSobolNumbers;

// Inputs: dim, num_results, skip, int32 scalars. Output: points skip + 1 to skip + num_results, in
// Gray code order as in Antonov and Saleev (1979), [num_results, dim], float or double.
absl::StatusOr<std::unique_ptr<Kernel>> SobolSampleKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_RANDOM_SOBOL_H_
