// A compiled oneDNN primitive behind a plain interface. It is immutable; any number of threads may
// call Execute concurrently, each with its own memory and scratch.
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

// A layout that an implementation chose for its weights, with the conversions to and from it.
class PackedLayout {
 public:
  virtual ~PackedLayout() = default;
  // A description of the layout: equal keys and equal plain bytes give equal packed bytes.
  virtual const std::string& key() const = 0;
  virtual size_t bytes() const = 0;
  // `packed` has bytes() bytes, 64-byte aligned.
  virtual absl::Status Pack(const void* plain, void* packed) const = 0;
  // False if packing adds or loses information, so that it cannot be undone.
  virtual bool can_unpack() const { return true; }
  virtual absl::Status Unpack(const void* packed, void* plain) const = 0;
  // The input from which LayoutFromDescription rebuilds this layout in another process with the
  // same library on the same CPU; empty if it cannot.
  virtual std::string description() const { return ""; }
};

// InvalidArgument if no layout gave this description, or it is not for plain elements and packed
// bytes of these sizes.
absl::StatusOr<std::shared_ptr<const PackedLayout>> LayoutFromDescription(
    absl::string_view description, size_t plain_bytes, size_t packed_bytes, int threads);

class Primitive {
 public:
  virtual ~Primitive() = default;
  // One pointer per argument, in the order that the problem's header states. `scratch` has
  // scratch_bytes() bytes, 64-byte aligned; null if that is 0.
  virtual absl::Status Execute(absl::Span<void* const> arguments, void* scratch) const = 0;
  virtual size_t scratch_bytes() const = 0;
  // The name that oneDNN gives it: "brgconv:avx512_core".
  virtual const std::string& implementation() const = 0;
  // Null if the weights are read as the problem describes them.
  virtual std::shared_ptr<const PackedLayout> weights_layout() const = 0;
  // The memory cost of keeping it (an estimate: oneDNN does not report the size of its code).
  virtual size_t bytes() const = 0;
};

}  // namespace tenon

#endif  // TENON_PRIMITIVE_CACHE_PRIMITIVE_H_
