#include "graph/text_values.h"

#include <Eigen/Core>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/small_numbers.h"

namespace tenon::text {
namespace {

template <typename F, typename Bits>
std::string NumberText(F v) {
  if (std::isnan(v)) {
    const Bits bits = std::bit_cast<Bits>(v);
    if (bits == std::bit_cast<Bits>(std::numeric_limits<F>::quiet_NaN())) return "nan";
    return absl::StrCat("nan:", absl::Hex(bits));
  }
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), v).ptr;
  return std::string(buffer, end);
}

template <typename F, typename Bits>
bool ReadNumber(absl::string_view s, F* v) {
  if (s == "nan") return *v = std::numeric_limits<F>::quiet_NaN(), true;
  if (s == "inf") return *v = std::numeric_limits<F>::infinity(), true;
  if (s == "-inf") return *v = -std::numeric_limits<F>::infinity(), true;
  const char* end = s.data() + s.size();
  if (absl::StartsWith(s, "nan:")) {
    Bits bits = 0;
    const auto r = std::from_chars(s.data() + 4, end, bits, 16);
    if (r.ec != std::errc() || r.ptr != end) return false;
    *v = std::bit_cast<F>(bits);
    return std::isnan(*v);
  }
  if (s.empty() ||
      !(absl::ascii_isdigit(static_cast<unsigned char>(s[0])) || s[0] == '-' || s[0] == '.')) {
    return false;
  }
  const auto r = std::from_chars(s.data(), end, *v);
  return r.ec == std::errc() && r.ptr == end;
}

// 16-bit floats: printed as a float, which is exact; NaN by its bits.
template <typename H>
std::string SmallFloatText(H v) {
  const auto bits = Eigen::numext::bit_cast<uint16_t>(v);
  const float f = static_cast<float>(v);
  return std::isnan(f) ? absl::StrCat("nan:", absl::Hex(bits)) : FloatText(f);
}

template <typename H>
bool ReadSmallFloat(absl::string_view s, H* v) {
  uint16_t bits;
  if (absl::StartsWith(s, "nan:")) {
    const char* end = s.data() + s.size();
    const auto r = std::from_chars(s.data() + 4, end, bits, 16);
    if (r.ec != std::errc() || r.ptr != end) return false;
    *v = Eigen::numext::bit_cast<H>(bits);
    return std::isnan(static_cast<float>(*v));
  }
  float f;
  if (!ReadFloat(s, &f)) return false;
  *v = static_cast<H>(f);
  return true;
}

template <typename I>
bool ReadInt(absl::string_view s, I* v) {
  const char* end = s.data() + s.size();
  const auto r = std::from_chars(s.data(), end, *v);
  return r.ec == std::errc() && r.ptr == end;
}

// "(re,im)"
template <typename C, typename Read>
bool ReadComplex(absl::string_view s, C* v, Read read) {
  if (s.size() < 5 || s.front() != '(' || s.back() != ')') return false;
  const size_t comma = s.find(',');
  if (comma == absl::string_view::npos) return false;
  typename C::value_type re, im;
  if (!read(s.substr(1, comma - 1), &re)) return false;
  if (!read(s.substr(comma + 1, s.size() - comma - 2), &im)) return false;
  *v = C(re, im);
  return true;
}

}  // namespace

bool IsBareChar(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '/' ||
         c == '-' || c == '>';
}

std::string NameText(absl::string_view name) {
  bool bare = !name.empty();
  for (char c : name) bare = bare && IsBareChar(c);
  return bare ? std::string(name) : Quoted(name);
}

std::string Quoted(absl::string_view s) {
  std::string out = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c >= 0x20 && c < 0x7f) {
      out += c;
    } else {
      absl::StrAppend(&out, "\\x", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    }
  }
  return out + "\"";
}

std::string FloatText(float v) { return NumberText<float, uint32_t>(v); }
std::string DoubleText(double v) { return NumberText<double, uint64_t>(v); }
bool ReadFloat(absl::string_view s, float* v) { return ReadNumber<float, uint32_t>(s, v); }
bool ReadDouble(absl::string_view s, double* v) { return ReadNumber<double, uint64_t>(s, v); }

