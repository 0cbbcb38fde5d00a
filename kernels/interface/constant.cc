#include "kernels/interface/constant.h"

#include "env/status.h"

namespace tenon {
namespace {

using Forms = HashMap<std::string, std::shared_ptr<const DerivedConstant>>;

// Drops forms that nobody else holds, except `recent`, forms of no size, and one that can restore a
// released plain value. Forms thus stay as long as a plan or a cached kernel reads them.
void DropUnused(Forms& forms, bool has_plain,
                const std::shared_ptr<const DerivedConstant>& recent) {
  if (forms.size() < 2 || recent->bytes() == 0) return;
  bool has_value = has_plain || recent->CanUnpack();
  for (auto it = forms.begin(); !has_value && it != forms.end(); ++it) {
    has_value = it->second->CanUnpack() && it->second.use_count() > 1;
  }
  for (auto it = forms.begin(); it != forms.end();) {
    const DerivedConstant& form = *it->second;
    bool keep = it->second == recent || it->second.use_count() > 1 || form.bytes() == 0;
    if (!keep && !has_value && form.CanUnpack()) keep = has_value = true;
    if (keep) {
      ++it;
    } else {
      forms.erase(it++);
    }
  }
}

}  // namespace

absl::StatusOr<Tensor> DerivedConstant::Plain() const {
  return absl::UnimplementedError("this form cannot be unpacked");
}

Constant::Constant(Tensor plain)
    : dtype_(plain.dtype()), shape_(plain.shape()), plain_(std::move(plain)) {}

Constant::~Constant() = default;

absl::StatusOr<Tensor> Constant::PlainLocked() {
  if (plain_.valid()) return plain_;
  for (const auto& [key, form] : derived_) {
    if (!form->CanUnpack()) continue;
    TENON_ASSIGN_OR_RETURN(plain_, form->Plain());
    return plain_;
  }
  return Internal("a released constant has no form that can restore its value");
}

absl::StatusOr<Tensor> Constant::Plain() {
  MutexLock lock(&mutex_);
  return PlainLocked();
}

absl::StatusOr<std::shared_ptr<const DerivedConstant>> Constant::Derive(const std::string& key,
                                                                        const Make& make) {
  MutexLock lock(&mutex_);
  if (auto it = derived_.find(key); it != derived_.end()) {
    std::shared_ptr<const DerivedConstant> form = it->second;
    DropUnused(derived_, plain_.valid(), form);
    return form;
  }
  const bool had_plain = plain_.valid();
  TENON_ASSIGN_OR_RETURN(Tensor plain, PlainLocked());
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<const DerivedConstant> form, make(plain));
  derived_.emplace(key, form);
  if (!had_plain) plain_ = Tensor();  // it was unpacked only for this
  DropUnused(derived_, had_plain, form);
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
