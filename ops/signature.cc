// Parses the signature strings of an OpRow.
#include "ops/signature.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "env/status.h"
#include "ops/op.h"

namespace tenon {
namespace {

std::string Trim(absl::string_view s) { return std::string(absl::StripAsciiWhitespace(s)); }

// Splits at `sep` outside of brackets.
std::vector<std::string> SplitOutside(absl::string_view text, char sep) {
  std::vector<std::string> parts;
  int depth = 0;
  std::string part;
  for (char c : text) {
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (c == sep && depth == 0) {
      parts.push_back(Trim(part));
      part.clear();
    } else {
      part += c;
    }
  }
  if (!Trim(part).empty()) parts.push_back(Trim(part));
  return parts;
}

absl::StatusOr<AttrValue> ParseScalar(absl::string_view kind, const std::string& text) {
  if (kind == "int") {
    int64_t v;
    if (absl::SimpleAtoi(text, &v)) return AttrValue(v);
  } else if (kind == "float") {
    float v;
    if (absl::SimpleAtof(text, &v)) return AttrValue(v);
  } else if (kind == "bool") {
    if (text == "true" || text == "false") return AttrValue(text == "true");
  } else if (kind == "string") {
    return AttrValue(text);
  } else if (kind == "type") {
    if (auto dtype = DTypeFromName(text)) return AttrValue(*dtype);
  } else if (kind == "shape") {
    if (text == "?") return AttrValue(Shape::Unknown());
  }
  return InvalidArgument("'", text, "' is no default of kind ", kind);
}

template <typename T>
absl::StatusOr<AttrValue> ParseList(absl::string_view kind, absl::string_view body) {
  std::vector<T> values;
  for (const std::string& item : SplitOutside(body, ',')) {
    TENON_ASSIGN_OR_RETURN(AttrValue v, ParseScalar(kind, item));
    if constexpr (std::is_same_v<T, bool>) {
      values.push_back(*v.get_if<bool>());
    } else {
      values.push_back(*v.get_if<T>());
    }
  }
  return AttrValue(std::move(values));
}

absl::StatusOr<AttrValue> ParseDefault(absl::string_view kind, const std::string& text) {
  if (!absl::ConsumePrefix(&kind, "list(")) return ParseScalar(kind, text);
  kind.remove_suffix(1);
  absl::string_view body = text;
  if (!absl::ConsumePrefix(&body, "[") || !absl::ConsumeSuffix(&body, "]")) {
    return InvalidArgument("'", text, "' is no list");
  }
  if (kind == "int") return ParseList<int64_t>(kind, body);
  if (kind == "float") return ParseList<float>(kind, body);
  if (kind == "bool") return ParseList<bool>(kind, body);
  if (kind == "string") return ParseList<std::string>(kind, body);
  if (kind == "type") return ParseList<DType>(kind, body);
  if (kind == "shape") return ParseList<Shape>(kind, body);
  if (kind == "func" && body.empty()) return AttrValue(std::vector<FuncRef>());
  return InvalidArgument("no defaults for list(", kind, ")");
}

absl::StatusOr<AttrSpec> ParseAttrSpec(const std::string& text) {
  AttrSpec spec;
  const size_t colon = text.find(':');
  if (colon == std::string::npos) return InvalidArgument("attribute '", text, "' has no kind");
  spec.name = Trim(text.substr(0, colon));
  const std::string rest = text.substr(colon + 1);
  const size_t equals = rest.find('=');
  spec.kind = Trim(rest.substr(0, equals));
  if (equals != std::string::npos) {
    spec.has_default = true;
    TENON_ASSIGN_OR_RETURN(spec.default_value,
                           ParseDefault(spec.kind, Trim(rest.substr(equals + 1))));
  }
  return spec;
}

absl::StatusOr<ArgSpec> ParseArg(const OpSignature& signature, const std::string& text) {
  ArgSpec arg;
  const size_t colon = text.find(':');
  if (colon == std::string::npos) return InvalidArgument("argument '", text, "' has no type");
  arg.name = Trim(text.substr(0, colon));
  std::string type = Trim(text.substr(colon + 1));
  if (const size_t star = type.find('*'); star != std::string::npos) {
    arg.number_attr = Trim(type.substr(0, star));
    type = Trim(type.substr(star + 1));
  }
  if (const AttrSpec* attr = signature.FindAttr(type)) {
    (attr->kind == "list(type)" ? arg.type_list_attr : arg.type_attr) = type;
  } else if (auto dtype = DTypeFromName(type)) {
    arg.dtype = *dtype;
  } else {
    return InvalidArgument("argument '", text, "': '", type,
                           "' is neither a dtype nor an attribute");
  }
  return arg;
}

}  // namespace

const AttrSpec* OpSignature::FindAttr(absl::string_view name) const {
  for (const AttrSpec& spec : attrs) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

absl::StatusOr<OpSignature> ParseSignature(const OpRow& row) {
  OpSignature signature;
  for (const std::string& text : SplitOutside(row.attrs, ';')) {
    TENON_ASSIGN_OR_RETURN(AttrSpec spec, ParseAttrSpec(text));
    signature.attrs.push_back(std::move(spec));
  }
  for (const std::string& text : SplitOutside(row.inputs, ',')) {
    TENON_ASSIGN_OR_RETURN(ArgSpec arg, ParseArg(signature, text));
    signature.inputs.push_back(std::move(arg));
  }
  for (const std::string& text : SplitOutside(row.outputs, ',')) {
    TENON_ASSIGN_OR_RETURN(ArgSpec arg, ParseArg(signature, text));
    signature.outputs.push_back(std::move(arg));
  }
  for (const std::string& text : SplitOutside(row.types, ';')) {
    const size_t colon = text.find(':');
    if (colon == std::string::npos) return InvalidArgument("types '", text, "' has no attribute");
    std::vector<DType>& allowed = signature.types[Trim(text.substr(0, colon))];
    for (absl::string_view word : absl::StrSplit(text.substr(colon + 1), ' ', absl::SkipEmpty())) {
      auto dtype = DTypeFromName(word);
      if (!dtype) return InvalidArgument("types '", text, "': '", word, "' is no dtype");
      allowed.push_back(*dtype);
    }
  }
  return signature;
}

}  // namespace tenon
