// The command line of TensorFlow Serving's model server, and a few flags of our own.
#ifndef TENON_TOOLS_SERVE_SERVER_FLAGS_H_
#define TENON_TOOLS_SERVE_SERVER_FLAGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/serve/scheduler.h"

namespace tenon::serve {

// Defaults are TensorFlow Serving's where it has the flag.
struct ServerFlags {
  int port = 8500;  // gRPC
  std::string grpc_socket_path;
  int rest_api_port = 0;  // 0: no REST
  int rest_api_num_threads = 0;
  int rest_api_timeout_in_ms = 30000;
  bool rest_api_enable_cors_support = false;
  bool enable_batching = false;
  std::string batching_parameters_file;
  bool allow_version_labels_for_unavailable_models = false;
  std::string model_config_file;
  int64_t model_config_file_poll_wait_seconds = 0;
  std::string model_name = "default";
  std::string model_base_path;
  int max_num_load_retries = 5;
  int64_t load_retry_interval_micros = 60'000'000;
  double file_system_poll_wait_seconds = 1;
  int tensorflow_session_parallelism = 0;
  int tensorflow_intra_op_parallelism = 0;
  std::string ssl_config_file;
  std::string monitoring_config_file;
  std::string saved_model_tags;
  std::string grpc_channel_arguments;
  int grpc_max_threads = 0;
  bool enable_model_warmup = true;
  int num_request_iterations_for_warmup = 0;
  bool enable_grpc_healthcheck_service = true;
  bool enable_serialization_as_tensor_content = false;
  std::string mixed_precision;
  // Ours.
  std::string bind_address = "0.0.0.0";
  int streams = 0;
  int grpc_poll_micros = 150;
  uint64_t memory_limit = 0;  // of each signature that is used, in bytes; 0: none
  int64_t max_queued_requests = 1000;
  int64_t max_request_bytes = 0;
  int drain_timeout_in_ms = 30000;
  std::string cache_dir;
  std::string rest_api_ssl_config_file;
  int rest_api_read_timeout_in_ms = 60000;
  std::string bearer_token_file;

  // Said of flags that have no effect here.
  std::vector<std::string> warnings;
};

// How the CPUs are shared out.
struct Parallelism {
  int streams = 0;  // runs at a time; 0: as many as the threads of each model allow
  int threads = 0;  // of each; 0: measured for each model
};

// Prints and exits for --help and --version. Errors name the flag.
absl::StatusOr<ServerFlags> ParseServerFlags(int argc, char** argv);

// --streams and the flags for threads. If one is given, the other is chosen so that all CPUs have
// work, and none has more; if none is, each model gets what suits it (thread_choice.h).
Parallelism ChooseParallelism(const ServerFlags& flags, int batch_threads, int cpus);

// --enable_batching and --batching_parameters_file. `batch_threads` gets num_batch_threads, or 0.
absl::StatusOr<BatchingOptions> ReadBatching(ServerFlags& flags, int* batch_threads);

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_SERVER_FLAGS_H_
