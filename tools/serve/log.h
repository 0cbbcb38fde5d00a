// Log lines on standard error: one JSON object each, {"time":…,"level":…,"message":…,…}.
#ifndef TENON_TOOLS_SERVE_LOG_H_
#define TENON_TOOLS_SERVE_LOG_H_

#include <initializer_list>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace tenon::serve {

using LogFields = std::initializer_list<std::pair<absl::string_view, std::string>>;

void LogInfo(absl::string_view message, LogFields fields = {});
void LogWarning(absl::string_view message, LogFields fields = {});
void LogError(absl::string_view message, LogFields fields = {});

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_LOG_H_
