#include "kernels/contraction/packed_weights.h"

#include "absl/base/thread_annotations.h"
#include "env/mutex.h"
#include "env/status.h"
#include "kernels/contraction/finite_guard.h"

namespace tenon {
namespace {

// The list of packed forms: itself a form of the constant, of no size, so that it stays.
class FormList final : public DerivedConstant {
 public:
  size_t bytes() const override { return 0; }

  void Add(const std::shared_ptr<const PackedWeights>& form) const {
    MutexLock lock(&mutex_);
    forms_.push_back(form);
  }
  std::vector<std::shared_ptr<const PackedWeights>> All() const {
    MutexLock lock(&mutex_);
    std::vector<std::shared_ptr<const PackedWeights>> all;
    for (const auto& weak : forms_) {
      if (auto form = weak.lock()) all.push_back(std::move(form));
    }
    forms_.assign(all.begin(), all.end());
    return all;
  }

 private:
  mutable Mutex mutex_;
  mutable std::vector<std::weak_ptr<const PackedWeights>> forms_ ABSL_GUARDED_BY(mutex_);
};

absl::StatusOr<std::shared_ptr<const FormList>> ListOf(Constant& constant) {
  TENON_ASSIGN_OR_RETURN(
      std::shared_ptr<const DerivedConstant> list,
      constant.Derive("packed forms",
                      [](const Tensor&) -> absl::StatusOr<std::shared_ptr<const DerivedConstant>> {
                        return std::make_shared<FormList>();
                      }));
  return std::static_pointer_cast<const FormList>(std::move(list));
}

// Only a name, for bytes that were packed elsewhere in a layout that is not known here.
class NamedLayout final : public PackedLayout {
 public:
  NamedLayout(std::string key, size_t bytes) : key_(std::move(key)), bytes_(bytes) {}
  const std::string& key() const override { return key_; }
  size_t bytes() const override { return bytes_; }
  bool can_unpack() const override { return false; }
  absl::Status Pack(const void*, void*) const override { return Internal("a layout by name only"); }
  absl::Status Unpack(const void*, void*) const override {
    return Internal("a layout by name only");
  }

 private:
  const std::string key_;
  const size_t bytes_;
};

absl::StatusOr<std::shared_ptr<const PackedWeights>> Derive(
    Constant& constant, const std::string& key,
    const std::function<absl::StatusOr<std::shared_ptr<const PackedWeights>>(const Tensor&)>&
        pack) {
  bool fresh = false;
  TENON_ASSIGN_OR_RETURN(
      std::shared_ptr<const DerivedConstant> derived,
      constant.Derive(
          key, [&](const Tensor& plain) -> absl::StatusOr<std::shared_ptr<const DerivedConstant>> {
            fresh = true;
            return pack(plain);
          }));
  auto form = std::static_pointer_cast<const PackedWeights>(std::move(derived));
  if (!fresh) return form;
  TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const FormList> list, ListOf(constant));
  list->Add(form);
  return form;
}

}  // namespace

absl::StatusOr<Tensor> PackedWeights::Plain() const {
  TENON_ASSIGN_OR_RETURN(Tensor plain, Tensor::Allocate(dtype_, shape_));
  TENON_RETURN_IF_ERROR(layout_->Unpack(blob_.raw(), plain.raw()));
  return plain;
}

bool PackedWeights::WithinLimit(int threads) const {
  return within_limit_.Holds([&] {
    const auto elements = static_cast<int64_t>(blob_.bytes() / SizeOf(dtype_));
    return tenon::WithinLimit(blob_.raw(), dtype_, elements, threads);
  });
}

absl::StatusOr<std::shared_ptr<const PackedWeights>> PackConstant(
    Constant& constant, std::shared_ptr<const PackedLayout> layout) {
  return Derive(constant, layout->key(),
                [&](const Tensor& plain) -> absl::StatusOr<std::shared_ptr<const PackedWeights>> {
                  const Shape bytes({static_cast<int64_t>(layout->bytes())});
                  TENON_ASSIGN_OR_RETURN(Tensor blob, Tensor::Allocate(DType::kUint8, bytes));
                  TENON_RETURN_IF_ERROR(layout->Pack(plain.raw(), blob.raw()));
                  return std::make_shared<PackedWeights>(layout, std::move(blob), plain.dtype(),
                                                         plain.shape());
                });
}

absl::StatusOr<std::vector<std::shared_ptr<const PackedWeights>>> PackedForms(Constant& constant) {
  TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const FormList> list, ListOf(constant));
  return list->All();
}

absl::StatusOr<std::shared_ptr<const PackedWeights>> AddPackedForm(Constant& constant,
                                                                   const std::string& key,
                                                                   const std::string& description,
                                                                   Tensor blob, int threads) {
  std::shared_ptr<const PackedLayout> layout;
  if (description.empty()) {
    layout = std::make_shared<NamedLayout>(key, blob.bytes());
  } else {
    const size_t plain_bytes =
        static_cast<size_t>(constant.shape().num_elements()) * SizeOf(constant.dtype());
    TENON_ASSIGN_OR_RETURN(layout,
                           LayoutFromDescription(description, plain_bytes, blob.bytes(), threads));
    if (layout->key() != key) return InvalidArgument("a layout of another key");
  }
  return Derive(constant, key,
                [&](const Tensor&) -> absl::StatusOr<std::shared_ptr<const PackedWeights>> {
                  return std::make_shared<PackedWeights>(layout, std::move(blob), constant.dtype(),
                                                         constant.shape());
                });
}

}  // namespace tenon
