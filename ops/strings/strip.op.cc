// StringStrip and StringLength.
#include "absl/strings/ascii.h"
#include "kernels/strings/map.h"
#include "ops/op.h"

namespace tenon {
namespace {

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
