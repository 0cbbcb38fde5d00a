// The sequence of numbers of a stateful random op.
#ifndef TENON_KERNELS_RANDOM_SEQUENCE_H_
#define TENON_KERNELS_RANDOM_SEQUENCE_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "env/mutex.h"
#include "env/status.h"
#include "graph/attr_reader.h"
#include "graph/object.h"
#include "kernels/random/philox.h"

namespace tenon {

// Seeded by the attributes seed and seed2 (randomly if both are 0).
class RandomSequence final : public Object {
 public:
  // A node's attribute that holds its sequence, which all kernels of the node continue. Nodes of
  // graphs and of eager calls have it; a kernel made for a node without it starts a new sequence.
  static constexpr const char* kAttr = "_sequence";

  // Gives a random op's node its sequence; other nodes stay as they are.
  static absl::Status Attach(Node& node) {
    if (node.attr<int64_t>("seed") == nullptr || node.attr<int64_t>("seed2") == nullptr) {
      return absl::OkStatus();
    }
    TENON_ASSIGN_OR_RETURN(node.attrs[kAttr], ObjectTensor(DType::kResource, Of(AttrReader(node))));
    return absl::OkStatus();
  }
  static std::shared_ptr<RandomSequence> Of(const AttrReader& attrs) {
    const Tensor* held = attrs.node().attr<Tensor>(kAttr);
    if (held != nullptr && held->dtype() == DType::kResource && held->num_elements() == 1) {
      auto sequence = ObjectAs<RandomSequence>(held->data<ObjectPtr>()[0]);
      if (sequence != nullptr) return sequence;
    }
    const uint64_t seed = static_cast<uint64_t>(attrs.Int("seed", 0));
    const uint64_t seed2 = static_cast<uint64_t>(attrs.Int("seed2", 0));
    return std::make_shared<RandomSequence>(
        seed == 0 && seed2 == 0 ? Philox::Unpredictable() : Philox::FromSeeds(seed, seed2));
  }
  explicit RandomSequence(const Philox& start) : start_(start) {}

  // A generator of which `samples` 32-bit numbers may be used.
  Philox Take(uint64_t samples) {
    Philox generator = start_;
    generator.Skip(used_.fetch_add((samples + 3) / 4, std::memory_order_relaxed));
    return generator;
  }

  // What the node's kernels keep beside it.
  template <typename T>
  std::shared_ptr<T> Kept() {
    MutexLock lock(&mutex_);
    if (kept_ == nullptr) kept_ = std::make_shared<T>();
    return ObjectAs<T>(kept_);
  }

  // The same sequence from its start.
  RandomSequence Restarted() const { return RandomSequence(start_); }

 private:
  const Philox start_;
  std::atomic<uint64_t> used_ = 0;
  Mutex mutex_;
  ObjectPtr kept_ ABSL_GUARDED_BY(mutex_);
};

// Reserved for each output, whatever the distribution.
inline constexpr uint64_t kRandomSamplesPerOutput = 4 * 256;

}  // namespace tenon

#endif  // TENON_KERNELS_RANDOM_SEQUENCE_H_
