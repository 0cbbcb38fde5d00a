// StringLower, StringUpper, StringStrip, StringLength. Case conversion covers ASCII, or all
// characters with encoding "utf-8".
#include <locale.h>

#include <clocale>
#include <cwctype>

#include "absl/strings/ascii.h"
#include "kernels/strings/map.h"
#include "kernels/strings/utf8.h"
#include "ops/op.h"

namespace tenon {
namespace {

enum class Case { kLower, kUpper };

// The C library's tables for Unicode; never freed.
locale_t UnicodeLocale() {
  static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return locale;
}

template <Case to>
absl::Status Convert(const std::string& in, std::string& out) {
  std::string text;
  for (size_t at = 0; at < in.size();) {
    const uint32_t c = NextCharacter(in, at);
    const wint_t w = static_cast<wint_t>(c);
    const wint_t mapped =
        to == Case::kLower ? towlower_l(w, UnicodeLocale()) : towupper_l(w, UnicodeLocale());
    if (to == Case::kUpper && c == 0xDF) {
      text += "SS";  // the one common letter that becomes two
    } else {
      AppendCharacter(static_cast<uint32_t>(mapped), text);
    }
  }
  out = std::move(text);
  return absl::OkStatus();
}

template <Case to>
absl::StatusOr<std::unique_ptr<Kernel>> ChangeCase(PrepareContext& p) {
  const std::string encoding = p.attrs().String("encoding", "");
  if (encoding == "") {
    return MapStrings<std::string>(p, [](const std::string& in, std::string& out) {
      out = to == Case::kLower ? absl::AsciiStrToLower(in) : absl::AsciiStrToUpper(in);
      return absl::OkStatus();
    });
  }
  if (encoding != "utf-8") return InvalidArgument("encoding must be utf-8 or '', not ", encoding);
  if (UnicodeLocale() == locale_t{}) return Unimplemented("this system has no C.UTF-8 locale");
  return MapStrings<std::string>(p, Convert<to>);
}

absl::StatusOr<std::unique_ptr<Kernel>> Strip(PrepareContext& p) {
  return MapStrings<std::string>(p, [](const std::string& in, std::string& out) {
    out = std::string(absl::StripAsciiWhitespace(in));
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> Length(PrepareContext& p) {
  const std::string unit = p.attrs().String("unit", "BYTE");
  if (unit != "BYTE" && unit != "UTF8_CHAR") return InvalidArgument("unit '", unit, "'");
  const bool bytes = unit == "BYTE";
  return MapStrings<int32_t>(p, [bytes](const std::string& in, int32_t& out) {
    out = static_cast<int32_t>(bytes ? static_cast<int64_t>(in.size()) : CountCharacters(in));
    return absl::OkStatus();
  });
}

const OpRegistration string_lower_op({
    .name = "StringLower",
    .inputs = "input: string",
    .outputs = "output: string",
    .attrs = "encoding: string = ",
    .shape = UnchangedShape,
    .reference = ChangeCase<Case::kLower>,
});

const OpRegistration string_upper_op({
    .name = "StringUpper",
    .inputs = "input: string",
    .outputs = "output: string",
    .attrs = "encoding: string = ",
    .shape = UnchangedShape,
    .reference = ChangeCase<Case::kUpper>,
});

const OpRegistration string_strip_op({
    .name = "StringStrip",
    .inputs = "input: string",
    .outputs = "output: string",
    .shape = UnchangedShape,
    .reference = Strip,
});

const OpRegistration string_length_op({
    .name = "StringLength",
    .inputs = "input: string",
    .outputs = "output: int32",
    .attrs = "unit: string = BYTE",
    .shape = UnchangedShape,
    .reference = Length,
});

}  // namespace
}  // namespace tenon
