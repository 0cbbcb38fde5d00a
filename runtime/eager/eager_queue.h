// Asynchronous eager calls: each runs on a worker thread once its inputs are there. No more is
// known here of a call than what it reads, what it makes and a function that runs it.
//
// Locks: a value's mutex guards its content and who waits for it, the queue's mutex the ready list.
// Neither is held while the other is taken, nor while a call runs.
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

// A tensor that is there or being computed.
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
  // Done when the call is; the next stateful call waits for it (null for calls without state).
  std::shared_ptr<EagerValue> finished;
  std::atomic<int> missing = 0;   // values that it waits for
  std::atomic<size_t> bytes = 0;  // of inputs that are there
};

class EagerQueue {
 public:
  // Submit blocks above these and goes on at half of them.
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
  // Tells the value to the calls that wait for it.
  void Finish(EagerValue& value, absl::StatusOr<Tensor> result);
  // `values` more that the call waited for, of `bytes` together, are there.
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

  Mutex room_mutex_;  // apart, so that a worker's unlocking does not wake those who wait for room
  bool room_ ABSL_GUARDED_BY(room_mutex_) = true;

  Mutex order_mutex_;
  std::shared_ptr<EagerValue> last_stateful_ ABSL_GUARDED_BY(order_mutex_);
};

}  // namespace tenon

#endif  // TENON_RUNTIME_EAGER_EAGER_QUEUE_H_
