// Prepares kernels late. Kernels whose parameters are small inputs (axis, shape, paddings ...) are
// prepared from their values. If such a value is known only at Run, PrepareLate returns a kernel
// that reads it at Run, infers the output shapes, and prepares and runs the real kernel.
//
//   absl::StatusOr<std::unique_ptr<Kernel>> Tile(PrepareContext& p) {
//     const Tensor* multiples = p.value(1);
//     if (multiples == nullptr) return PrepareLate(p, Tile, {1});
//     ...
//     p.InputNotRead(1);
#ifndef TENON_KERNELS_INTERFACE_LATE_KERNEL_H_
#define TENON_KERNELS_INTERFACE_LATE_KERNEL_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

absl::StatusOr<std::unique_ptr<Kernel>> PrepareLate(PrepareContext& context, KernelFactory factory,
                                                    std::vector<int> value_inputs);

}  // namespace tenon

#endif  // TENON_KERNELS_INTERFACE_LATE_KERNEL_H_
