// Kernels that change variables.
//
//   return UpdateKernel(dtype, {0}, [n](RunContext& run, absl::Span<Tensor* const> variables) {
//     ...
//   });
#ifndef TENON_KERNELS_STATE_UPDATE_H_
#define TENON_KERNELS_STATE_UPDATE_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/state/variable.h"

namespace tenon {

using VariableUpdate = std::function<absl::Status(RunContext&, absl::Span<Tensor* const>)>;

// `handles` are the inputs with the variables, which must have dtype `dtype`. The function gets
// exclusive access to their values; it checks their shapes.
absl::StatusOr<std::unique_ptr<Kernel>> UpdateKernel(DType dtype, std::vector<int> handles,
                                                     VariableUpdate update);

// InvalidArgument unless all the variables have that shape.
absl::Status ExpectShape(absl::Span<Tensor* const> variables, const Shape& shape);

// InvalidArgument unless all the variables have one shape, which may differ from `rows` in
// dimension 0 only.
absl::Status ExpectRows(absl::Span<Tensor* const> variables, const Shape& rows);
// `count` indices of rows; InvalidArgument if one is not in [0, size).
absl::StatusOr<std::vector<int64_t>> RowsAt(const RunContext& run, int input, DType dtype,
                                            int64_t count, int64_t size);

}  // namespace tenon

#endif  // TENON_KERNELS_STATE_UPDATE_H_
