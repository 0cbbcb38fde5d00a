#include "tf_plugin/held_constants.h"

#include <algorithm>
#include <utility>

namespace tenon::plugin {
namespace {

constexpr int kMaxDoublings = 20;

}  // namespace

std::shared_ptr<const void> HeldConstants::Keep(TensorPtr handle, int64_t bytes) {
  if (bytes_.fetch_add(bytes) + bytes > max_bytes_) {
    bytes_ -= bytes;
    return nullptr;
  }
  return std::shared_ptr<const void>(handle.release(), [this, bytes](const void* t) {
    bytes_ -= bytes;
    TF_DeleteTensor(static_cast<TF_Tensor*>(const_cast<void*>(t)));
  });
}

std::shared_ptr<Constant> HeldConstants::Hold(TensorPtr handle, const Tensor& tensor) {
  const void* memory = tensor.raw();
  MutexLock lock(&mutex_);
  std::weak_ptr<Constant>& known = by_memory_[memory];
  if (std::shared_ptr<Constant> constant = known.lock()) {
    const bool same = constant->dtype() == tensor.dtype() && constant->shape() == tensor.shape();
    return same ? constant : nullptr;
  }
  std::shared_ptr<const void> owner = Keep(std::move(handle), static_cast<int64_t>(tensor.bytes()));
  if (owner == nullptr) {
    by_memory_.erase(memory);
    return nullptr;
  }
  auto constant = std::make_shared<Constant>(Tensor::FromExternal(
      tensor.dtype(), tensor.shape(), const_cast<void*>(memory), std::move(owner)));
  known = constant;
  // Freed memory leaves an entry behind.
  if (by_memory_.size() % 256 == 0) {
    erase_if(by_memory_, [](const auto& entry) { return entry.second.expired(); });
  }
  return constant;
}

std::shared_ptr<Constant> StableInput::Update(HeldConstants& held, TensorPtr& handle,
                                              const Tensor& tensor) {
  if (useless_ || tensor.num_elements() == 0) return nullptr;
  if (constant_ != nullptr) {
    if (memory_ == tensor.raw() && constant_->shape() == tensor.shape()) return constant_;
    constant_.reset();
    changes_ = std::min(changes_ + 2, kMaxDoublings);
    calls_to_wait_ = int64_t{1} << changes_;
  }
  if (calls_to_wait_ > 0) {
    --calls_to_wait_;
    return nullptr;
  }
  memory_ = tensor.raw();
  constant_ = held.Hold(std::move(handle), tensor);
  if (constant_ == nullptr) calls_to_wait_ = int64_t{1} << kMaxDoublings;
  return constant_;
}

}  // namespace tenon::plugin
