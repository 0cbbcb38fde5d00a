#include "kernels/strings/format.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_split.h"
#include "env/status.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

// The shorter of two numbers of digits that reproduces the value.
std::string ShortOrExact(double v, int few, int many, bool is_float) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.*g", few, v);
  const double back =
      is_float ? static_cast<double>(std::strtof(text, nullptr)) : std::strtod(text, nullptr);
  if (back != v && v == v) std::snprintf(text, sizeof(text), "%.*g", many, v);
  return text;
}

template <typename T>
std::string Element(const void* data, int64_t i) {
  const T& v = static_cast<const T*>(data)[i];
  if constexpr (std::is_same_v<T, std::string>) {
    return absl::StrCat("\"", absl::Utf8SafeCEscape(v), "\"");
  } else if constexpr (kIsComplex<T>) {
    return "?";  // as in TensorFlow
  } else if constexpr (std::is_same_v<T, double>) {
    return ShortOrExact(v, 15, 17, false);
  } else if constexpr (kIsFloat<T>) {
    return ShortOrExact(static_cast<double>(ToCompute(v)), 6, 9, true);
  } else if constexpr (std::is_signed_v<T>) {
    return absl::StrCat(static_cast<int64_t>(v));
  } else {
    return absl::StrCat(static_cast<uint64_t>(v));
  }
}

using ElementFn = std::string (*)(const void* data, int64_t i);

// A tensor in brackets, with at most `ends` slices from each end of a dimension.
class Summary {
 public:
  Summary(ElementFn element, const Shape& shape, const void* data, int64_t ends)
      : element_(element), shape_(shape), data_(data), ends_(ends) {}

  std::string Text() {
    Append(0, 0);
    return std::move(out_);
  }

 private:
  void Space(int dim) {
    const int inner = shape_.rank() - 1 - dim;
    out_ += inner == 0 ? " "
                       : std::string(static_cast<size_t>(inner), '\n') +
                             std::string(static_cast<size_t>(dim) + 1, ' ');
  }

  void Append(int dim, int64_t at) {
    if (dim == shape_.rank()) {
      out_ += ends_ == 0 ? "..." : element_(data_, at);
      return;
    }
    int64_t stride = 1;
    for (int d = dim + 1; d < shape_.rank(); ++d) stride *= shape_[d];
    const int64_t n = shape_[dim];
    out_ += '[';
    for (int64_t i = 0; i < std::min(n, ends_); ++i) {
      if (i > 0) Space(dim);
      Append(dim + 1, at + i * stride);
    }
    if (n - ends_ > ends_) {
      Space(dim);
      out_ += "...";
    }
    for (int64_t i = std::max(ends_, n - ends_); i < n; ++i) {
      Space(dim);
      Append(dim + 1, at + i * stride);
    }
    out_ += ']';
  }

  const ElementFn element_;
  const Shape& shape_;
  const void* const data_;
  const int64_t ends_;
  std::string out_;
};

std::string Summarize(DType dtype, const Shape& shape, const void* data, int64_t summarize) {
  const int64_t n = shape.num_elements();
  const int64_t ends = summarize < 0 ? n : std::min(summarize, n);
  ElementFn element = nullptr;
  VisitTypes(AllTypes{}, dtype, [&]<typename T>() { element = Element<T>; });
  return element == nullptr ? "" : Summary(element, shape, data, ends).Text();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> StringFormatKernel(PrepareContext& p) {
  const std::string text = p.attrs().String("template", "%s");
  const std::string placeholder = p.attrs().String("placeholder", "%s");
  const int64_t summarize = p.attrs().Int("summarize", 3);
  std::vector<std::string> pieces{text};
  if (!placeholder.empty()) pieces = absl::StrSplit(text, placeholder);
  if (static_cast<int>(pieces.size()) != p.num_inputs() + 1) {
    return InvalidArgument("the template has ", pieces.size() - 1, " placeholders for ",
                           p.num_inputs(), " inputs");
  }
  struct Argument {
    DType dtype;
    Shape shape;
  };
  std::vector<Argument> arguments;
  for (int i = 0; i < p.num_inputs(); ++i) {
    arguments.push_back({p.input_dtype(i), p.input_shape(i)});
  }
  return MakeKernel([pieces, arguments, summarize](RunContext& run) {
    std::string out = pieces[0];
    for (size_t i = 0; i < arguments.size(); ++i) {
      const auto& [dtype, shape] = arguments[i];
      absl::StrAppend(&out, Summarize(dtype, shape, run.input(static_cast<int>(i)), summarize),
                      pieces[i + 1]);
    }
    *run.output<std::string>(0) = std::move(out);
    return absl::OkStatus();
  });
}

}  // namespace tenon
