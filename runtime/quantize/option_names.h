// The names of quantization's choices, in the command line and in the C interface.
#ifndef TENON_RUNTIME_QUANTIZE_OPTION_NAMES_H_
#define TENON_RUNTIME_QUANTIZE_OPTION_NAMES_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/dtype.h"
#include "runtime/quantize/range.h"
#include "runtime/quantize/round_weights.h"

namespace tenon {

// "error", "minmax", "percentile", "entropy". InvalidArgument, here and below, for other names.
absl::StatusOr<RangeMethod> RangeMethodFromName(absl::string_view name);
// "int8", "int4", "bf16".
absl::StatusOr<WeightFormat> WeightFormatFromName(absl::string_view name);
// The dtype of scales: "float16", "bfloat16", "float32".
absl::StatusOr<DType> ScalesFromName(absl::string_view name);

}  // namespace tenon

#endif  // TENON_RUNTIME_QUANTIZE_OPTION_NAMES_H_
