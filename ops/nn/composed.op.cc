// FusedPadConv2D and FusedResizeAndPadConv2D. Import writes them as standard ops
// (proto/import/expand.h), so they have signatures and no kernels.
#include "ops/op.h"

namespace tenon {
namespace {

const OpRegistration fused_pad_conv2d({
    .name = "FusedPadConv2D",
    .inputs = "input: T, paddings: int32, filter: T",
    .outputs = "output: T",
    .attrs = "T: type; mode: string; strides: list(int); padding: string",
    .shape = UnknownShape,
});

const OpRegistration fused_resize_and_pad_conv2d({
    .name = "FusedResizeAndPadConv2D",
    .inputs = "input: T, size: int32, paddings: int32, filter: T",
    .outputs = "output: T",
    .attrs = "T: type; resize_align_corners: bool = false; mode: string; strides: list(int); "
             "padding: string",
    .shape = UnknownShape,
});

}  // namespace
}  // namespace tenon
