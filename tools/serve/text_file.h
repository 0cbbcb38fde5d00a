// Configuration files in protobuf's text form.
#ifndef TENON_TOOLS_SERVE_TEXT_FILE_H_
#define TENON_TOOLS_SERVE_TEXT_FILE_H_

#include <google/protobuf/message.h>

#include <string>

#include "absl/status/status.h"

namespace tenon::serve {

// Errors name the file and the line.
absl::Status ReadTextProto(const std::string& path, google::protobuf::Message* message);

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_TEXT_FILE_H_