std::string ElementText(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DType::kFloat:
      return FloatText(t.data<float>()[i]);
    case DType::kDouble:
      return DoubleText(t.data<double>()[i]);
    case DType::kHalf:
      return SmallFloatText(t.data<half>()[i]);
    case DType::kBfloat16:
      return SmallFloatText(t.data<bfloat16>()[i]);
    case DType::kBool:
      return t.data<uint8_t>()[i] != 0 ? "true" : "false";
    case DType::kFloat8E5m2:
    case DType::kFloat8E4m3fn:
      return FloatText(Float8Value(t.dtype(), t.data<uint8_t>()[i]));
    case DType::kInt4:
      return absl::StrCat(static_cast<int>(Int4Value(t.data<uint8_t>()[i])));
    case DType::kUint4:
      return absl::StrCat(static_cast<int>(t.data<uint8_t>()[i] & 15));
    case DType::kInt8:
    case DType::kQint8:
      return absl::StrCat(static_cast<int>(t.data<int8_t>()[i]));
    case DType::kUint8:
    case DType::kQuint8:
      return absl::StrCat(static_cast<int>(t.data<uint8_t>()[i]));
    case DType::kInt16:
    case DType::kQint16:
      return absl::StrCat(t.data<int16_t>()[i]);
    case DType::kUint16:
    case DType::kQuint16:
      return absl::StrCat(t.data<uint16_t>()[i]);
    case DType::kInt32:
    case DType::kQint32:
      return absl::StrCat(t.data<int32_t>()[i]);
    case DType::kUint32:
      return absl::StrCat(t.data<uint32_t>()[i]);
    case DType::kInt64:
      return absl::StrCat(t.data<int64_t>()[i]);
    case DType::kUint64:
      return absl::StrCat(t.data<uint64_t>()[i]);
    case DType::kString:
      return Quoted(t.data<std::string>()[i]);
    case DType::kComplex64: {
      const auto v = t.data<std::complex<float>>()[i];
      return absl::StrCat("(", FloatText(v.real()), ",", FloatText(v.imag()), ")");
    }
    case DType::kComplex128: {
      const auto v = t.data<std::complex<double>>()[i];
      return absl::StrCat("(", DoubleText(v.real()), ",", DoubleText(v.imag()), ")");
    }
    default:
      return "";
  }
}

bool StoreElement(Tensor& t, int64_t i, absl::string_view s) {
  switch (t.dtype()) {
    case DType::kFloat:
      return ReadFloat(s, t.data<float>() + i);
    case DType::kDouble:
      return ReadDouble(s, t.data<double>() + i);
    case DType::kHalf:
      return ReadSmallFloat(s, t.data<half>() + i);
    case DType::kBfloat16:
      return ReadSmallFloat(s, t.data<bfloat16>() + i);
    case DType::kBool:
      t.data<uint8_t>()[i] = s == "true";
      return s == "true" || s == "false";
    case DType::kFloat8E5m2:
    case DType::kFloat8E4m3fn: {
      float v = 0;
      if (!ReadFloat(s, &v)) return false;
      t.data<uint8_t>()[i] = Float8Bits(t.dtype(), static_cast<double>(v));
      return true;
    }
    case DType::kInt4:
    case DType::kInt8:
    case DType::kQint8:
      return ReadInt(s, t.data<int8_t>() + i);
    case DType::kUint4:
    case DType::kUint8:
    case DType::kQuint8:
      return ReadInt(s, t.data<uint8_t>() + i);
    case DType::kInt16:
    case DType::kQint16:
      return ReadInt(s, t.data<int16_t>() + i);
    case DType::kUint16:
    case DType::kQuint16:
      return ReadInt(s, t.data<uint16_t>() + i);
    case DType::kInt32:
    case DType::kQint32:
      return ReadInt(s, t.data<int32_t>() + i);
    case DType::kUint32:
      return ReadInt(s, t.data<uint32_t>() + i);
    case DType::kInt64:
      return ReadInt(s, t.data<int64_t>() + i);
    case DType::kUint64:
      return ReadInt(s, t.data<uint64_t>() + i);
    case DType::kComplex64:
      return ReadComplex(s, t.data<std::complex<float>>() + i, ReadFloat);
    case DType::kComplex128:
      return ReadComplex(s, t.data<std::complex<double>>() + i, ReadDouble);
    default:
      return false;
  }
}

}  // namespace tenon::text
