// Rounds floats to the integers of a range that is nudged so that it has an integer zero point; and
// the gradients. Ranges of 0 to 0 give 0, and pass gradients on.
#ifndef TENON_KERNELS_QUANTIZED_FAKE_QUANT_H_
#define TENON_KERNELS_QUANTIZED_FAKE_QUANT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The range is given by attributes: min, max. InvalidArgument if min is not below max.
absl::StatusOr<std::unique_ptr<Kernel>> FakeQuantArgs(PrepareContext& p);

// The same by vector code.
absl::StatusOr<std::unique_ptr<Kernel>> FakeQuantArgsVector(PrepareContext& p);

// The range is inputs 1 and 2, scalars.
absl::StatusOr<std::unique_ptr<Kernel>> FakeQuantVars(PrepareContext& p);

// The same by vector code.
absl::StatusOr<std::unique_ptr<Kernel>> FakeQuantVarsVector(PrepareContext& p);

// Inputs 1 and 2 are vectors: one range per slice of the last dimension.
absl::StatusOr<std::unique_ptr<Kernel>> FakeQuantPerChannel(PrepareContext& p);

// The same by vector code: every channel's parameters, in scratch, then row by row.
absl::StatusOr<std::unique_ptr<Kernel>> FakeQuantPerChannelVector(PrepareContext& p);

// dx from dy (input 0) and x (input 1): dy where x is in the range, otherwise 0.
absl::StatusOr<std::unique_ptr<Kernel>> FakeQuantArgsGradient(PrepareContext& p);

// For scalar ranges (one slice) and ranges per channel: dx, and the sums of dy below and above the
// range.
absl::StatusOr<std::unique_ptr<Kernel>> FakeQuantVarsGradient(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_FAKE_QUANT_H_
