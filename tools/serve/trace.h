// W3C trace context: callers name the trace that a request belongs to in a header "traceparent".
// Answers carry it back, and a log line of the request has its ids.
#ifndef TENON_TOOLS_SERVE_TRACE_H_
#define TENON_TOOLS_SERVE_TRACE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tenon::serve {

inline constexpr char kTraceHeader[] = "traceparent";

// What "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" says.
struct Trace {
  std::string header;  // empty: the request is part of no trace, or its header is not valid
  std::string trace_id, parent_id;
  bool sampled = false;

  static Trace Parse(absl::string_view header);
};

// Logs the request if it is part of a trace, and was sampled or failed. `call`: "Predict", or
// "POST /v1/models/m:predict".
void LogTraced(const Trace& trace, absl::string_view call, absl::string_view model,
               absl::string_view status, bool failed, double microseconds);

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_TRACE_H_
