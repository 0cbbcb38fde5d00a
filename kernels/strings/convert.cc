#include "kernels/strings/convert.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "env/status.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "kernels/strings/map.h"

namespace tenon {
namespace {

// How AsStringKernel prints numbers: printf's flag, width, precision.
struct NumberFormat {
  std::string prefix;  // "%+8.3"
  char real = 'f';
  int64_t precision = -1;  // of real numbers; -1: 6
  bool aligned = false;    // by a width or a fill
  bool plain() const { return prefix == "%" && real == 'f'; }
};

absl::StatusOr<NumberFormat> FormatOf(PrepareContext& p) {
  const int64_t precision = p.attrs().Int("precision", -1), width = p.attrs().Int("width", -1);
  const bool scientific = p.attrs().Bool("scientific", false);
  const bool shortest = p.attrs().Bool("shortest", false);
  const std::string fill = p.attrs().String("fill", "");
  const DType dtype = p.input_dtype(0);
  if (IsInteger(dtype) || dtype == DType::kBool) {
    if (scientific || shortest) {
      return InvalidArgument("scientific and shortest formats are not supported for ", Name(dtype));
    }
    if (precision >= 0) return InvalidArgument("a precision is not supported for ", Name(dtype));
  }
  if (fill.size() > 1 || (!fill.empty() && !strchr(" +-0#", fill[0]))) {
    return InvalidArgument("fill must be one of ' ', '+', '-', '0', '#', but is '", fill, "'");
  }
  if (scientific && shortest) return InvalidArgument("scientific and shortest exclude each other");
  // More than any number has, and no more than printf accepts.
  if (precision > 4096 || width > 4096) return InvalidArgument("a width or precision above 4096");
  NumberFormat f;
  f.prefix = "%" + fill;
  if (width > -1) f.prefix += std::to_string(width);
  if (precision > -1) f.prefix += "." + std::to_string(precision);
  f.precision = precision;
  f.aligned = width > -1 || !fill.empty();
  f.real = shortest ? 'g' : scientific ? 'e' : 'f';
  return f;
}

template <typename... Args>
std::string Print(const std::string& format, Args... args) {
  char few[64];
  const int size = std::snprintf(few, sizeof few, format.c_str(), args...);
  const size_t length = static_cast<size_t>(std::max(size, 0));
  if (length < sizeof few) return std::string(few, length);
  std::string text(length + 1, '\0');
  std::snprintf(text.data(), text.size(), format.c_str(), args...);
  text.pop_back();
  return text;
}

// %f of a number with at most 24 significant bits: times 10^6 it is exact in double, and rounding
// that to an integer rounds it as printf does. False if the integer may not fit.
bool PrintFixed(float v, std::string& text) {
  constexpr double kMost = 9e18;
  constexpr uint64_t kMillion = 1000000;
  constexpr size_t kDecimals = 6;
  const double millionths = std::abs(static_cast<double>(v)) * kMillion;
  if (!(millionths < kMost)) return false;
  const auto n = static_cast<uint64_t>(std::llrint(millionths));
  char digits[32];
  char* at = digits;
  if (std::signbit(v)) *at++ = '-';
  at = std::to_chars(at, std::end(digits), n / kMillion).ptr;
  *at = '.';
  uint64_t rest = n % kMillion;
  for (size_t i = kDecimals; i > 0; --i, rest /= 10) at[i] = static_cast<char>('0' + rest % 10);
  text.assign(digits, at + kDecimals + 1);
  return true;
}

// The same text as printf's. False if the format has more than a precision, or that is large.
bool PrintReal(const NumberFormat& f, double v, std::string& text) {
  constexpr int64_t kMostPrecision = 100;
  if (f.aligned || f.precision > kMostPrecision) return false;
  const std::chars_format format = f.real == 'f'   ? std::chars_format::fixed
                                   : f.real == 'e' ? std::chars_format::scientific
                                                   : std::chars_format::general;
  const int precision = f.precision < 0 ? 6 : static_cast<int>(f.precision);
  char digits[512];
  const auto end = std::to_chars(digits, std::end(digits), v, format, precision);
  if (end.ec != std::errc()) return false;
  text.assign(digits, end.ptr);
  return true;
}

template <typename T>
std::string PrintNumber(const NumberFormat& f, const void* data, int64_t i) {
  const T& v = static_cast<const T*>(data)[i];
  if constexpr (std::is_same_v<T, std::string>) {
    return v;
  } else if constexpr (std::is_same_v<T, bool>) {
    return v ? "true" : "false";
  } else if constexpr (kIsComplex<T>) {
    const std::string one = f.prefix + f.real;
    return Print("(" + one + "," + one + ")", static_cast<double>(v.real()),
                 static_cast<double>(v.imag()));
  } else if constexpr (kIsFloat<T>) {
    std::string text;
    if constexpr (!std::is_same_v<T, double>) {
      if (f.plain() && PrintFixed(ToCompute(v), text)) return text;
    }
    if (PrintReal(f, static_cast<double>(ToCompute(v)), text)) return text;
    return Print(f.prefix + f.real, static_cast<double>(ToCompute(v)));
  } else if (f.plain()) {
    return absl::StrCat(v);
  } else if constexpr (std::is_signed_v<T>) {
    return Print(f.prefix + "lld", static_cast<long long>(v));
  } else {
    return Print(f.prefix + "llu", static_cast<unsigned long long>(v));
  }
}

bool Parse(const std::string& text, float& out) { return absl::SimpleAtof(text, &out); }

bool Parse(const std::string& text, double& out) { return absl::SimpleAtod(text, &out); }

template <typename I>
bool Parse(const std::string& text, I& out) {
  return absl::SimpleAtoi(text, &out);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> AsStringKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const NumberFormat format, FormatOf(p));
  // Strings are aligned, and cut to the precision, only if there is a width.
  if (p.input_dtype(0) == DType::kString && p.attrs().Int("width", -1) > 0) {
    return MapStrings<std::string>(p, [=](const std::string& in, std::string& out) {
      // printf ends at a zero: it aligns as many other letters.
      const std::string letters(in.size(), 'x');
      out = Print(format.prefix + "s", letters.c_str());
      const size_t begin = out.find('x');
      if (begin != std::string::npos) {
        const size_t n = out.rfind('x') + 1 - begin;
        out.replace(begin, n, in, 0, n);
      }
      return absl::OkStatus();
    });
  }
  const int64_t n = p.input_shape(0).num_elements();
  const DType dtype = p.input_dtype(0);
  decltype(&PrintNumber<float>) print = nullptr;
  if (!VisitTypes(AllTypes{}, dtype, [&]<typename T>() { print = PrintNumber<T>; })) {
    return NoKernelFor(dtype);
  }
  const int threads = p.services().threads;
  return MakeKernel([format, n, print, threads](RunContext& run) {
    constexpr double kNanoseconds = 40;
    ParallelFor(threads, n, ParallelGrain(kNanoseconds), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        run.output<std::string>(0)[i] = print(format, run.input(0), i);
      }
    });
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> StringToNumberKernel(PrepareContext& p) {
  return DispatchType(TypeList<float, double, int32_t, int64_t, uint32_t, uint64_t>{},
                      p.output_dtype(0), [&]<typename T>() {
                        return MapStrings<T>(p, [](const std::string& in, T& out) {
                          if (Parse(in, out)) return absl::OkStatus();
                          return InvalidArgument("'", in, "' is not a number");
                        });
                      });
}

absl::StatusOr<std::unique_ptr<Kernel>> DecodeRawKernel(PrepareContext& p) {
  const Shape in = p.input_shape(0);
  const DType dtype = p.output_dtype(0);
  const bool swap = !p.attrs().Bool("little_endian", true);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const std::string* strings = run.input<std::string>(0);
    const int64_t n = in.num_elements();
    const size_t bytes = n == 0 ? 0 : strings[0].size(), size = SizeOf(dtype);
    for (int64_t i = 0; i < n; ++i) {
      if (strings[i].size() != bytes) {
        return InvalidArgument("strings must have one length, but they have ", bytes, " and ",
                               strings[i].size(), " bytes");
      }
    }
    if (bytes % size != 0) {
      return InvalidArgument(bytes, " bytes are not a multiple of the size of ", Name(dtype));
    }
    Shape shape = in;
    shape.push_back(static_cast<int64_t>(bytes / size));
    TENON_ASSIGN_OR_RETURN(void* memory, run.AllocateOutput(0, shape));
    char* out = static_cast<char*>(memory);
    for (int64_t i = 0; i < n; ++i) out = std::copy(strings[i].begin(), strings[i].end(), out);
    const size_t unit = IsComplex(dtype) ? size / 2 : size;
    if (swap) {
      for (char* at = static_cast<char*>(memory); at < out; at += unit) std::reverse(at, at + unit);
    }
    if (dtype == DType::kBool) {
      for (char* at = static_cast<char*>(memory); at < out; ++at) *at = *at != 0;
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> EncodeBase64Kernel(PrepareContext& p) {
  const bool pad = p.attrs().Bool("pad", false);
  return MapStrings<std::string>(p, [pad](const std::string& in, std::string& out) {
    out = absl::WebSafeBase64Escape(in);
    if (pad) out.resize((out.size() + 3) / 4 * 4, '=');
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> DecodeBase64Kernel(PrepareContext& p) {
  return MapStrings<std::string>(p, [](const std::string& in, std::string& out) {
    const bool letters = std::all_of(in.begin(), in.end(), [](char c) {
      return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '=';
    });
    std::string text;
    if (!letters || !absl::WebSafeBase64Unescape(in, &text)) {
      return InvalidArgument("invalid base64 text");
    }
    out = std::move(text);
    return absl::OkStatus();
  });
}

}  // namespace tenon
