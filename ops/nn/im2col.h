// What lies under the windows of a convolution.
#ifndef TENON_OPS_NN_IM2COL_H_
#define TENON_OPS_NN_IM2COL_H_

#include <cstdint>
#include <vector>

#include "ops/nn/conv_geometry.h"

namespace tenon {

// For each output position and, inside of it, each position of the window: the input's position, or
// -1 where that is padding.
std::vector<int64_t> WindowSources(const ConvGeometry& g);

}  // namespace tenon

#endif  // TENON_OPS_NN_IM2COL_H_
