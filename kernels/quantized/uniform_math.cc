#include "kernels/quantized/uniform_math.h"

#include "absl/strings/str_cat.h"
#include "env/status.h"

namespace tenon {

absl::StatusOr<FixedPointFactor> FixedPointFactor::Of(double factor) {
  if (!std::isfinite(factor) || factor <= 0) {
    return InvalidArgument("a ratio of scales must be positive and finite, is ", factor);
  }
  int shift = 0;
  const double fraction = std::frexp(factor, &shift);
  int64_t multiplier = std::llround(fraction * 0x1p31);
  if (multiplier == int64_t{1} << 31) {
    multiplier /= 2;
    ++shift;
  }
  if (shift < -31) {
    multiplier = 0;
    shift = 0;
  } else if (shift > 30) {
    multiplier = std::numeric_limits<int32_t>::max();
    shift = 30;
  }
  return FixedPointFactor{static_cast<int32_t>(multiplier), shift};
}

absl::StatusOr<IntegerRange> IntegerRange::Of(const AttrReader& attrs, const char* prefix) {
  const auto read = [&](const char* name) -> absl::StatusOr<int32_t> {
    const std::string attr = absl::StrCat(prefix, name);
    TENON_ASSIGN_OR_RETURN(const int64_t value, attrs.Int(attr));
    if (value == static_cast<int32_t>(value)) return static_cast<int32_t>(value);
    return InvalidArgument(attr, " must fit int32, is ", value);
  };
  IntegerRange range;
  TENON_ASSIGN_OR_RETURN(range.low, read("quantization_min_val"));
  TENON_ASSIGN_OR_RETURN(range.high, read("quantization_max_val"));
  return range;
}

absl::Status ExpectPositive(absl::Span<const float> scales, const char* whose) {
  for (float scale : scales) {
    if (!(scale > 0)) return InvalidArgument(whose, " must be positive, but one is ", scale);
  }
  return absl::OkStatus();
}

}  // namespace tenon
