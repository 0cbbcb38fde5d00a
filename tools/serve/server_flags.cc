#include "tools/serve/server_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <map>

#include "absl/strings/str_cat.h"
#include "include/tenon/tenon.h"
#include "serving.pb.h"
#include "tools/serve/text_file.h"

namespace tenon::serve {
namespace {

// Flags of TensorFlow Serving that are read and not acted on.
constexpr const char* kIgnored[] = {
    "enable_profiler",
    "enable_signature_method_name_check",
    "flush_filesystem_caches",
    "num_load_threads",
    "num_tflite_interpreters_per_pool",
    "num_tflite_pools",
    "num_unload_threads",
    "per_process_gpu_memory_fraction",
    "remove_unused_fields_from_bundle_metagraph",
    "skip_initialize_tpu",
    "tensorflow_inter_op_parallelism",
    "xla_cpu_compilation_enabled",
    "xla_gpu_compilation_enabled",
};

// Those that would promise what the server does not do.
struct RefusedFlag {
  const char* name;
  const char* reason;
};
constexpr RefusedFlag kRefused[] = {
    {"enable_per_model_batching_parameters", "all models share --batching_parameters_file"},
    {"platform_config_file", "there is one platform; use the flags"},
    {"prefer_tflite_model", "TensorFlow Lite models are not supported"},
    {"tensorflow_session_config_file", "use --tensorflow_intra_op_parallelism and --streams"},
    {"thread_pool_factory_config_file", "use --streams"},
    {"use_alts_credentials", "use --ssl_config_file"},
};

bool IsOff(const std::string& value) {
  return value.empty() || value == "false" || value == "0" || value == "0.0";
}

}  // namespace

absl::StatusOr<ServerFlags> ParseServerFlags(int argc, char** argv) {
  ServerFlags f;
  CLI::App app(
      "Serves TensorFlow models as TensorFlow Serving does, and by the open inference protocol.",
      "tensorflow_model_server");
  app.set_version_flag("--version",
                       absl::StrCat("TensorFlow ModelServer: Tenon ", tenon_version()));
  const auto option = [&](const char* name, auto& value, const char* help) {
    app.add_option(absl::StrCat("--", name), value, help)->capture_default_str();
  };
  const auto flag = [&](const char* name, bool& value, const char* help) {
    app.add_flag(absl::StrCat("--", name), value, help);
  };
  option("port", f.port, "gRPC port; 0: no gRPC");
  option("grpc_socket_path", f.grpc_socket_path, "UNIX socket for gRPC, besides the port");
  option("rest_api_port", f.rest_api_port, "HTTP port; 0: no REST");
  option("rest_api_num_threads", f.rest_api_num_threads,
         "threads that read and write HTTP; 0: as many as CPUs");
  option("rest_api_timeout_in_ms", f.rest_api_timeout_in_ms, "time of a REST request");
  flag("rest_api_enable_cors_support", f.rest_api_enable_cors_support, "send CORS headers");
  option("model_name", f.model_name, "name of the model, without --model_config_file");
  option("model_base_path", f.model_base_path, "folder with the model's versions: PATH/1/…");
  option("model_config_file", f.model_config_file, "a ModelServerConfig in text form");
  option("model_config_file_poll_wait_seconds", f.model_config_file_poll_wait_seconds,
         "how often to read that file again; 0: once");
  option("file_system_poll_wait_seconds", f.file_system_poll_wait_seconds,
         "how often to look for new versions; 0: once");
  option("max_num_load_retries", f.max_num_load_retries,
         "how often to load a version again that failed");
  option("load_retry_interval_micros", f.load_retry_interval_micros, "time between these");
  flag("allow_version_labels_for_unavailable_models", f.allow_version_labels_for_unavailable_models,
       "allow labels for versions that are not loaded");
  option("saved_model_tags", f.saved_model_tags, "tags of the graph to load, a,b");
  flag("enable_batching", f.enable_batching, "put waiting requests into one run");
  option("batching_parameters_file", f.batching_parameters_file,
         "a BatchingParameters in text form");
  option("tensorflow_session_parallelism", f.tensorflow_session_parallelism,
         "the same as --tensorflow_intra_op_parallelism, which wins");
  option("tensorflow_intra_op_parallelism", f.tensorflow_intra_op_parallelism,
         "threads of a run; 0: CPUs / streams, or measured for each model");
  option("ssl_config_file", f.ssl_config_file, "an SSLConfig in text form, for gRPC");
  option("monitoring_config_file", f.monitoring_config_file, "a MonitoringConfig in text form");
  option("grpc_channel_arguments", f.grpc_channel_arguments, "a=1,b=2");
  option("grpc_max_threads", f.grpc_max_threads,
         "most threads that read gRPC requests, at least 2; 0: as many as CPUs, at most 16");
  option("grpc_poll_micros", f.grpc_poll_micros,
         "how long a thread polls for the next gRPC request before it sleeps; 0: not");
  app.add_flag("--enable_model_warmup,!--noenable_model_warmup", f.enable_model_warmup,
               "run a model before it is available (default: true)");
  option("num_request_iterations_for_warmup", f.num_request_iterations_for_warmup,
         "how often to run each recorded request");
  app.add_flag("--enable_grpc_healthcheck_service", f.enable_grpc_healthcheck_service,
               "serve grpc.health.v1.Health (default: true)");
  flag("enable_serialization_as_tensor_content", f.enable_serialization_as_tensor_content,
       "answer with tensor_content instead of float_val and its like");
  option("mixed_precision", f.mixed_precision, "bfloat16: compute in bfloat16");
  option("bind_address", f.bind_address, "address to listen to");
  option("streams", f.streams, "runs at a time; 0: num_batch_threads, or CPUs / threads of a run");
  app.add_option(
         "--memory_limit", f.memory_limit,
         "most bytes that a model's weights, plans and runs may take, of each signature that "
         "is used: 500M, 2G (powers of 1024); 0: no limit")
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false))
      ->check(CLI::Range(uint64_t{0}, uint64_t{1} << 62))
      ->capture_default_str();
  option("max_queued_requests", f.max_queued_requests,
         "requests that may wait; more are refused (RESOURCE_EXHAUSTED, 429)");
  option("max_request_bytes", f.max_request_bytes,
         "of a request; 0: 2 GiB for gRPC, 1 GiB for REST");
  option("drain_timeout_in_ms", f.drain_timeout_in_ms,
         "how long requests may take to end after SIGTERM");
  option("rest_api_ssl_config_file", f.rest_api_ssl_config_file,
         "an SSLConfig in text form, for REST; it may be that of gRPC");
  option("rest_api_read_timeout_in_ms", f.rest_api_read_timeout_in_ms,
         "how long a client may take to send an HTTP request");
  option("bearer_token_file", f.bearer_token_file,
         "tokens, one a line: who sends none of them is refused");
  option("cache_dir", f.cache_dir, "folder of rewritten models, which replicas may share");

  std::map<std::string, std::string> others;
  for (const char* name : kIgnored) {
    app.add_option(absl::StrCat("--", name), others[name], "accepted, without effect")
        ->expected(0, 1)
        ->default_str("true");
  }
  for (const RefusedFlag& refused : kRefused) {
    app.add_option(absl::StrCat("--", refused.name), others[refused.name],
                   absl::StrCat("not supported: ", refused.reason))
        ->expected(0, 1)
        ->default_str("true");
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) std::exit(app.exit(error));  // --help, --version
    return absl::InvalidArgumentError(error.what());
  }
  const auto given = [&](const std::string& name) {
    return app.get_option(absl::StrCat("--", name))->count() > 0;
  };
  for (const RefusedFlag& refused : kRefused) {
    if (given(refused.name) && !IsOff(others[refused.name])) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", refused.name, " is not supported: ", refused.reason));
    }
  }
  for (const char* name : kIgnored) {
    if (given(name)) f.warnings.push_back(absl::StrCat("--", name, " has no effect"));
  }
  if (f.model_config_file.empty() && f.model_base_path.empty()) {
    return absl::InvalidArgumentError(
        "give --model_base_path, or --model_config_file for several models");
  }
  if (f.port == 0 && f.rest_api_port == 0 && f.grpc_socket_path.empty()) {
    return absl::InvalidArgumentError("--port and --rest_api_port are both 0");
  }
  if (f.port != 0 && f.port == f.rest_api_port) {
    return absl::InvalidArgumentError("--port and --rest_api_port are the same");
  }
  if (!f.mixed_precision.empty() && f.mixed_precision != "bfloat16") {
    return absl::InvalidArgumentError(
        absl::StrCat("--mixed_precision=", f.mixed_precision, " is not supported: only bfloat16"));
  }
  if (f.max_request_bytes < 0 || f.max_request_bytes > 0x7fffffff) {
    return absl::InvalidArgumentError("--max_request_bytes must be between 0 and 2147483647");
  }
  if (f.rest_api_read_timeout_in_ms < 1) {
    return absl::InvalidArgumentError("--rest_api_read_timeout_in_ms must be at least 1");
  }
  if (f.grpc_poll_micros < 0 || f.grpc_poll_micros > 100'000) {
    return absl::InvalidArgumentError("--grpc_poll_micros must be between 0 and 100000");
  }
  if (f.max_queued_requests < 1) {
    return absl::InvalidArgumentError("--max_queued_requests must be at least 1");
  }
  return f;
}

