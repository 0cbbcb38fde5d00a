// Texts that the C interface gives away.
#ifndef TENON_INCLUDE_C_API_TEXT_H_
#define TENON_INCLUDE_C_API_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "env/status.h"
#include "include/c_api_types.h"
#include "tenon/tenon.h"

struct tenon_text {
  std::string text;
};

namespace tenon {

// Gives the document that `make` returns, or its error. Bytes that are not UTF-8 (names in damaged
// models) become replacement characters.
template <typename Subject, typename Make>
tenon_status* GiveJson(const Subject* subject, tenon_text** to, Make make) {
  return Guard([&]() -> absl::Status {
    if (subject == nullptr || to == nullptr) return InvalidArgument("null argument");
    const absl::StatusOr<nlohmann::ordered_json> json = make();
    if (!json.ok()) return json.status();
    using Handler = nlohmann::ordered_json::error_handler_t;
    *to = new tenon_text{json->dump(-1, ' ', false, Handler::replace)};
    return absl::OkStatus();
  });
}

}  // namespace tenon

#endif  // TENON_INCLUDE_C_API_TEXT_H_
