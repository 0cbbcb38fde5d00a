// Sums and products of 8-bit operands with different ranges, as 32-bit integers.
#ifndef TENON_KERNELS_QUANTIZED_BINARY_H_
#define TENON_KERNELS_QUANTIZED_BINARY_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// quint8 plus quint8, broadcast; the range of the result has room for the sum. InvalidArgument if a
// range is empty.
absl::StatusOr<std::unique_ptr<Kernel>> QuantizedAddKernel(PrepareContext& p);

// quint8 times quint8, broadcast. InvalidArgument if a range is empty.
absl::StatusOr<std::unique_ptr<Kernel>> QuantizedMulKernel(PrepareContext& p);

// 8 bits plus a bias of the same dtype along the last dimension. InvalidArgument if the dtypes
// differ.
absl::StatusOr<std::unique_ptr<Kernel>> QuantizedBiasAddKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_BINARY_H_
