#include "graph/small_numbers.h"

#include <bit>
#include <cmath>
#include <limits>

namespace tenon {
namespace {

struct Format {
  int mantissa;         // bits
  int least;            // the exponent of subnormal numbers
  double least_normal;  // 2 to the power of `least`
  uint8_t last;         // the largest finite element
  uint8_t beyond;       // what larger values become
  uint8_t nan;          // the element that a NaN becomes
  bool has_infinity;
};

constexpr Format kE5m2 = {2, -14, 0x1p-14, 0x7B, 0x7C, 0x7E, true};
constexpr Format kE4m3fn = {3, -6, 0x1p-6, 0x7E, 0x7F, 0x7F, false};

const Format& FormatOf(DType dtype) { return dtype == DType::kFloat8E5m2 ? kE5m2 : kE4m3fn; }

}  // namespace

bool IsFloat8(DType dtype) { return dtype == DType::kFloat8E5m2 || dtype == DType::kFloat8E4m3fn; }

bool IsFourBits(DType dtype) { return dtype == DType::kInt4 || dtype == DType::kUint4; }

float Float8Value(DType dtype, uint8_t bits) {
  const Format& f = FormatOf(dtype);
  const int magnitude = bits & 0x7F, steps = 1 << f.mantissa;
  float value;
  if (magnitude > f.last) {
    value = f.has_infinity && magnitude == f.beyond ? std::numeric_limits<float>::infinity()
                                                    : std::numeric_limits<float>::quiet_NaN();
  } else {
    const int exponent = magnitude >> f.mantissa, rest = magnitude & (steps - 1);
    const int whole = exponent == 0 ? rest : steps + rest;
    value = std::ldexp(static_cast<float>(whole),
                       f.least - f.mantissa + (exponent > 0 ? exponent - 1 : 0));
  }
  return (bits & 0x80) != 0 ? -value : value;
}

uint8_t Float8Bits(DType dtype, double value) {
  const Format& f = FormatOf(dtype);
  const auto all = std::bit_cast<uint64_t>(value);
  const uint64_t magnitude = all & ~(uint64_t{1} << 63);
  const auto sign = static_cast<uint8_t>(all >> 56 & 0x80);
  if (std::isnan(value)) return sign | f.nan;
  uint64_t code;
  if (std::fabs(value) < f.least_normal) {
    // Multiples of the last digit: the sum rounds to one.
    const double digit = std::ldexp(f.least_normal, 52 - f.mantissa);
    code = std::bit_cast<uint64_t>(std::fabs(value) + digit) - std::bit_cast<uint64_t>(digit);
  } else {
    // What is rounded up to the next power of two carries into the exponent.
    const int dropped = 52 - f.mantissa;
    const uint64_t odd = magnitude >> dropped & 1;
    const uint64_t rounded = (magnitude + odd + (uint64_t{1} << (dropped - 1)) - 1) >> dropped;
    code = rounded - (static_cast<uint64_t>(1023 - 1 + f.least) << f.mantissa);
  }
  return sign | (code > f.last ? f.beyond : static_cast<uint8_t>(code));
}

}  // namespace tenon
