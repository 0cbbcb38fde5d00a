#include "tools/serve/text_file.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"

namespace tenon::serve {
namespace {

class FirstError final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text.empty()) text = absl::StrCat(line + 1, ":", column + 1, ": ", message);
  }
  std::string text;
};

}  // namespace

absl::Status ReadTextProto(const std::string& path, google::protobuf::Message* message) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file.is_open() || file.bad())
    return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  const std::string bytes = text.str();
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  FirstError errors;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  if (!parser.Parse(&stream, message)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ":", errors.text));
  }
  return absl::OkStatus();
}

}  // namespace tenon::serve
