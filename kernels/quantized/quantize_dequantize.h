// Rounds floats (float or double) to values that `num_bits` integers can represent.
#ifndef TENON_KERNELS_QUANTIZED_QUANTIZE_DEQUANTIZE_H_
#define TENON_KERNELS_QUANTIZED_QUANTIZE_DEQUANTIZE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The integers, and the source of the range.
struct RoundTripAttrs {
  bool signed_input = true;
  bool range_given = false;
  bool narrow_range = false;
  bool half_up = false;
  int64_t axis = -1;
};

// InvalidArgument for an unknown round_mode.
absl::StatusOr<RoundTripAttrs> ReadRoundTripAttrs(const AttrReader& attrs);

// The range is the attributes input_min and input_max (one input), or inputs 1 and 2; without
// range_given it is measured. The number of bits is an attribute or input 3. InvalidArgument if it
// is out of range, or a range is empty.
absl::StatusOr<std::unique_ptr<Kernel>> QuantizeDequantizeKernel(PrepareContext& p);

// dy (input 0) where x (input 1) is in the range (inputs 2 and 3), otherwise 0; 0 for the range.
absl::StatusOr<std::unique_ptr<Kernel>> QuantizeDequantizeGradKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_QUANTIZE_DEQUANTIZE_H_
