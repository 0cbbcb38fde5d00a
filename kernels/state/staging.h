// Staging areas: tuples of tensors that a session keeps from one run to the next, in a queue or
// under int64 keys. Where TensorFlow waits for another thread to fill or empty the area, these
// kernels return Unimplemented.
#ifndef TENON_KERNELS_STATE_STAGING_H_
#define TENON_KERNELS_STATE_STAGING_H_

#include <deque>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "env/containers.h"
#include "env/mutex.h"
#include "graph/object.h"
#include "kernels/interface/kernel.h"

namespace tenon {

using StagedTuple = std::vector<std::shared_ptr<const Tensor>>;

// What an area may hold; 0: any number.
struct StagingLimits {
  int64_t tuples = 0;
  int64_t bytes = 0;
};

class StagingArea final : public Object {
 public:
  absl::Status Put(StagedTuple tuple, const StagingLimits& limits);
  absl::StatusOr<StagedTuple> Take();
  // The tuple that becomes the first after `index` more were taken.
  absl::StatusOr<StagedTuple> At(int64_t index) const;
  int64_t size() const;
  void Clear();

 private:
  mutable Mutex mutex_;
  std::deque<StagedTuple> tuples_ ABSL_GUARDED_BY(mutex_);
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

class StagingMap final : public Object {
 public:
  // Tensors of a tuple of `width`, at `places`; the tuple is complete when it has all.
  // InvalidArgument for places that are not ascending, out of range, or taken.
  absl::Status Put(int64_t key, absl::Span<const int32_t> places, StagedTuple tensors, size_t width,
                   const StagingLimits& limits);
  // Tensors of the complete tuple with that key.
  absl::StatusOr<StagedTuple> Peek(int64_t key, absl::Span<const int32_t> places) const;
  // Removes them as well.
  absl::StatusOr<StagedTuple> Take(int64_t key, absl::Span<const int32_t> places);
  // The same for the smallest key. The key comes first.
  absl::StatusOr<StagedTuple> TakeFirst(absl::Span<const int32_t> places);
  int64_t size() const;
  int64_t incomplete_size() const;
  void Clear();

 private:
  absl::StatusOr<StagedTuple> TakeLocked(int64_t key, absl::Span<const int32_t> places)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  OrderedMap<int64_t, StagedTuple> complete_ ABSL_GUARDED_BY(mutex_);  // null: taken
  OrderedMap<int64_t, StagedTuple> incomplete_ ABSL_GUARDED_BY(mutex_);
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Kernels of ops with the attributes capacity, memory_limit and dtypes, and the state's name.
absl::StatusOr<std::unique_ptr<Kernel>> StageKernel(PrepareContext& p);      // the tuple
absl::StatusOr<std::unique_ptr<Kernel>> UnstageKernel(PrepareContext& p);    // outputs: the tuple
absl::StatusOr<std::unique_ptr<Kernel>> StagePeekKernel(PrepareContext& p);  // index
absl::StatusOr<std::unique_ptr<Kernel>> StageSizeKernel(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> StageClearKernel(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> StagingMapStageKernel(
    PrepareContext& p);  // key, places, tensors
absl::StatusOr<std::unique_ptr<Kernel>> StagingMapPeekKernel(PrepareContext& p);     // key, places
absl::StatusOr<std::unique_ptr<Kernel>> StagingMapUnstageKernel(PrepareContext& p);  // key, places
absl::StatusOr<std::unique_ptr<Kernel>> StagingMapUnstageNoKeyKernel(PrepareContext& p);  // places
absl::StatusOr<std::unique_ptr<Kernel>> StagingMapSizeKernel(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> StagingMapIncompleteSizeKernel(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> StagingMapClearKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_STATE_STAGING_H_
