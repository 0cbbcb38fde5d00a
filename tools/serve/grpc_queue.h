// The threads that wait for gRPC's events.
//
// One thread leads: it waits at the sockets and handles what comes. While it keeps up, no other
// thread touches the queue, because gRPC would wake that one for every event. Helpers join in
// while events come faster than the leader handles them, or one takes long. After an event, the
// leader polls for a while before it sleeps: the next request of the same client then costs no
// wake-up. If requests come too rarely for that, it sleeps at once.
#ifndef TENON_TOOLS_SERVE_GRPC_QUEUE_H_
#define TENON_TOOLS_SERVE_GRPC_QUEUE_H_

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace tenon::serve {

// A tag of the queue.
class QueueEvent {
 public:
  virtual ~QueueEvent() = default;
  virtual void Happened(bool ok) = 0;
};

class QueueThreads {
 public:
  // `threads`: at most so many; at least two, one leader and one helper. `poll`: how long the
  // leader polls; 0: it sleeps at once.
  QueueThreads(std::unique_ptr<grpc::ServerCompletionQueue> queue, int threads,
               std::chrono::microseconds poll);
  // Handles what is left. No call may begin another operation by then.
  ~QueueThreads();

  grpc::ServerCompletionQueue* queue() { return queue_.get(); }

 private:
  void Lead();
  void Help();
  void Handle(void* tag, bool ok);
  void CallHelper();
  // Looks for the next event for a while; TIMEOUT if none comes.
  grpc::CompletionQueue::NextStatus Poll(void** tag, bool* ok);
  // Waits for the next event; false: the queue has ended.
  bool Next(void** tag, bool* ok);

  const std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  const std::chrono::microseconds poll_;
  int vain_polls_ = 0;  // in a row; of the leader alone, as the next one
  int skipped_polls_ = 0;
  // Threads that wait for events, rather than handle them.
  std::atomic<int> waiting_{0};
  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  int wanted_ = 0;   // helpers that were called and have not begun
  int resting_ = 0;  // helpers that take no part
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_GRPC_QUEUE_H_
