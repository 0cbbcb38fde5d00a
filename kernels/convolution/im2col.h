// The source pixel index of each window position of a convolution.
#ifndef TENON_KERNELS_CONVOLUTION_IM2COL_H_
#define TENON_KERNELS_CONVOLUTION_IM2COL_H_

#include <cstdint>
#include <vector>

#include "kernels/convolution/conv_geometry.h"

namespace tenon {

// For each output position and, within it, each window position: the input position, or -1 for
// padding.
std::vector<int64_t> WindowSources(const ConvGeometry& g);

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_IM2COL_H_
