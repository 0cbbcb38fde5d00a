// TensorFlow's weights that kernels keep packed. A tensor is identified by its memory: while a
// reference to it is held, TensorFlow writes a new value of the variable to other memory, so the
// same pointer means the same value.
#ifndef TENON_TF_PLUGIN_HELD_CONSTANTS_H_
#define TENON_TF_PLUGIN_HELD_CONSTANTS_H_

#include <atomic>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "env/containers.h"
#include "env/mutex.h"
#include "kernels/interface/constant.h"
#include "tf_plugin/c_api.h"

namespace tenon::plugin {

class HeldConstants {
 public:
  // Holds no more than `max_bytes`.
  explicit HeldConstants(int64_t max_bytes) : max_bytes_(max_bytes) {}

  // The constant over the tensor's memory; kernels with the same weight share it. `handle` lives as
  // long as the result. Null if the limit is reached.
  std::shared_ptr<Constant> Hold(TensorPtr handle, const Tensor& tensor);
  // A reference to the tensor's memory, of `bytes`. Null if the limit is reached.
  std::shared_ptr<const void> Keep(TensorPtr handle, int64_t bytes);

 private:
  const int64_t max_bytes_;
  std::atomic<int64_t> bytes_ = 0;

  Mutex mutex_;
  HashMap<const void*, std::weak_ptr<Constant>> by_memory_ ABSL_GUARDED_BY(mutex_);
};

// An input of a kernel that comes from a constant or variable. A variable that keeps changing
// (training) is held less and less often, because holding it costs TensorFlow a copy.
class StableInput {
 public:
  explicit StableInput(int input) : input_(input) {}

  int input() const { return input_; }
  // The constant for this call's value, or null.
  std::shared_ptr<Constant> Update(HeldConstants& held, TensorPtr& handle, const Tensor& tensor);
  // Call this if the kernel does not need the constant.
  void GiveUp() {
    useless_ = true;
    constant_.reset();
  }

 private:
  int input_;
  bool useless_ = false;
  const void* memory_ = nullptr;
  std::shared_ptr<Constant> constant_;
  int changes_ = 0;
  int64_t calls_to_wait_ = 0;
};

}  // namespace tenon::plugin

#endif  // TENON_TF_PLUGIN_HELD_CONSTANTS_H_
