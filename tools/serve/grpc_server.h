// All gRPC services on one port.
#ifndef TENON_TOOLS_SERVE_GRPC_SERVER_H_
#define TENON_TOOLS_SERVE_GRPC_SERVER_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tools/serve/kserve.h"
#include "tools/serve/predict.h"
#include "tools/serve/tokens.h"

namespace tenon::serve {

struct GrpcOptions {
  std::string address;                // "0.0.0.0:8500", "unix:/run/tenon.sock"
  std::string socket;                 // also listens to this UNIX socket; empty: none
  std::string ssl_config_file;        // empty: no TLS
  std::string channel_arguments;      // "grpc.max_connection_age_ms=2000,…"
  int max_message_bytes = -1;         // of a request; -1: no limit but gRPC's own
  int threads = 2;                    // at most, that wait for requests; at least two
  std::chrono::microseconds poll{0};  // how long one of them polls for the next request
  bool health = true;                 // whether grpc.health.v1.Health is among the services
  const Tokens* tokens = nullptr;     // who may call; null: everyone. Must outlive the server
};

// Unary calls that run models.
struct CallCounts {
  uint64_t calls = 0;    // that began
  uint64_t answers = 0;  // that succeeded
};

class GrpcServer {
 public:
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Start(const GrpcOptions& options,
                                                           Predictor& predictor, KServe& kserve);
  virtual ~GrpcServer() = default;

  // The port that it listens to.
  virtual int port() const = 0;
  virtual CallCounts counts() const = 0;
  // What health checks answer.
  virtual void SetServing(bool serving) = 0;
  // Takes no new calls and ends when those under way are answered, at the latest after `limit`.
  virtual void Shutdown(std::chrono::milliseconds limit) = 0;
};

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_GRPC_SERVER_H_
