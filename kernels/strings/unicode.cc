#include "kernels/strings/unicode.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "env/status.h"
#include "kernels/interface/types.h"
#include "kernels/reduction/segments.h"
#include "kernels/strings/encoding.h"
#include "kernels/strings/map.h"
#include "kernels/strings/utf8.h"

namespace tenon {
namespace {

enum class OnError { kStrict, kReplace, kIgnore };

struct Options {
  OnError on_error;
  uint32_t replacement;
  bool replace_control_characters;
  bool replaced_are_errors = false;  // for kStrict
};

// Whether it is not a surrogate, and not beyond the last plane.
bool IsCharacter(int64_t c) { return c >= 0 && c <= 0x10FFFF && !(c >= 0xD800 && c <= 0xDFFF); }

absl::StatusOr<Options> OptionsOf(const AttrReader& attrs) {
  Options options;
  const std::string errors = attrs.String("errors", "replace");
  if (errors == "strict") {
    options.on_error = OnError::kStrict;
  } else if (errors == "replace") {
    options.on_error = OnError::kReplace;
  } else if (errors == "ignore") {
    options.on_error = OnError::kIgnore;
  } else {
    return InvalidArgument("errors '", errors, "'");
  }
  const int64_t replacement = attrs.Int("replacement_char", 0xFFFD);
  if (!IsCharacter(replacement)) return InvalidArgument("replacement_char ", replacement);
  options.replacement = static_cast<uint32_t>(replacement);
  options.replace_control_characters = attrs.Bool("replace_control_characters", false);
  return options;
}

absl::StatusOr<Encoding> InputEncoding(const AttrReader& attrs) {
  TENON_ASSIGN_OR_RETURN(const std::string name, attrs.String("input_encoding"));
  return EncodingNamed(name);
}

// Calls visit(character, its first byte), after handling errors.
template <typename Visit>
absl::Status ForEachCharacter(const std::string& text, const Encoding& encoding,
                              const Options& options, Visit visit) {
  size_t begin = 0;
  const auto handle = [&](uint32_t character, bool valid) {  // false: an error
    const bool replaced = options.replace_control_characters && character <= 0x1F;
    const bool error = !valid || (replaced && options.replaced_are_errors);
    if (error && options.on_error == OnError::kStrict) return false;
    if (!valid || replaced) {
      if (options.on_error == OnError::kIgnore) return true;
      character = options.replacement;
    }
    visit(character, begin);
    return true;
  };
  bool in_encoding = true;
  if (encoding.decoder != nullptr) {
    TENON_RETURN_IF_ERROR(
        encoding.decoder->ForEach(text, [&](uint32_t character, size_t end, bool valid) {
          in_encoding = handle(character, valid);
          begin = in_encoding ? end : begin;
          return in_encoding;
        }));
  } else {
    size_t at = 0;  // a byte order mark belongs to the first character
    const NextCharacterFn next = encoding.Begin(text, at);
    while (at < text.size() && in_encoding) {
      bool valid = true;
      const uint32_t character = next(text, at, valid);
      in_encoding = handle(character, valid);
      begin = in_encoding ? at : begin;
    }
  }
  if (in_encoding) return absl::OkStatus();
  return InvalidArgument("the text is not in its encoding at byte ", begin);
}

using Append = void (*)(uint32_t character, std::string& to);

void AppendBigEndian(uint32_t value, int bytes, std::string& to) {
  for (int i = bytes - 1; i >= 0; --i) to.push_back(static_cast<char>(value >> (8 * i) & 0xFF));
}

void AppendUtf16(uint32_t character, std::string& to) {
  if (character < 0x10000) return AppendBigEndian(character, 2, to);
  AppendBigEndian(0xD800 + ((character - 0x10000) >> 10), 2, to);
  AppendBigEndian(0xDC00 + ((character - 0x10000) & 0x3FF), 2, to);
}

void AppendUtf32(uint32_t character, std::string& to) { AppendBigEndian(character, 4, to); }

absl::StatusOr<Append> OutputEncoding(const AttrReader& attrs) {
  TENON_ASSIGN_OR_RETURN(const std::string encoding, attrs.String("output_encoding"));
  if (encoding == "UTF-8") return &AppendCharacter;
  if (encoding == "UTF-16-BE") return &AppendUtf16;
  if (encoding == "UTF-32-BE") return &AppendUtf32;
  return InvalidArgument("output_encoding '", encoding, "'");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> UnicodeDecodeKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Encoding encoding, InputEncoding(p.attrs()));
  TENON_ASSIGN_OR_RETURN(const Options options, OptionsOf(p.attrs()));
  const int64_t n = p.input_shape(0).num_elements();
  const bool offsets = p.num_outputs() > 2;
  const DType splits_type = p.output_dtype(0);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    std::vector<int32_t> characters;
    std::vector<int64_t> starts, splits = {0};
    for (int64_t i = 0; i < n; ++i) {
      TENON_RETURN_IF_ERROR(ForEachCharacter(
          run.input<std::string>(0)[i], encoding, options, [&](uint32_t character, size_t begin) {
            characters.push_back(static_cast<int32_t>(character));
            starts.push_back(static_cast<int64_t>(begin));
          }));
      splits.push_back(std::ssize(characters));
    }
    VisitTypes(TypeList<int32_t, int64_t>{}, splits_type, [&]<typename I>() {
      std::transform(splits.begin(), splits.end(), run.output<I>(0),
                     [](int64_t v) { return static_cast<I>(v); });
    });
    const Shape shape({std::ssize(characters)});
    TENON_ASSIGN_OR_RETURN(void* memory, run.AllocateOutput(1, shape));
    std::copy(characters.begin(), characters.end(), static_cast<int32_t*>(memory));
    if (!offsets) return absl::OkStatus();
    TENON_ASSIGN_OR_RETURN(memory, run.AllocateOutput(2, shape));
    std::copy(starts.begin(), starts.end(), static_cast<int64_t*>(memory));
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> UnicodeTranscodeKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Encoding encoding, InputEncoding(p.attrs()));
  TENON_ASSIGN_OR_RETURN(Options options, OptionsOf(p.attrs()));
  options.replaced_are_errors = true;
  TENON_ASSIGN_OR_RETURN(const Append append, OutputEncoding(p.attrs()));
  return MapStrings<std::string>(p, [=](const std::string& in, std::string& out) {
    std::string to;
    absl::Status status = ForEachCharacter(
        in, encoding, options, [&](uint32_t character, size_t) { append(character, to); });
    out = std::move(to);
    return status;
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> UnicodeEncodeKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Options options, OptionsOf(p.attrs()));
  TENON_ASSIGN_OR_RETURN(const Append append, OutputEncoding(p.attrs()));
  const int64_t n = p.input_shape(0).dim(0), rows = p.input_shape(1).dim(0) - 1;
  const DType splits_type = p.input_dtype(1);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const std::vector<int64_t> splits = IntegersAt(splits_type, run.input(1), rows + 1);
    if (splits.front() != 0 || !std::is_sorted(splits.begin(), splits.end()) ||
        splits.back() != n) {
      return InvalidArgument("row splits must rise from 0 to the ", n, " characters");
    }
    for (int64_t r = 0; r < rows; ++r) {
      std::string text;
      for (int64_t i = splits[static_cast<size_t>(r)]; i < splits[static_cast<size_t>(r) + 1];
           ++i) {
        const int32_t character = run.input<int32_t>(0)[i];
        if (IsCharacter(character)) {
          append(static_cast<uint32_t>(character), text);
        } else if (options.on_error == OnError::kStrict) {
          return InvalidArgument("input_values[", i, "] = ", character, " is not a character");
        } else if (options.on_error == OnError::kReplace) {
          append(options.replacement, text);
        }
      }
      run.output<std::string>(0)[r] = std::move(text);
    }
    return absl::OkStatus();
  });
}

}  // namespace tenon
