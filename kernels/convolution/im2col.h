// What lies under the windows of a convolution.
#ifndef TENON_KERNELS_CONVOLUTION_IM2COL_H_
#define TENON_KERNELS_CONVOLUTION_IM2COL_H_

#include <cstdint>
#include <vector>

#include "kernels/convolution/conv_geometry.h"

namespace tenon {

// For each output position and, inside of it, each position of the window: the input's position, or
// -1 where that is padding.
std::vector<int64_t> WindowSources(const ConvGeometry& g);

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_IM2COL_H_
