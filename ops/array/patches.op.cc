// ExtractImagePatches, ExtractVolumePatches: the window around each position, laid out as channels.
#include "kernels/layout/patches.h"

#include <algorithm>

#include "ops/op.h"

namespace tenon {
namespace {

template <int rank>
absl::Status PatchesShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, rank));
  TENON_ASSIGN_OR_RETURN(const Patches p, ReadPatches(c.attrs(), rank));
  Shape out = c.input(0).has_rank() ? c.input(0) : Shape::UnknownOfRank(rank);
  int64_t depth = out.dim(rank - 1);
  for (size_t i = 0; i < p.size.size(); ++i) {
    const int axis = static_cast<int>(i) + 1;
    if (depth >= 0 && __builtin_mul_overflow(depth, p.size[i], &depth)) {
      return InvalidArgument("windows that are too large");
    }
    const int64_t n = out.dim(axis);
    if (n < 0) continue;
    const int64_t window = (p.size[i] - 1) * p.rate[i] + 1;
    // As for pools, a window that is too large by less than two strides has no place; a larger
    // one is refused.
    const int64_t places = (p.same ? n + p.stride[i] - 1 : n - window + p.stride[i]) / p.stride[i];
    if (places < 0) return InvalidArgument("a window of ", window, " in a size of ", n);
    out.set_dim(axis, places);
  }
  out.set_dim(rank - 1, depth);
  if (out.IsComplete()) TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

const OpRegistration extract_image_patches_op({
    .name = "ExtractImagePatches",
    .inputs = "images: T",
    .outputs = "patches: T",
    .attrs = "ksizes: list(int); strides: list(int); rates: list(int); T: type; padding: string",
    .types = "T: bfloat16 half float double int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
             "complex64 complex128 bool",
    .shape = PatchesShape<4>,
    .reference = ExtractPatchesKernel<4>,
});

const OpRegistration extract_volume_patches_op({
    .name = "ExtractVolumePatches",
    .inputs = "input: T",
    .outputs = "patches: T",
    .attrs = "ksizes: list(int); strides: list(int); T: type; padding: string",
    .types = "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64",
    .shape = PatchesShape<5>,
    .reference = ExtractPatchesKernel<5>,
});

}  // namespace
}  // namespace tenon
