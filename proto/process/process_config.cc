#include "proto/process/process_config.h"

#include <algorithm>

#include "env/status.h"
#include "proto/messages/tenon_config.pb.h"

namespace tenon {

absl::StatusOr<ProcessConfig> ParseProcessConfig(absl::string_view bytes) {
  tf::ConfigProto message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return InvalidArgument("not a ConfigProto");
  }
  ProcessConfig config;
  config.intra_op_threads = std::max(0, message.intra_op_parallelism_threads());
  return config;
}

}  // namespace tenon
