// Makes ICU's encodings known to the ops that decode text.
#include "kernels/strings/encoding.h"
#include "kernels/text/converters.h"

namespace tenon {
namespace {

class ConverterDecoder final : public TextDecoder {
 public:
  explicit ConverterDecoder(std::string name) : name_(std::move(name)) {}
  absl::Status ForEach(const std::string& text, Visit visit) const override {
    return ConvertCharacters(name_, text, visit);
  }

 private:
  const std::string name_;
};

absl::StatusOr<std::shared_ptr<const TextDecoder>> DecoderNamed(absl::string_view name) {
  std::string encoding(name);
  TENON_RETURN_IF_ERROR(CheckConverter(encoding));
  return std::make_shared<const ConverterDecoder>(std::move(encoding));
}

[[maybe_unused]] const bool known = [] {
  SetTextDecoders(DecoderNamed);
  return true;
}();

}  // namespace
}  // namespace tenon
