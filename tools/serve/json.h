// JSON texts, written with RapidJSON; NaN and Infinity as bare words, as TensorFlow Serving does.
#ifndef TENON_TOOLS_SERVE_JSON_H_
#define TENON_TOOLS_SERVE_JSON_H_

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tenon::serve {

class JsonWriter {
 public:
  JsonWriter() : writer_(buffer_) {}

  void StartObject() { writer_.StartObject(); }
  void EndObject() { writer_.EndObject(); }
  void StartArray() { writer_.StartArray(); }
  void EndArray() { writer_.EndArray(); }
  void Key(absl::string_view key) {
    writer_.Key(key.data(), static_cast<rapidjson::SizeType>(key.size()));
  }
  // Bytes that are not UTF-8 become U+FFFD.
  void Text(absl::string_view text);
  void Int(int64_t value) { writer_.Int64(value); }
  void Uint(uint64_t value) { writer_.Uint64(value); }
  void Bool(bool value) { writer_.Bool(value); }
  // The shortest text that is read as the same float or double: 0.1, 3.0, 1e+30, NaN, -Infinity.
  void Float(float value);
  void Double(double value);
  // A value that is JSON already.
  void Raw(absl::string_view json) {
    writer_.RawValue(json.data(), json.size(), rapidjson::kObjectType);
  }
  std::string Take() { return std::string(buffer_.GetString(), buffer_.GetSize()); }

 private:
  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer, rapidjson::UTF8<>, rapidjson::UTF8<>,
                    rapidjson::CrtAllocator, rapidjson::kWriteNanAndInfFlag>
      writer_;
};

// Parses an object. Nesting costs no stack. Errors are worded as TensorFlow Serving's.
absl::Status ParseJsonObject(absl::string_view text, rapidjson::Document* document);

// The value as text, cut after 256 bytes; for errors.
std::string Shortened(const rapidjson::Value& value);

// {"error": "…"}
std::string ErrorJson(absl::string_view message);

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_JSON_H_
