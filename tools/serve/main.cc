// tensorflow_model_server: a drop-in for TensorFlow Serving. docs/SERVING.md.
#include <google/protobuf/stubs/common.h>
#include <google/protobuf/stubs/logging.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "env/cpu.h"
#include "env/openmp.h"
#include "tools/serve/grpc_server.h"
#include "tools/serve/http_server.h"
#include "tools/serve/log.h"
#include "tools/serve/rest.h"
#include "tools/serve/server_flags.h"
#include "tools/serve/text_file.h"
#include "tools/serve/warm_up.h"

namespace tenon::serve {
namespace {

using tensorflow::serving::ModelServerConfig;

std::string NumberOr(int number, const char* otherwise) {
  return number > 0 ? absl::StrCat(number) : otherwise;
}

absl::StatusOr<ModelServerConfig> ReadConfig(const ServerFlags& flags) {
  ModelServerConfig config;
  if (!flags.model_config_file.empty()) {
    const absl::Status read = ReadTextProto(flags.model_config_file, &config);
    if (!read.ok()) return read;
    return config;
  }
  auto* const model = config.mutable_model_config_list()->add_config();
  model->set_name(flags.model_name);
  model->set_base_path(flags.model_base_path);
  if (flags.model_base_path.find("://") == std::string::npos) {
    model->set_base_path(std::filesystem::absolute(flags.model_base_path));
  }
  model->set_model_platform("tensorflow");
  return config;
}

// Waits for SIGTERM or SIGINT, and reads the configuration again from time to time.
void WaitForEnd(const sigset_t& signals, const ServerFlags& flags, Repository& repository) {
  const int64_t poll =
      flags.model_config_file.empty() ? 0 : flags.model_config_file_poll_wait_seconds;
  if (poll <= 0) {
    int signal;
    while (sigwait(&signals, &signal) != 0) continue;
    return;
  }
  std::string last;
  timespec interval = {poll, 0};
  while (sigtimedwait(&signals, nullptr, &interval) < 0) {
    const auto config = ReadConfig(flags);
    const absl::Status status =
        config.ok() ? repository.Configure(*config) : absl::Status(config.status());
    if (!status.ok() && last != status.message()) {
      LogError("cannot use the new configuration", {{"reason", std::string(status.message())}});
    }
    last = std::string(status.message());
  }
}

absl::Status Serve(ServerFlags flags) {
  // Blocked in every thread: one of ours takes them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);

  int batch_threads = 0;
  const auto batching = ReadBatching(flags, &batch_threads);
  if (!batching.ok()) return batching.status();
  for (const std::string& warning : flags.warnings) LogWarning(warning);
  tensorflow::serving::MonitoringConfig monitoring;
  if (!flags.monitoring_config_file.empty()) {
    const absl::Status read = ReadTextProto(flags.monitoring_config_file, &monitoring);
    if (!read.ok()) return read;
  }
  const auto config = ReadConfig(flags);
  if (!config.ok()) return config.status();

  const int cpus = AvailableCpus();
  const Parallelism parallelism = ChooseParallelism(flags, batch_threads, cpus);
  SchedulerOptions scheduling;
  scheduling.threads = parallelism.threads > 0 ? parallelism.streams * parallelism.threads : cpus;
  scheduling.max_queued = flags.max_queued_requests;
  scheduling.batching = *batching;
  std::optional<Scheduler> scheduler(std::in_place, scheduling);

  RepositoryOptions storing;
  storing.load.threads = parallelism.threads;
  storing.cpus = cpus;
  storing.load.cache_dir = flags.cache_dir;
  storing.load.tags = flags.saved_model_tags;
  storing.load.memory_limit = static_cast<int64_t>(flags.memory_limit);
  if (!flags.mixed_precision.empty()) storing.load.precision = "bf16";
  storing.poll =
      std::chrono::milliseconds(static_cast<int64_t>(flags.file_system_poll_wait_seconds * 1000));
  storing.max_load_retries = flags.max_num_load_retries;
  storing.retry_interval = std::chrono::microseconds(flags.load_retry_interval_micros);
  storing.labels_for_unavailable = flags.allow_version_labels_for_unavailable_models;
  Predictor* warm_predictor = nullptr;
  if (flags.enable_model_warmup) {
    storing.warm_up = [&](const std::shared_ptr<Servable>& servable) {
      return WarmUp(*warm_predictor, servable, flags.num_request_iterations_for_warmup);
    };
  }
  Repository repository(storing);
  Predictor predictor(repository, *scheduler, flags.enable_serialization_as_tensor_content);
  warm_predictor = &predictor;
  KServe kserve(predictor);

  LogInfo("starting", {{"version", tenon_version()},
                       {"cpus", absl::StrCat(cpus)},
                       {"streams", NumberOr(parallelism.streams, "measured")},
                       {"threads", NumberOr(parallelism.threads, "measured")},
                       {"batching", batching->enabled ? "on" : "off"}});
  // Ports open when the models are loaded: a probe that only connects must not succeed before.
  const absl::Status configured = repository.Configure(*config);
  if (!configured.ok()) return configured;

  std::unique_ptr<Tokens> tokens;
  if (!flags.bearer_token_file.empty()) {
    auto read = Tokens::Read(flags.bearer_token_file);
    if (!read.ok()) return read.status();
    tokens = *std::move(read);
  }
  RestOptions rest_options;
  rest_options.tokens = tokens.get();
  rest_options.timeout = std::chrono::milliseconds(flags.rest_api_timeout_in_ms);
  rest_options.cors = flags.rest_api_enable_cors_support;
  rest_options.metrics_path = monitoring.prometheus_config().path();
  RestApi rest(predictor, kserve, rest_options);
  std::unique_ptr<GrpcServer> grpc_server;
  std::unique_ptr<HttpServer> http_server;
  if (flags.port != 0 || !flags.grpc_socket_path.empty()) {
    GrpcOptions options;
    options.address = absl::StrCat(flags.bind_address, ":", flags.port);
    options.socket = flags.grpc_socket_path;
    options.ssl_config_file = flags.ssl_config_file;
    options.channel_arguments = flags.grpc_channel_arguments;
    constexpr int kMostThreads = 16;  // more only get into each other's way at one queue
    options.threads = std::min(cpus, kMostThreads);
    if (flags.grpc_max_threads > 0) {
      options.threads = std::min(options.threads, flags.grpc_max_threads);
    }
    // A thread that polls must not take the only CPU from the one that it waits for.
    if (cpus > 1) options.poll = std::chrono::microseconds(flags.grpc_poll_micros);
    options.health = flags.enable_grpc_healthcheck_service;
    options.tokens = tokens.get();
    if (flags.max_request_bytes > 0) {
      options.max_message_bytes = static_cast<int>(flags.max_request_bytes);
    }
    auto started = GrpcServer::Start(options, predictor, kserve);
    if (!started.ok()) return started.status();
    grpc_server = *std::move(started);
    grpc_server->SetServing(repository.Ready());
    LogInfo("listening", {{"protocol", "grpc"},
                          {"address", flags.bind_address},
                          {"port", absl::StrCat(grpc_server->port())}});
  }
  if (flags.rest_api_port != 0) {
    HttpOptions options;
    options.address = flags.bind_address;
    options.port = flags.rest_api_port;
    options.ssl_config_file = flags.rest_api_ssl_config_file;
    options.read_timeout = std::chrono::milliseconds(flags.rest_api_read_timeout_in_ms);
    options.threads = flags.rest_api_num_threads > 0 ? flags.rest_api_num_threads : cpus;
    if (flags.max_request_bytes > 0) {
      options.max_body_bytes = static_cast<uint64_t>(flags.max_request_bytes);
    }
    auto started = HttpServer::Start(options, [&rest](const HttpRequest& request, Respond respond) {
      rest.Handle(request, std::move(respond));
    });
    if (!started.ok()) return started.status();
    http_server = *std::move(started);
    LogInfo("listening", {{"protocol", "http"},
                          {"address", flags.bind_address},
                          {"port", absl::StrCat(http_server->port())}});
  }

  // Health checks over gRPC are told; the other protocols ask the repository. Tokens may change.
  std::atomic<bool> ending{false};
  std::thread health([&] {
    bool serving = repository.Ready();
    for (int64_t round = 0; !ending; ++round) {
      if (tokens != nullptr && round % 10 == 0) tokens->Refresh();
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      const bool now = repository.Ready() && !ending;
      if (grpc_server != nullptr && now != serving) grpc_server->SetServing(now);
      serving = now;
    }
  });
  WaitForEnd(signals, flags, repository);
  LogInfo("draining");
  ending = true;
  health.join();
  const auto limit = std::chrono::milliseconds(flags.drain_timeout_in_ms);
  const auto until = Clock::now() + limit;
  std::thread http_end([&] {
    if (http_server != nullptr) http_server->Shutdown(limit);
  });
  if (grpc_server != nullptr) {
    grpc_server->SetServing(false);
    grpc_server->Shutdown(
        std::max(std::chrono::milliseconds(0),
                 std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now())));
  }
  http_end.join();
  rest.Close();
  scheduler.reset();
  repository.Close();
  const HttpCounts counts = http_server == nullptr ? HttpCounts() : http_server->counts();
  const CallCounts calls = grpc_server == nullptr ? CallCounts() : grpc_server->counts();
  LogInfo("ended", {{"http_requests", absl::StrCat(counts.requests)},
                    {"http_answers", absl::StrCat(counts.answers)},
                    {"grpc_calls", absl::StrCat(calls.calls)},
                    {"grpc_answers", absl::StrCat(calls.answers)}});
  return absl::OkStatus();
}

// Under its own path, so that lists of processes show its own name.
void StartAgain(char** argv) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) execv(self.c_str(), argv);
}

int Main(int argc, char** argv) {
  auto flags = ParseServerFlags(argc, argv);
  if (!flags.ok()) {
    std::fprintf(stderr, "tensorflow_model_server: %s (--help)\n",
                 std::string(flags.status().message()).c_str());
    return 2;
  }
  const absl::Status status = Serve(*std::move(flags));
  if (status.ok()) return 0;
  LogError("Failed to start server", {{"reason", std::string(status.message())}});
  return 1;
}

}  // namespace
}  // namespace tenon::serve

int main(int argc, char** argv) {
  // Requests with wrong texts get an error; protobuf's own lines about them are no JSON.
  google::protobuf::SetLogHandler(nullptr);
  // Debian's abseil looks for deadlocks whenever gRPC locks something; that is for debugging.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  // If it cannot restart, this process continues, with threads that spin for long.
  if (tenon::SetShortSpin(/*many_teams=*/true)) tenon::serve::StartAgain(argv);
  return tenon::serve::Main(argc, argv);
}
