// A compiled oneDNN primitive behind a plain interface. Immutable; any number of threads may
// Execute it at once, each with its own memory and scratch.
#ifndef TENON_PRIMITIVE_CACHE_PRIMITIVE_H_
#define TENON_PRIMITIVE_CACHE_PRIMITIVE_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tenon {

// A layout that an implementation chose for its weights, and the way there and back.
class PackedLayout {
 public:
  virtual ~PackedLayout() = default;
  // Spelled out so that equal keys mean: equal plain bytes give equal packed bytes.
  virtual const std::string& key() const = 0;
  virtual size_t bytes() const = 0;
  // `packed` has bytes() bytes, 64-byte aligned.
  virtual absl::Status Pack(const void* plain, void* packed) const = 0;
  // False: packing adds or loses something, so that there is no way back.
  virtual bool can_unpack() const { return true; }
  virtual absl::Status Unpack(const void* packed, void* plain) const = 0;
  // What LayoutFromDescription needs to make this layout again, in another process with the same
  // library on the same CPU; empty: it cannot.
  virtual std::string description() const { return ""; }
};

// InvalidArgument where a layout did not give this description, or it is not for plain elements and
// packed bytes of these sizes.
absl::StatusOr<std::shared_ptr<const PackedLayout>> LayoutFromDescription(
    absl::string_view description, size_t plain_bytes, size_t packed_bytes, int threads);

class Primitive {
 public:
  virtual ~Primitive() = default;
  // One pointer for each argument, in the order that the problem's header tells. `scratch` has
  // scratch_bytes() bytes, 64-byte aligned; null where that is 0.
  virtual absl::Status Execute(absl::Span<void* const> arguments, void* scratch) const = 0;
  virtual size_t scratch_bytes() const = 0;
  // oneDNN's name of it: "brgconv:avx512_core".
  virtual const std::string& implementation() const = 0;
  // Null: the weights are read as the problem describes them.
  virtual std::shared_ptr<const PackedLayout> weights_layout() const = 0;
  // What it costs to keep (an estimate: oneDNN does not tell the size of its code).
  virtual size_t bytes() const = 0;
};

}  // namespace tenon

#endif  // TENON_PRIMITIVE_CACHE_PRIMITIVE_H_
