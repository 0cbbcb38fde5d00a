#include "primitive_cache/weight_panels.h"

#include <cstring>
#include <string>

#include "primitive_cache/dnnl_primitive.h"

namespace tenon {

std::optional<WeightPanels> PanelsIn(const PackedLayout& layout) {
  // The plain descriptor, then the packed one (see LayoutFromDescription).
  const std::string description = layout.description();
  constexpr size_t kDesc = sizeof(dnnl_memory_desc_t);
  if (description.size() < 2 * kDesc) return std::nullopt;
  dnnl_memory_desc_t packed;
  std::memcpy(&packed, description.data() + kDesc, kDesc);
  // [K, N], or [N, K, 1, 1] as a filter.
  const bool filter = packed.ndims == 4 && packed.dims[2] == 1 && packed.dims[3] == 1;
  if (packed.ndims != 2 && !filter) return std::nullopt;
  const int k = filter ? 1 : 0, n = filter ? 0 : 1;
  const dnnl_blocking_desc_t& blocks = packed.format_desc.blocking;
  if (packed.data_type != dnnl_f32 || packed.format_kind != dnnl_blocked || packed.offset0 != 0 ||
      packed.extra.flags != dnnl_memory_extra_flag_none || blocks.inner_nblks != 2 ||
      blocks.inner_idxs[0] != k || blocks.inner_idxs[1] != n) {
    return std::nullopt;
  }
  const dnnl_dim_t rows = blocks.inner_blks[0], width = blocks.inner_blks[1];
  if (blocks.strides[k] != rows * width || blocks.strides[n] != packed.padded_dims[k] * width ||
      packed.padded_offsets[k] != 0 || packed.padded_offsets[n] != 0) {
    return std::nullopt;
  }
  return WeightPanels{static_cast<size_t>(width),
                      static_cast<size_t>(blocks.strides[n]) * sizeof(float)};
}

}  // namespace tenon
