// ArgMax and ArgMin by vector code.
#ifndef TENON_KERNELS_REDUCTION_ARG_REDUCE_H_
#define TENON_KERNELS_REDUCTION_ARG_REDUCE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// (x, axis): x is float or bfloat16, the output [x's other axes] of any integer dtype that the op
// has. Unimplemented for other dtypes and if the axis is not known.
absl::StatusOr<std::unique_ptr<Kernel>> VectorArgMax(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> VectorArgMin(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_REDUCTION_ARG_REDUCE_H_
