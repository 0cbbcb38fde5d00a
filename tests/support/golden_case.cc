#include "tests/support/golden_case.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "env/status.h"
#include "graph/npz/npz.h"
#include "graph/small_numbers.h"
#include "ops/op.h"
#include "tests/support/source_dir.h"

namespace tenon {
namespace {

// Splits at `separator` outside of brackets and quotes.
std::vector<std::string> SplitArguments(absl::string_view text, absl::string_view separator) {
  std::vector<std::string> parts;
  int depth = 0;
  bool quoted = false;
  std::string part;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (!quoted && text[i] == '[') ++depth;
    if (!quoted && text[i] == ']') --depth;
    if (depth == 0 && !quoted && absl::StartsWith(text.substr(i), separator)) {
      parts.push_back(part);
      part.clear();
      i += separator.size() - 1;
    } else {
      part += text[i];
    }
  }
  if (!part.empty()) parts.push_back(part);
  return parts;
}

absl::StatusOr<DType> TypeOfArgument(absl::string_view text) {
  const DType dtype = GoldenDType(text.substr(0, text.find('[')));
  if (dtype == DType::kInvalid) return InvalidArgument("'", text, "' has no dtype");
  return dtype;
}

template <typename T, typename F>
absl::StatusOr<AttrValue> List(absl::string_view text, F&& one) {
  if (!absl::ConsumePrefix(&text, "[") || !absl::ConsumeSuffix(&text, "]")) {
    return InvalidArgument("'", text, "' is no list");
  }
  std::vector<T> values;
  for (const std::string& item : SplitArguments(text, ",")) values.push_back(one(item));
  return AttrValue(std::move(values));
}

int64_t IntOf(absl::string_view text) {
  int64_t v = 0;
  return absl::SimpleAtoi(text, &v) ? v : INT64_MIN;
}
float FloatOf(absl::string_view text) {
  float v = 0;
  return absl::SimpleAtof(text, &v) ? v : -12345.0f;
}
std::string StringOf(absl::string_view text) {
  if (absl::ConsumePrefix(&text, "hex:")) return absl::HexStringToBytes(text);
  absl::ConsumePrefix(&text, "\"");
  absl::ConsumeSuffix(&text, "\"");
  return std::string(text);
}

Shape ShapeOf(absl::string_view text) {
  const absl::StatusOr<AttrValue> dims = List<int64_t>(text, IntOf);
  if (!dims.ok()) return Shape::Unknown();
  return Shape(absl::MakeConstSpan(*dims->get_if<std::vector<int64_t>>()));
}

absl::StatusOr<AttrValue> AttrOf(absl::string_view kind, absl::string_view text) {
  if (kind == "int") return AttrValue(IntOf(text));
  if (kind == "float") return AttrValue(FloatOf(text));
  if (kind == "bool") return AttrValue(text == "true");
  if (kind == "string") return AttrValue(StringOf(text));
  if (kind == "type") return AttrValue(GoldenDType(text));
  if (kind == "list(int)") return List<int64_t>(text, IntOf);
  if (kind == "list(float)") return List<float>(text, FloatOf);
  if (kind == "list(string)") return List<std::string>(text, StringOf);
  if (kind == "list(type)") return List<DType>(text, GoldenDType);
  if (kind == "shape") return AttrValue(ShapeOf(text));
  if (kind == "list(shape)") return List<Shape>(text, ShapeOf);
  return InvalidArgument("attributes of kind ", kind, " are not read from case files");
}

std::string Folder() { return SourcePath("tests/numerics/goldens/"); }

using Arrays = std::map<std::string, Tensor>;

const absl::StatusOr<Arrays>& ArraysOf(const std::string& topic) {
  static auto* const cache = new std::map<std::string, absl::StatusOr<Arrays>>;
  auto it = cache->find(topic);
  if (it != cache->end()) return it->second;
  absl::StatusOr<Arrays> arrays = Arrays();
  if (auto read = ReadNpz(Folder() + topic + ".npz"); read.ok()) {
    arrays->insert(read->begin(), read->end());
  } else {
    arrays = read.status();
  }
  return cache->emplace(topic, std::move(arrays)).first->second;
}

}  // namespace

DType GoldenDType(absl::string_view name) {
  static constexpr std::pair<const char*, DType> kNames[] = {
      {"f32", DType::kFloat},
      {"f64", DType::kDouble},
      {"f16", DType::kHalf},
      {"bf16", DType::kBfloat16},
      {"i8", DType::kInt8},
      {"i16", DType::kInt16},
      {"i32", DType::kInt32},
      {"i64", DType::kInt64},
      {"u8", DType::kUint8},
      {"u16", DType::kUint16},
      {"u32", DType::kUint32},
      {"u64", DType::kUint64},
      {"bool", DType::kBool},
      {"c64", DType::kComplex64},
      {"c128", DType::kComplex128},
      {"str", DType::kString},
      {"qi8", DType::kQint8},
      {"qu8", DType::kQuint8},
      {"qi16", DType::kQint16},
      {"qu16", DType::kQuint16},
      {"qi32", DType::kQint32},
      {"f8e5m2", DType::kFloat8E5m2},
      {"f8e4m3fn", DType::kFloat8E4m3fn},
      {"i4", DType::kInt4},
      {"u4", DType::kUint4},
  };
  for (const auto& [text, dtype] : kNames) {
    if (name == text) return dtype;
  }
  return DType::kInvalid;
}

