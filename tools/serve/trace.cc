#include "tools/serve/trace.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "tools/serve/log.h"

namespace tenon::serve {
namespace {

bool IsLowerHex(absl::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool IsId(absl::string_view text) {
  return IsLowerHex(text) && text.find_first_not_of('0') != absl::string_view::npos;
}

}  // namespace

Trace Trace::Parse(absl::string_view header) {
  // version "-" trace id "-" parent id "-" flags; later versions may append "-…".
  constexpr size_t kSize = 55;
  Trace trace;
  if (header.size() < kSize || header[2] != '-' || header[35] != '-' || header[52] != '-')
    return trace;
  const absl::string_view version = header.substr(0, 2), flags = header.substr(53, 2);
  const absl::string_view id = header.substr(3, 32), parent = header.substr(36, 16);
  if (!IsLowerHex(version) || version == "ff" || !IsId(id) || !IsId(parent) || !IsLowerHex(flags)) {
    return trace;
  }
  if (header.size() > kSize && (version == "00" || header[kSize] != '-')) return trace;
  trace.header = std::string(header.substr(0, kSize));
  trace.trace_id = std::string(id);
  trace.parent_id = std::string(parent);
  const char last = flags[1];
  trace.sampled = ((last <= '9' ? last - '0' : last - 'a' + 10) & 1) != 0;
  return trace;
}

void LogTraced(const Trace& trace, absl::string_view call, absl::string_view model,
               absl::string_view status, bool failed, double microseconds) {
  if (trace.header.empty() || (!trace.sampled && !failed)) return;
  LogInfo("request", {{"call", std::string(call)},
                      {"model", std::string(model)},
                      {"status", std::string(status)},
                      {"microseconds", absl::StrFormat("%.0f", microseconds)},
                      {"trace_id", trace.trace_id},
                      {"parent_id", trace.parent_id}});
}

}  // namespace tenon::serve
