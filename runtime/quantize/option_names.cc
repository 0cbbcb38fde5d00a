#include "runtime/quantize/option_names.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "env/status.h"

namespace tenon {
namespace {

template <typename T>
absl::StatusOr<T> ValueOf(absl::string_view name, const char* what,
                          const std::vector<std::pair<const char*, T>>& values) {
  std::string names;
  for (const auto& [known, value] : values) {
    if (name == known) return value;
    absl::StrAppend(&names, names.empty() ? "" : ", ", known);
  }
  return InvalidArgument(what, " '", name, "' is none of ", names);
}

}  // namespace

absl::StatusOr<RangeMethod> RangeMethodFromName(absl::string_view name) {
  return ValueOf<RangeMethod>(name, "method",
                              {{"error", RangeMethod::kError},
                               {"minmax", RangeMethod::kMinMax},
                               {"percentile", RangeMethod::kPercentile},
                               {"entropy", RangeMethod::kEntropy}});
}

absl::StatusOr<WeightFormat> WeightFormatFromName(absl::string_view name) {
  return ValueOf<WeightFormat>(name, "format of weights",
                               {{"int8", WeightFormat::kInt8},
                                {"int4", WeightFormat::kInt4},
                                {"bf16", WeightFormat::kBfloat16}});
}

absl::StatusOr<DType> ScalesFromName(absl::string_view name) {
  return ValueOf<DType>(
      name, "dtype of scales",
      {{"float16", DType::kHalf}, {"bfloat16", DType::kBfloat16}, {"float32", DType::kFloat}});
}

}  // namespace tenon
