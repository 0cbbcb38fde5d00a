// The parts of partitioned values in a checkpoint: each part's key, and its position in the whole.
#ifndef TENON_PROTO_CHECKPOINT_BUNDLE_SLICES_H_
#define TENON_PROTO_CHECKPOINT_BUNDLE_SLICES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/shape.h"

namespace tenon {

// Start and size of a part, one pair per dimension; size -1: the whole dimension.
using Extents = absl::Span<const std::pair<int64_t, int64_t>>;

// The key of a part's entry in the index: name and extents in an order-preserving encoding.
std::string SliceKey(absl::string_view name, Extents extents);

struct SliceBox {
  std::vector<int64_t> starts;
  Shape shape;

  // InvalidArgument if the extents are not within `whole`.
  static absl::StatusOr<SliceBox> Of(Extents extents, const Shape& whole);
  // Whether the parts have an element in common.
  bool Overlaps(const SliceBox& other) const;
  // Copies the part's elements, of `size` bytes each, to their positions.
  void Copy(const char* part, size_t size, const Shape& whole, char* to) const;
};

}  // namespace tenon

#endif  // TENON_PROTO_CHECKPOINT_BUNDLE_SLICES_H_
