// The calls that stay open as long as their client likes, and which therefore end when the server
// drains.
#ifndef TENON_TOOLS_SERVE_GRPC_STREAMS_H_
#define TENON_TOOLS_SERVE_GRPC_STREAMS_H_

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace tenon::serve {

class OpenStream {
 public:
  virtual ~OpenStream() = default;
  // Answers what it has read, then ends with Draining(). Called once at most.
  virtual void Drain() = 0;

  static grpc::Status Draining() {
    return {grpc::StatusCode::UNAVAILABLE, "the server is shutting down"};
  }
};

class OpenStreams {
 public:
  // Remembers the stream until nobody else holds it. False: the server drains, and the stream must
  // not begin.
  bool Add(const std::shared_ptr<OpenStream>& stream) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (draining_) return false;
    // Those that have ended go when there are as many as live ones.
    if (open_.size() >= keep_) {
      open_.erase(std::remove_if(open_.begin(), open_.end(),
                                 [](const auto& each) { return each.expired(); }),
                  open_.end());
      keep_ = 2 * open_.size() + 16;
    }
    open_.push_back(stream);
    return true;
  }

  void Drain() {
    std::vector<std::weak_ptr<OpenStream>> open;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      draining_ = true;
      open.swap(open_);
    }
    for (const auto& each : open) {
      if (const auto stream = each.lock()) stream->Drain();
    }
  }

 private:
  std::mutex mutex_;  // guards what follows
  std::vector<std::weak_ptr<OpenStream>> open_;
  size_t keep_ = 16;  // as many are kept before those that have ended are looked for
  bool draining_ = false;
};

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_GRPC_STREAMS_H_
