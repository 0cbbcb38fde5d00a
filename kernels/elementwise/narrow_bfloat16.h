// The form of NarrowToBfloat16 for every CPU.
#ifndef TENON_KERNELS_ELEMENTWISE_NARROW_BFLOAT16_H_
#define TENON_KERNELS_ELEMENTWISE_NARROW_BFLOAT16_H_

#include <cstddef>
#include <cstdint>

namespace tenon {

void NarrowInVectorCode(const float* from, uint16_t* to, size_t n);

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_NARROW_BFLOAT16_H_
