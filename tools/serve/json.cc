#include "tools/serve/json.h"

#include <charconv>
#include <cmath>

#include "absl/strings/str_cat.h"
// After document.h.
#include <rapidjson/encodedstream.h>
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>

namespace tenon::serve {
namespace {

template <typename T>
std::string Decimal(T value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  char text[64];
  const auto end = std::to_chars(text, text + sizeof(text) - 2, value).ptr;
  std::string decimal(text, end);
  if (decimal.find_first_of(".e") == std::string::npos) decimal += ".0";
  return decimal;
}

// The length of the UTF-8 character at the start of `text`; 0 if there is none.
size_t Utf8Length(absl::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const size_t size = first < 0x80         ? 1
                      : first >> 5 == 0x6  ? 2
                      : first >> 4 == 0xe  ? 3
                      : first >> 3 == 0x1e ? 4
                                           : 0;
  if (size == 0 || size > text.size()) return 0;
  uint32_t code = size == 1 ? first : first & (0x7f >> size);
  for (size_t i = 1; i < size; ++i) {
    if (byte(i) >> 6 != 0x2) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[size] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return 0;
  return size;
}

// Stops writing after some bytes.
class Limited {
 public:
  explicit Limited(size_t limit) : limit_(limit) {}
  using Ch = char;
  void Put(char c) {
    if (text_.size() < limit_) text_ += c;
  }
  void Flush() {}
  bool full() const { return text_.size() >= limit_; }
  const std::string& text() const { return text_; }

 private:
  size_t limit_;
  std::string text_;
};

// Writes a value's beginning. `depth` keeps the stack small.
void WriteShortened(const rapidjson::Value& value, int depth, Limited& out) {
  rapidjson::Writer<Limited> writer(out);
  const auto put = [&](absl::string_view text) {
    for (const char c : text) out.Put(c);
  };
  if (out.full()) return;
  switch (value.GetType()) {
    case rapidjson::kObjectType:
    case rapidjson::kArrayType: {
      const bool object = value.IsObject();
      put(object ? "{" : "[");
      bool first = true;
      const auto separate = [&] {
        if (!first) put(", ");
        first = false;
      };
      if (depth == 0) {
        put("...");
      } else if (object) {
        for (const auto& member : value.GetObject()) {
          if (out.full()) break;
          separate();
          WriteShortened(member.name, depth - 1, out);
          put(": ");
          WriteShortened(member.value, depth - 1, out);
        }
      } else {
        for (const auto& element : value.GetArray()) {
          if (out.full()) break;
          separate();
          WriteShortened(element, depth - 1, out);
        }
      }
      put(object ? "}" : "]");
      break;
    }
    case rapidjson::kNumberType:
      put(value.IsDouble()  ? Decimal(value.GetDouble())
          : value.IsInt64() ? absl::StrCat(value.GetInt64())
                            : absl::StrCat(value.GetUint64()));
      break;
    case rapidjson::kStringType:
      writer.String(value.GetString(), std::min<rapidjson::SizeType>(value.GetStringLength(), 256));
      break;
    case rapidjson::kTrueType:
      put("true");
      break;
    case rapidjson::kFalseType:
      put("false");
      break;
    case rapidjson::kNullType:
      put("null");
      break;
  }
}

}  // namespace

void JsonWriter::Text(absl::string_view text) {
  size_t valid = 0;
  while (valid < text.size()) {
    const size_t size = Utf8Length(text.substr(valid));
    if (size == 0) break;
    valid += size;
  }
  if (valid == text.size()) {
    writer_.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
    return;
  }
  std::string fixed(text.substr(0, valid));
  while (valid < text.size()) {
    const size_t size = Utf8Length(text.substr(valid));
    absl::StrAppend(&fixed, size == 0 ? "\xef\xbf\xbd" : text.substr(valid, size));
    valid += size == 0 ? 1 : size;
  }
  writer_.String(fixed.data(), static_cast<rapidjson::SizeType>(fixed.size()));
}

void JsonWriter::Float(float value) {
  const std::string text = Decimal(value);
  writer_.RawValue(text.data(), text.size(), rapidjson::kNumberType);
}

void JsonWriter::Double(double value) {
  const std::string text = Decimal(value);
  writer_.RawValue(text.data(), text.size(), rapidjson::kNumberType);
}

absl::Status ParseJsonObject(absl::string_view text, rapidjson::Document* document) {
  if (text.empty()) {
    return absl::InvalidArgumentError("JSON Parse error: The document is empty");
  }
  rapidjson::MemoryStream memory(text.data(), text.size());
  rapidjson::EncodedInputStream<rapidjson::UTF8<>, rapidjson::MemoryStream> stream(memory);
  constexpr unsigned kFlags = rapidjson::kParseIterativeFlag | rapidjson::kParseNanAndInfFlag |
                              rapidjson::kParseStopWhenDoneFlag;
  if (document->ParseStream<kFlags>(stream).HasParseError()) {
    return absl::InvalidArgumentError(
        absl::StrCat("JSON Parse error: ", rapidjson::GetParseError_En(document->GetParseError()),
                     " at offset: ", document->GetErrorOffset()));
  }
  if (!document->IsObject()) {
    return absl::InvalidArgumentError(
        absl::StrCat("JSON Value: ", Shortened(*document), " Is not object"));
  }
  return absl::OkStatus();
}

std::string Shortened(const rapidjson::Value& value) {
  Limited out(256);
  WriteShortened(value, 32, out);
  return out.text();
}

std::string ErrorJson(absl::string_view message) {
  JsonWriter json;
  json.StartObject();
  json.Key("error");
  json.Text(message);
  json.EndObject();
  return json.Take();
}

}  // namespace tenon::serve
