// Queues of tuples of tensors, which a session keeps. Where TensorFlow waits for another thread to
// fill or empty the queue, these kernels return Unimplemented and change nothing.
#ifndef TENON_KERNELS_QUEUE_TENSOR_QUEUE_H_
#define TENON_KERNELS_QUEUE_TENSOR_QUEUE_H_

#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "env/mutex.h"
#include "graph/object.h"
#include "kernels/interface/kernel.h"
#include "kernels/random/philox.h"
#include "kernels/state/staging.h"

namespace tenon {

enum class QueueOrder {
  kFirstInFirstOut,
  kPadded,      // likewise; shapes may be partial, and tuples taken together are padded with zeros
  kShuffled,    // a random one
  kByPriority,  // the one with the smallest number, which is the first component
};

struct QueueForm {
  QueueOrder order = QueueOrder::kFirstInFirstOut;
  std::vector<DType> dtypes;
  std::vector<Shape> shapes;  // of components; empty: any
  int64_t capacity = -1;      // negative: any
  int64_t least = 0;          // shuffled: as many stay, unless the queue is closed
  uint64_t seed = 0, seed2 = 0;

  bool operator==(const QueueForm&) const = default;
};

class TensorQueue final : public Object {
 public:
  // Must be called first. InvalidArgument if the queue has another form.
  absl::Status Configure(const QueueForm& form);
  QueueForm form() const;

  // All or none of them. FailedPrecondition if the queue is closed.
  absl::Status Put(std::vector<StagedTuple> tuples);
  // OutOfRange if the queue is closed and has fewer than `n`, or, with `fewer`, none.
  absl::StatusOr<std::vector<StagedTuple>> Take(int64_t n, bool fewer);
  // `again`: a closed queue may be closed.
  absl::Status Close(bool again);
  bool closed() const;
  int64_t size() const;

 private:
  // Larger: taken later. A heap by this order.
  static bool Later(const StagedTuple& a, const StagedTuple& b);
  StagedTuple TakeOne() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  QueueForm form_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<PhiloxStream> random_ ABSL_GUARDED_BY(mutex_);
  std::deque<StagedTuple> tuples_ ABSL_GUARDED_BY(mutex_);
  bool configured_ ABSL_GUARDED_BY(mutex_) = false;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

// The handle of a queue of that order, from the attributes component_types, shapes, capacity,
// min_after_dequeue, seed and seed2.
absl::StatusOr<std::unique_ptr<Kernel>> NewQueueKernel(PrepareContext& p, QueueOrder order);

// Input 0 is the handle.
absl::StatusOr<std::unique_ptr<Kernel>> EnqueueKernel(PrepareContext& p);      // components
absl::StatusOr<std::unique_ptr<Kernel>> EnqueueManyKernel(PrepareContext& p);  // of several tuples
absl::StatusOr<std::unique_ptr<Kernel>> DequeueKernel(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> DequeueManyKernel(PrepareContext& p);  // n
absl::StatusOr<std::unique_ptr<Kernel>> DequeueUpToKernel(PrepareContext& p);  // n
absl::StatusOr<std::unique_ptr<Kernel>> QueueSizeKernel(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> QueueIsClosedKernel(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> QueueCloseKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_QUEUE_TENSOR_QUEUE_H_
