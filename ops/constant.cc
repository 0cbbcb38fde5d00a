#include "ops/constant.h"

#include "env/status.h"

namespace tenon {

absl::StatusOr<Tensor> Constant::PlainLocked() {
  if (plain_.valid()) return plain_;
  for (const auto& [key, form] : derived_) {
    if (!form->CanUnpack()) continue;
    TENON_ASSIGN_OR_RETURN(plain_, form->Plain());
    return plain_;
  }
  return Internal("a released constant has no form that gives its value back");
}

absl::StatusOr<Tensor> Constant::Plain() {
  MutexLock lock(&mutex_);
  return PlainLocked();
}

absl::StatusOr<std::shared_ptr<const DerivedConstant>> Constant::Derive(const std::string& key,
                                                                        const Make& make) {
  MutexLock lock(&mutex_);
  if (auto it = derived_.find(key); it != derived_.end()) return it->second;
  const bool had_plain = plain_.valid();
  TENON_ASSIGN_OR_RETURN(Tensor plain, PlainLocked());
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<const DerivedConstant> form, make(plain));
  derived_.emplace(key, form);
  if (!had_plain) plain_ = Tensor();  // it was only unpacked for this
  return form;
}

bool Constant::ReleasePlain() {
  MutexLock lock(&mutex_);
  if (!plain_.valid()) return false;
  for (const auto& [key, form] : derived_) {
    if (form->CanUnpack()) {
      plain_ = Tensor();
      return true;
    }
  }
  return false;
}

bool Constant::holds_plain() const {
  MutexLock lock(&mutex_);
  return plain_.valid();
}

size_t Constant::derived_bytes() const {
  MutexLock lock(&mutex_);
  size_t bytes = 0;
  for (const auto& [key, form] : derived_) bytes += form->bytes();
  return bytes;
}

}  // namespace tenon
