#include "proto/stablehlo/dimension_numbers.h"

namespace tenon::stablehlo {
namespace {

void AppendVarint(std::string& out, uint64_t value) {
  for (; value >= 128; value >>= 7) out += static_cast<char>((value & 127) | 128);
  out += static_cast<char>(value);
}

}  // namespace

std::string DimensionNumbers(std::initializer_list<std::pair<int, std::vector<int64_t>>> fields) {
  std::string out;
  for (const auto& [number, values] : fields) {
    for (int64_t value : values) {
      AppendVarint(out, static_cast<uint64_t>(number) << 3);
      AppendVarint(out, static_cast<uint64_t>(value));
    }
  }
  return out;
}

}  // namespace tenon::stablehlo
