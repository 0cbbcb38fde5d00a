// The options of the session or eager context that runs a kernel in TensorFlow's process.
#ifndef TENON_PROTO_PROCESS_PROCESS_CONFIG_H_
#define TENON_PROTO_PROCESS_PROCESS_CONFIG_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tenon {

struct ProcessConfig {
  int intra_op_threads = 0;  // 0: not specified
};

// Parses a ConfigProto; InvalidArgument for other bytes.
absl::StatusOr<ProcessConfig> ParseProcessConfig(absl::string_view bytes);

}  // namespace tenon

#endif  // TENON_PROTO_PROCESS_PROCESS_CONFIG_H_
