// grpc.health.v1.Health: what load balancers and orchestrators ask. It needs no token.
//
// gRPC's own service would bring threads that wait at the same sockets (docs/SERVING.md).
#ifndef TENON_TOOLS_SERVE_GRPC_HEALTH_H_
#define TENON_TOOLS_SERVE_GRPC_HEALTH_H_

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "tools/serve/grpc_call.h"
#include "tools/serve/grpc_streams.h"

namespace tenon::serve {

// Of the whole server, whose name is empty, and of each of its services alike. Must outlive the
// calls. Any thread may use any function.
class Health {
 public:
  explicit Health(OpenStreams& streams) : streams_(streams) {}

  // Adds Check and Watch. What `methods` has by then are the services that clients may ask about.
  void AddMethods(GrpcMethods& methods);
  // Tells those who watch.
  void Set(bool serving);

 private:
  class Watcher;
  bool Knows(const std::string& service) const;
  void Watch(const std::shared_ptr<GrpcCall>& call);

  OpenStreams& streams_;
  std::set<std::string> services_;
  std::mutex mutex_;  // guards what follows
  bool serving_ = false;
  std::vector<std::weak_ptr<Watcher>> watchers_;
};

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_GRPC_HEALTH_H_
