#include "tools/tensor_text.h"

#include <Eigen/Core>
#include <algorithm>
#include <complex>
#include <limits>
#include <numeric>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace tenon {
namespace {

constexpr int64_t kFirst = 6;
constexpr int64_t kFewestClasses = 5;
constexpr int64_t kMostRows = 4;

template <typename T>
std::vector<double> Convert(const Tensor& t) {
  std::vector<double> out;
  out.reserve(static_cast<size_t>(t.num_elements()));
  for (const T& v : t.flat<T>()) out.push_back(static_cast<double>(v));
  return out;
}

template <typename T>
void AppendComplex(const Tensor& t, std::string& out) {
  for (int64_t i = 0; i < std::min(t.num_elements(), kFirst); ++i) {
    const T v = t.data<T>()[i];
    absl::StrAppendFormat(&out, " %.6g%+.6gi", v.real(), v.imag());
  }
}

std::string TopClasses(const std::vector<double>& values, int64_t rows, int64_t classes) {
  std::string out;
  for (int64_t row = 0; row < std::min(rows, kMostRows); ++row) {
    const double* scores = values.data() + row * classes;
    std::vector<int64_t> order(static_cast<size_t>(classes));
    std::iota(order.begin(), order.end(), int64_t{0});
    const int64_t best = std::min<int64_t>(5, classes);
    std::partial_sort(order.begin(), order.begin() + best, order.end(), [&](int64_t a, int64_t b) {
      return scores[a] > scores[b] || (scores[a] == scores[b] && a < b);
    });
    absl::StrAppend(&out, "\n  row ", row, ", best:");
    for (int64_t i = 0; i < best; ++i) {
      const int64_t c = order[static_cast<size_t>(i)];
      absl::StrAppendFormat(&out, "  %d (%.6g)", c, scores[c]);
    }
  }
  return out;
}

}  // namespace

std::vector<double> ToDoubles(const Tensor& t) {
  switch (t.dtype()) {
    case DType::kFloat:
      return Convert<float>(t);
    case DType::kDouble:
      return Convert<double>(t);
    case DType::kHalf:
      return Convert<half>(t);
    case DType::kBfloat16:
      return Convert<bfloat16>(t);
    case DType::kBool:
      return Convert<bool>(t);
    case DType::kInt8:
    case DType::kQint8:
      return Convert<int8_t>(t);
    case DType::kUint8:
    case DType::kQuint8:
      return Convert<uint8_t>(t);
    case DType::kInt16:
    case DType::kQint16:
      return Convert<int16_t>(t);
    case DType::kUint16:
    case DType::kQuint16:
      return Convert<uint16_t>(t);
    case DType::kInt32:
    case DType::kQint32:
      return Convert<int32_t>(t);
    case DType::kUint32:
      return Convert<uint32_t>(t);
    case DType::kInt64:
      return Convert<int64_t>(t);
    case DType::kUint64:
      return Convert<uint64_t>(t);
    default:
      return {};
  }
}

std::string DescribeTensor(const std::string& name, const Tensor& t) {
  std::string out = absl::StrCat(name, ": ", Name(t.dtype()), " ", t.shape().ToString());
  if (t.num_elements() == 0) return absl::StrCat(out, "  (no elements)");
  const std::string more = t.num_elements() > kFirst ? " ..." : "";
  if (t.dtype() == DType::kString) {
    for (int64_t i = 0; i < std::min(t.num_elements(), kFirst); ++i) {
      absl::StrAppend(&out, i == 0 ? "  first: \"" : " \"",
                      absl::CHexEscape(t.data<std::string>()[i].substr(0, 60)), "\"");
    }
    return out + more;
  }
  if (IsComplex(t.dtype())) {
    absl::StrAppend(&out, "  first:");
    if (t.dtype() == DType::kComplex64) {
      AppendComplex<std::complex<float>>(t, out);
    } else {
      AppendComplex<std::complex<double>>(t, out);
    }
    return out + more;
  }
  const std::vector<double> values = ToDoubles(t);
  double least = std::numeric_limits<double>::infinity(), most = -least, sum = 0;
  int64_t not_numbers = 0;
  for (double v : values) {
    if (v != v) {
      ++not_numbers;
      continue;
    }
    least = std::min(least, v);
    most = std::max(most, v);
    sum += v;
  }
  const int64_t numbers = t.num_elements() - not_numbers;
  if (numbers > 0) {
    absl::StrAppendFormat(&out, "  min %.6g  max %.6g  mean %.6g", least, most,
                          sum / static_cast<double>(numbers));
  }
  if (not_numbers > 0) absl::StrAppend(&out, "  NaN: ", not_numbers);
  absl::StrAppend(&out, "  first:");
  for (int64_t i = 0; i < std::min(t.num_elements(), kFirst); ++i) {
    absl::StrAppendFormat(&out, " %.6g", values[static_cast<size_t>(i)]);
  }
  absl::StrAppend(&out, more);
  if (t.shape().rank() == 2 && t.shape()[1] >= kFewestClasses && IsFloating(t.dtype())) {
    absl::StrAppend(&out, TopClasses(values, t.shape()[0], t.shape()[1]));
  }
  return out;
}

}  // namespace tenon