absl::StatusOr<GoldenCase> ParseGoldenCase(const std::string& line) {
  GoldenCase c;
  c.line = line;
  const size_t colon = line.find(": ");
  const size_t open = line.find('(', colon);
  const size_t close = line.find(')', open);
  if (close == std::string::npos) return InvalidArgument("'", line, "' is no case");
  c.name = line.substr(0, colon);
  c.op = line.substr(colon + 2, open - colon - 2);
  for (const std::string& text : SplitArguments(line.substr(open + 1, close - open - 1), ", ")) {
    TENON_ASSIGN_OR_RETURN(const DType dtype, TypeOfArgument(text));
    c.inputs.push_back({dtype, absl::StrContains(text, "=const")});
  }
  absl::string_view rest = absl::string_view(line).substr(close + 1);
  c.safe = absl::ConsumeSuffix(&rest, " => safe");
  c.fails = c.safe || absl::ConsumeSuffix(&rest, " => error");
  if (absl::ConsumePrefix(&rest, " -> ")) {
    // Outputs end before the first attribute.
    std::string outputs;
    std::vector<std::string> words = SplitArguments(rest, " ");
    size_t i = 0;
    while (i < words.size() && !absl::StrContains(words[i], '=')) {
      absl::StrAppend(&outputs, words[i++], " ");
    }
    for (absl::string_view text : SplitArguments(outputs, " ")) {
      absl::ConsumeSuffix(&text, ",");
      TENON_ASSIGN_OR_RETURN(const DType dtype, TypeOfArgument(text));
      c.outputs.push_back(dtype);
    }
    rest = i < words.size() ? rest.substr(rest.find(words[i])) : "";
  }
  for (const std::string& word : SplitArguments(absl::StripAsciiWhitespace(rest), " ")) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) return InvalidArgument("'", word, "' is no attribute");
    c.attributes.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return c;
}

absl::StatusOr<std::vector<GoldenCase>> ReadGoldenCases(const std::string& path) {
  std::ifstream file(path);
  if (!file) return NotFound("no file ", path);
  std::vector<GoldenCase> cases;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    TENON_ASSIGN_OR_RETURN(GoldenCase c, ParseGoldenCase(line));
    cases.push_back(std::move(c));
  }
  return cases;
}

absl::StatusOr<Node> MakeNode(const GoldenCase& c) {
  const OpLookup op = FindOp(c.op);
  if (!op) return Unimplemented("op ", c.op, " is not in the table");
  Node node;
  node.id = 0;
  node.name = c.name;
  node.op = c.op;
  for (const auto& [name, text] : c.attributes) {
    const AttrSpec* spec = op.info->signature.FindAttr(name);
    if (spec == nullptr) continue;  // an attribute that only TensorFlow needs
    TENON_ASSIGN_OR_RETURN(node.attrs[name], AttrOf(spec->kind, text));
  }
  TENON_RETURN_IF_ERROR(CompleteAttrs(*op.info, node));
  return node;
}

std::vector<std::string> GoldenTopics() {
  std::vector<std::string> topics;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(Folder(), error)) {
    if (entry.path().extension() == ".nodes") topics.push_back(entry.path().stem());
  }
  std::sort(topics.begin(), topics.end());
  return topics;
}

absl::StatusOr<std::vector<GoldenCase>> GoldenCasesOf(const std::string& topic) {
  return ReadGoldenCases(Folder() + topic + ".nodes");
}

absl::StatusOr<Tensor> GoldenArray(const std::string& topic, const std::string& array,
                                   DType dtype) {
  const absl::StatusOr<Arrays>& arrays = ArraysOf(topic);
  if (!arrays.ok()) return arrays.status();
  auto it = arrays->find(array);
  if (it == arrays->end()) return NotFound("no array ", array);
  const Tensor& t = it->second;
  // bfloat16 and smaller numbers are stored as bits, quantized elements as integers.
  if (dtype != DType::kBfloat16 && !IsQuantized(dtype) && !IsFloat8(dtype) && !IsFourBits(dtype)) {
    return t;
  }
  if (SizeOf(dtype) != SizeOf(t.dtype())) return Internal(array, " is not stored as ", Name(dtype));
  auto owner = std::make_shared<Tensor>(t);
  return Tensor::FromExternal(dtype, t.shape(), owner->raw(), owner);
}

absl::StatusOr<std::vector<Tensor>> GoldenInputs(const std::string& topic, const GoldenCase& c) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(Tensor t,
                           GoldenArray(topic, absl::StrCat(c.name, "/in", i), c.inputs[i].dtype));
    inputs.push_back(std::move(t));
  }
  return inputs;
}

}  // namespace tenon
