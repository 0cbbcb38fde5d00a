// The queue of asynchronous eager calls: each runs on a worker thread once its inputs are ready.
// The queue knows only a call's inputs, its outputs, and a function that runs it.
//
// Locks: a value's mutex guards its content and its waiting calls, the queue's mutex the ready
// list. Neither is held while the other is taken, or while a call runs.
//
// A child of fork() has no workers; its queue starts new ones. Calls that were pending belong to
// the parent.
#ifndef TENON_RUNTIME_EAGER_EAGER_QUEUE_H_
#define TENON_RUNTIME_EAGER_EAGER_QUEUE_H_

#include <atomic>
#include <cstddef>
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

// How many times this process and its ancestors were made by fork(), since a queue existed.
int ForkGeneration();

struct EagerCall;

// A tensor that is ready or being computed.
struct EagerValue {
  DType dtype = DType::kInvalid;
  const int generation = ForkGeneration();  // of the process that computes it
  Mutex mutex;
  bool done ABSL_GUARDED_BY(mutex) = false;
  absl::StatusOr<Tensor> result ABSL_GUARDED_BY(mutex) = absl::UnknownError("pending");
  std::vector<std::shared_ptr<EagerCall>> readers ABSL_GUARDED_BY(mutex);
};

using EagerFunction =
    std::function<absl::StatusOr<std::vector<Tensor>>(absl::Span<const Tensor> inputs)>;

class EagerQueue {
 public:
  class Pool;

  // Submit blocks above these limits and continues at half of them.
  static constexpr int kMaxPending = 1024;
  static constexpr size_t kMaxPendingBytes = size_t{1} << 30;

  explicit EagerQueue(int workers);
  ~EagerQueue();  // runs what is pending
  EagerQueue(const EagerQueue&) = delete;
  EagerQueue& operator=(const EagerQueue&) = delete;

  // `call` has `run`, `inputs` and `outputs`. Throws, and submits nothing, if there is no memory or
  // no worker thread.
  void Submit(std::shared_ptr<EagerCall> call, bool stateful);

 private:
  class Registry;

  const int num_workers_;
  Pool* pool_;
};

struct EagerCall {
  EagerQueue::Pool* pool = nullptr;  // that runs it; inputs may come from others
  EagerFunction run;
  std::vector<std::shared_ptr<EagerValue>> inputs;
  std::vector<std::shared_ptr<EagerValue>> outputs;
  // Ready when the call is done; the next stateful call waits for it (null for calls without
  // state).
  std::shared_ptr<EagerValue> finished;
  std::atomic<int> missing = 0;   // values that it still waits for
  std::atomic<size_t> bytes = 0;  // of inputs that are ready
  absl::Status status;            // not OK: the call fails with it
  std::shared_ptr<EagerCall> next_ready;
};

// The workers of one process, and their work.
class EagerQueue::Pool {
 public:
  explicit Pool(int workers) : num_workers_(workers) {}
  ~Pool();
  void Submit(std::shared_ptr<EagerCall> call, bool stateful);

 private:
  void WaitForRoom();
  // At least one worker, or throws.
  void StartWorkers();
  void Work();
  static absl::StatusOr<std::vector<Tensor>> Results(EagerCall& call);
  void Run(EagerCall& call);
  // Passes the value to the calls that wait for it, also in other pools.
  static void Finish(EagerValue& value, absl::StatusOr<Tensor> result);
  // `values` more inputs of the call, with `bytes` in total, are ready.
  void Arrived(const std::shared_ptr<EagerCall>& call, int values, size_t bytes);

  const int num_workers_;
  std::once_flag started_;  // by the first call
  std::vector<std::thread> workers_;

  std::atomic<int> pending_ = 0;
  std::atomic<size_t> pending_bytes_ = 0;
  Mutex mutex_;
  // A list through `next_ready`, which needs no memory.
  std::shared_ptr<EagerCall> first_ready_ ABSL_GUARDED_BY(mutex_);
  EagerCall* last_ready_ ABSL_GUARDED_BY(mutex_) = nullptr;
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
