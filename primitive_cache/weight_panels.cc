#include "primitive_cache/weight_panels.h"

#include <string>

#include "primitive_cache/dnnl_primitive.h"

namespace tenon {

std::optional<WeightPanels> PanelsIn(const PackedLayout& layout) {
  // The plain descriptor, then the packed one (see LayoutFromDescription).
  const std::string description = layout.description();
  const size_t size = onednn::BytesPerDesc();
  if (description.size() < 2 * size) return std::nullopt;
  const auto packed = onednn::DescFromBytes(absl::string_view(description).substr(size, size));
  if (!packed.has_value()) return std::nullopt;
  const auto blocks = onednn::BlocksOf(*packed);
  if (!blocks.has_value()) return std::nullopt;
  // [K, N], or [N, K, 1, 1] as a filter.
  const auto& dims = blocks->dims;
  const bool filter = dims.size() == 4 && dims[2] == 1 && dims[3] == 1;
  if (dims.size() != 2 && !filter) return std::nullopt;
  const size_t k = filter ? 1 : 0, n = filter ? 0 : 1;
  if (blocks->type != dnnl::memory::data_type::f32 || !blocks->whole) return std::nullopt;
  // Rows in blocks, or one by one (oneDNN 3 with AVX2).
  const onednn::Dims columns = {static_cast<int64_t>(n)},
                     both = {static_cast<int64_t>(k), columns[0]};
  if (blocks->axes != columns && blocks->axes != both) return std::nullopt;
  const int64_t rows = blocks->axes == both ? blocks->sizes[0] : 1, width = blocks->sizes.back();
  if (blocks->strides[k] != rows * width || blocks->strides[n] != blocks->padded_dims[k] * width) {
    return std::nullopt;
  }
  return WeightPanels{static_cast<size_t>(width),
                      static_cast<size_t>(blocks->strides[n]) * sizeof(float)};
}

}  // namespace tenon
