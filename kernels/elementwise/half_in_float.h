// Runs a kernel of floats on a node of halves: widens the inputs, runs it, and rounds the outputs.
// Every half is a float, so nothing but the last rounding is lost.
#ifndef TENON_KERNELS_ELEMENTWISE_HALF_IN_FLOAT_H_
#define TENON_KERNELS_ELEMENTWISE_HALF_IN_FLOAT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Prepares `factory` for the node of `context`, whose inputs are `inputs`, with float in place of
// half. Unimplemented if the factory says so, or if the shape of an output depends on data.
absl::StatusOr<std::unique_ptr<Kernel>> PrepareInFloat(PrepareContext& context,
                                                       absl::Span<const TensorSpec> inputs,
                                                       KernelFactory factory);

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_HALF_IN_FLOAT_H_
