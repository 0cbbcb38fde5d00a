// StringFormat, which writes tensors into a text, and what it is mostly for: Print and PrintV2.
// These print nothing here, as the library never does: they pass on what they are given.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/escaping.h"
#include "absl/strings/str_split.h"
#include "kernels/interface/types.h"
#include "kernels/layout/copy.h"
#include "ops/op.h"

namespace tenon {
namespace {

// The fewer of two numbers of digits that gives the value back.
std::string ShortOrExact(double v, int few, int many, bool is_float) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.*g", few, v);
  const double back =
      is_float ? static_cast<double>(std::strtof(text, nullptr)) : std::strtod(text, nullptr);
  if (back != v && v == v) std::snprintf(text, sizeof(text), "%.*g", many, v);
  return text;
}

template <typename T>
std::string Element(const T& v) {
  if constexpr (std::is_same_v<T, std::string>) {
    return absl::StrCat("\"", absl::Utf8SafeCEscape(v), "\"");
  } else if constexpr (kIsComplex<T>) {
    return "?";  // as TensorFlow has it
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

// A tensor in brackets, with at most `ends` slices from each end of a dimension.
template <typename T>
class Summary {
 public:
  Summary(const Shape& shape, const T* data, int64_t ends)
      : shape_(shape), data_(data), ends_(ends) {}

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
      out_ += Element(data_[at]);
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

  const Shape& shape_;
  const T* const data_;
  const int64_t ends_;
  std::string out_;
};

std::string Summarize(DType dtype, const Shape& shape, const void* data, int64_t summarize) {
  const int64_t n = shape.num_elements();
  const int64_t ends = summarize < 0 ? n : std::min(summarize, n);
  std::string text;
  VisitTypes(AllTypes{}, dtype, [&]<typename T>() {
    text = Summary<T>(shape, static_cast<const T*>(data), ends).Text();
  });
  return text;
}

absl::StatusOr<std::unique_ptr<Kernel>> StringFormat(PrepareContext& p) {
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

const OpRegistration string_format_op({
    .name = "StringFormat",
    .inputs = "inputs: T",
    .outputs = "output: string",
    .attrs = "T: list(type); template: string = %s; placeholder: string = %s; summarize: int = 3",
    .shape = ScalarShape,
    .reference = StringFormat,
});

const OpRegistration print_op({
    .name = "Print",
    .inputs = "input: T, data: U",
    .outputs = "output: T",
    .attrs = "T: type; U: list(type); message: string = ; first_n: int = -1; summarize: int = 3",
    .shape = UnchangedShape,
    .reference = CopyKernel,
    .alias = true,
});

const OpRegistration print_v2_op({
    .name = "PrintV2",
    .inputs = "input: string",
    .attrs = "output_stream: string = stderr; end: string = ",
    .shape = [](ShapeContext&) { return absl::OkStatus(); },
    .reference =
        [](PrepareContext&) { return MakeKernel([](RunContext&) { return absl::OkStatus(); }); },
});

}  // namespace
}  // namespace tenon
