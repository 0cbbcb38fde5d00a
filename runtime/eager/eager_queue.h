// The queue of asynchronous eager calls: each runs on a worker thread once its inputs are ready.
// The queue knows only a call's inputs, its outputs, and a function that runs it.
//
// Locks: a value's mutex guards its content and its waiting calls, the queue's mutex the ready
// list. Neither is held while the other is taken, or while a call runs.
#ifndef TENON_RUNTIME_EAGER_EAGER_QUEUE_H_
#define TENON_RUNTIME_EAGER_EAGER_QUEUE_H_

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "env/mutex.h"
#include "graph/tensor.h"

namespace tenon {

struct EagerCall;

// A tensor that is ready or being computed.
struct EagerValue {
  DType dtype = DType::kInvalid;
  Mutex mutex;
  bool done ABSL_GUARDED_BY(mutex) = false;
  absl::StatusOr<Tensor> result ABSL_GUARDED_BY(mutex) = absl::UnknownError("pending");
  std::vector<std::shared_ptr<EagerCall>> readers ABSL_GUARDED_BY(mutex);
};

using EagerFunction =
    std::function<absl::StatusOr<std::vector<Tensor>>(absl::Span<const Tensor> inputs)>;

struct EagerCall {
  EagerFunction run;
  std::vector<std::shared_ptr<EagerValue>> inputs;
  std::vector<std::shared_ptr<EagerValue>> outputs;
  // Ready when the call is done; the next stateful call waits for it (null for calls without
  // state).
  std::shared_ptr<EagerValue> finished;
  std::atomic<int> missing = 0;   // values that it still waits for
  std::atomic<size_t> bytes = 0;  // of inputs that are ready
};

class EagerQueue {
 public:
  // Submit blocks above these limits and continues at half of them.
  static constexpr int kMaxPending = 1024;
  static constexpr size_t kMaxPendingBytes = size_t{1} << 30;

  explicit EagerQueue(int workers) : num_workers_(workers) {}
  ~EagerQueue();  // runs what is pending
  EagerQueue(const EagerQueue&) = delete;
  EagerQueue& operator=(const EagerQueue&) = delete;

  // `call` has `run`, `inputs` and `outputs`.
  void Submit(std::shared_ptr<EagerCall> call, bool stateful);

 private:
  void WaitForRoom();
  void Work();
  void Run(EagerCall& call);
  // Passes the value to the calls that wait for it.
  void Finish(EagerValue& value, absl::StatusOr<Tensor> result);
  // `values` more inputs of the call, with `bytes` in total, are ready.
  void Arrived(const std::shared_ptr<EagerCall>& call, int values, size_t bytes);

  const int num_workers_;
  std::once_flag started_;  // by the first call
  std::vector<std::thread> workers_;

  std::atomic<int> pending_ = 0;
  std::atomic<size_t> pending_bytes_ = 0;
  Mutex mutex_;
  std::deque<std::shared_ptr<EagerCall>> ready_ ABSL_GUARDED_BY(mutex_);
  bool full_ ABSL_GUARDED_BY(mutex_) = false;
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;

  Mutex room_mutex_;  // separate, so that a worker's unlocking does not wake threads that wait for
                      // room
  bool room_ ABSL_GUARDED_BY(room_mutex_) = true;

  Mutex order_mutex_;
  std::shared_ptr<EagerValue> last_stateful_ ABSL_GUARDED_BY(order_mutex_);
};

}  // namespace tenon

#endif  // TENON_RUNTIME_EAGER_EAGER_QUEUE_H_
