// Reads protobuf messages from files and from memory, binary or text, detected by their content.
#ifndef TENON_PROTO_MESSAGES_MESSAGE_FILE_H_
#define TENON_PROTO_MESSAGES_MESSAGE_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace google::protobuf {
class Message;
}

namespace tenon {

// Unknown fields are skipped. Errors name the file and, for text, the line. `was_text` may be null.
absl::Status ReadMessageFile(const std::string& path, google::protobuf::Message& message,
                             bool* was_text);

// The same, from memory.
absl::Status ParseMessage(absl::string_view bytes, google::protobuf::Message& message,
                          bool* was_text);

enum class MessageFormat { kBinary, kText };

// Writes a temporary file beside `path` and renames it, so that `path` is never half-written.
absl::Status WriteMessageFile(const std::string& path, const google::protobuf::Message& message,
                              MessageFormat format);

}  // namespace tenon

#endif  // TENON_PROTO_MESSAGES_MESSAGE_FILE_H_