Parallelism ChooseParallelism(const ServerFlags& flags, int batch_threads, int cpus) {
  Parallelism p;
  p.threads = flags.tensorflow_intra_op_parallelism > 0 ? flags.tensorflow_intra_op_parallelism
                                                        : flags.tensorflow_session_parallelism;
  p.streams = flags.streams > 0 ? flags.streams : batch_threads;
  if (p.streams <= 0 && p.threads <= 0) return p;
  if (p.streams <= 0) p.streams = std::max(1, cpus / p.threads);
  p.streams = std::min(p.streams, cpus);
  if (p.threads <= 0) p.threads = std::max(1, cpus / p.streams);
  p.threads = std::min(p.threads, cpus);
  return p;
}

absl::StatusOr<BatchingOptions> ReadBatching(ServerFlags& flags, int* batch_threads) {
  BatchingOptions options;
  *batch_threads = 0;
  options.enabled = flags.enable_batching;
  if (flags.batching_parameters_file.empty()) return options;
  if (!flags.enable_batching) {
    return absl::InvalidArgumentError(
        "--batching_parameters_file is given, but --enable_batching is not");
  }
  tensorflow::serving::BatchingParameters parameters;
  const absl::Status read = ReadTextProto(flags.batching_parameters_file, &parameters);
  if (!read.ok()) return read;
  const auto complain = [&](const std::string& what) {
    return absl::InvalidArgumentError(absl::StrCat(flags.batching_parameters_file, ": ", what));
  };
  options.pad_lengths = parameters.pad_variable_length_inputs();
  if (parameters.has_max_batch_size()) options.max_rows = parameters.max_batch_size().value();
  if (options.max_rows < 1) return complain("max_batch_size must be at least 1");
  if (parameters.has_batch_timeout_micros()) {
    const int64_t micros = parameters.batch_timeout_micros().value();
    if (micros < 0) return complain("batch_timeout_micros must not be negative");
    options.timeout = std::chrono::microseconds(micros);
  }
  if (parameters.has_num_batch_threads()) {
    const int64_t threads = parameters.num_batch_threads().value();
    if (threads < 1 || threads > 4096) return complain("num_batch_threads must be positive");
    *batch_threads = static_cast<int>(threads);
  }
  for (const int64_t size : parameters.allowed_batch_sizes()) {
    if (size < 1 || (!options.allowed_rows.empty() && size <= options.allowed_rows.back())) {
      return complain("allowed_batch_sizes must be positive and increasing");
    }
    options.allowed_rows.push_back(size);
  }
  if (!options.allowed_rows.empty() && options.allowed_rows.back() != options.max_rows) {
    return complain(
        absl::StrCat("Last entry in allowed_batch_sizes must match max_batch_size; last entry was ",
                     options.allowed_rows.back(), "; expected ", options.max_rows));
  }
  if (parameters.has_max_enqueued_batches()) {
    flags.max_queued_requests =
        std::max<int64_t>(1, parameters.max_enqueued_batches().value() * options.max_rows);
  }
  if (parameters.has_thread_pool_name()) {
    flags.warnings.push_back("thread_pool_name has no effect");
  }
  if (parameters.enable_large_batch_splitting().value()) {
    flags.warnings.push_back(
        "enable_large_batch_splitting has no effect: large requests run whole");
  }
  return options;
}

}  // namespace tenon::serve
