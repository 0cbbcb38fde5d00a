// An HTTP/1.1 server over Boost.Beast: keep-alive, chunked bodies, gzip both ways, TLS, limits on
// sizes and times. It knows nothing of models.
#ifndef TENON_TOOLS_SERVE_HTTP_SERVER_H_
#define TENON_TOOLS_SERVE_HTTP_SERVER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tenon::serve {

struct HttpRequest {
  std::string method;  // "GET"
  std::string path;    // without the query, as it was sent: "%2F" is not decoded
  std::string body;    // unpacked if it was gzip
  std::vector<std::pair<std::string, std::string>> headers;

  // The first header of this name, whatever its case; empty if there is none.
  absl::string_view Header(absl::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;  // besides
  std::string body;
};

// Any thread may call it, once.
using Respond = std::function<void(HttpResponse)>;
// The request lives until the response is given.
using HttpHandler = std::function<void(const HttpRequest&, Respond)>;

struct HttpOptions {
  std::string address = "127.0.0.1";
  int port = 0;     // 0: any that is free
  int threads = 1;  // that read and write; handlers run on them, too
  uint64_t max_body_bytes = uint64_t{1} << 30;
  int max_connections = 4096;
  std::chrono::milliseconds read_timeout{60000};  // for a whole request
  std::chrono::seconds idle_timeout{120};         // between requests
  std::string ssl_config_file;                    // empty: no TLS
};

struct HttpCounts {
  uint64_t requests = 0;  // that were read
  uint64_t answers = 0;   // that were sent
};

class HttpServer {
 public:
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const HttpOptions& options,
                                                           HttpHandler handler);
  virtual ~HttpServer() = default;

  virtual int port() const = 0;
  virtual HttpCounts counts() const = 0;
  // Takes no new connections and requests; returns when those under way are answered, at the latest
  // after `limit`.
  virtual void Shutdown(std::chrono::milliseconds limit) = 0;
};

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_HTTP_SERVER_H_
