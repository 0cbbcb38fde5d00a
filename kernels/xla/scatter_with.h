// XLA's scatter whose function is a known one.
#ifndef TENON_KERNELS_XLA_SCATTER_WITH_H_
#define TENON_KERNELS_XLA_SCATTER_WITH_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Inputs as those of XlaScatter: operand, scatter_indices, updates. Attribute `function`: update,
// add, sub, mul, minimum or maximum (kernels/layout/scatter.h). Any dtype that it supports, but no
// strings.
absl::StatusOr<std::unique_ptr<Kernel>> ScatterWithKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_XLA_SCATTER_WITH_H_
