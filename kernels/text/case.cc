#include "kernels/text/case.h"

#include <unicode/locid.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <limits>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"
#include "env/status.h"
#include "kernels/strings/map.h"

namespace tenon {
namespace {

enum class Case { kLower, kUpper };

void ChangeAscii(Case to, std::string& text) {
  if (to == Case::kLower) {
    absl::AsciiStrToLower(&text);
  } else {
    absl::AsciiStrToUpper(&text);
  }
}

absl::Status ChangeUnicode(Case to, const std::string& whole, std::string& out) {
  // As TensorFlow's, the text ends at a NUL.
  const absl::string_view in = absl::string_view(whole).substr(0, whole.find('\0'));
  if (std::all_of(in.begin(), in.end(), [](char c) { return absl::ascii_isascii(c); })) {
    out = std::string(in);
    ChangeAscii(to, out);
    return absl::OkStatus();
  }
  if (in.size() > std::numeric_limits<int32_t>::max()) return InvalidArgument("text of 2 GiB");
  icu::UnicodeString text =
      icu::UnicodeString::fromUTF8(icu::StringPiece(in.data(), static_cast<int32_t>(in.size())));
  const icu::Locale& locale = icu::Locale::getRoot();
  if (to == Case::kLower) {
    text.toLower(locale);
  } else {
    text.toUpper(locale);
  }
  out.clear();
  text.toUTF8String(out);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> CaseKernel(PrepareContext& p, Case to) {
  const std::string encoding = p.attrs().String("encoding", "");
  if (encoding == "") {
    return MapStrings<std::string>(p, [to](const std::string& in, std::string& out) {
      out = in;
      ChangeAscii(to, out);
      return absl::OkStatus();
    });
  }
  if (encoding != "utf-8") return InvalidArgument("encoding must be utf-8 or '', not ", encoding);
  return MapStrings<std::string>(
      p, [to](const std::string& in, std::string& out) { return ChangeUnicode(to, in, out); });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> LowerKernel(PrepareContext& p) {
  return CaseKernel(p, Case::kLower);
}

absl::StatusOr<std::unique_ptr<Kernel>> UpperKernel(PrepareContext& p) {
  return CaseKernel(p, Case::kUpper);
}

}  // namespace tenon
