// Layouts that oneDNN chose for weights, as panels that other code can read.
#ifndef TENON_PRIMITIVE_CACHE_WEIGHT_PANELS_H_
#define TENON_PRIMITIVE_CACHE_WEIGHT_PANELS_H_

#include <cstddef>
#include <optional>

#include "primitive_cache/primitive.h"

namespace tenon {

// A float matrix [K, N] as [panels][K, filled up][width]: panel j has the columns from j * width
// on; columns after N are 0.
struct WeightPanels {
  size_t width = 0;
  size_t panel_bytes = 0;
};
// None if a layout of the weights of a product or of a 1x1 convolution is different.
std::optional<WeightPanels> PanelsIn(const PackedLayout& layout);

}  // namespace tenon

#endif  // TENON_PRIMITIVE_CACHE_WEIGHT_PANELS_H_
