// A constant packed into a layout that a primitive chose.
#ifndef TENON_KERNELS_CONTRACTION_PACKED_WEIGHTS_H_
#define TENON_KERNELS_CONTRACTION_PACKED_WEIGHTS_H_

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "graph/tensor.h"
#include "kernels/interface/constant.h"
#include "primitive_cache/primitive.h"

namespace tenon {

// The result of a check, which is made when it is first asked for.
class CheckedOnce {
 public:
  bool Holds(absl::FunctionRef<bool()> check) const {
    std::call_once(checked_, [&] { holds_ = check(); });
    return holds_;
  }

 private:
  mutable std::once_flag checked_;
  mutable bool holds_ = false;
};

class PackedWeights final : public DerivedConstant {
 public:
  PackedWeights(std::shared_ptr<const PackedLayout> layout, Tensor blob, DType dtype, Shape shape)
      : layout_(std::move(layout)), blob_(std::move(blob)), dtype_(dtype), shape_(shape) {}

  const void* data() const { return blob_.raw(); }
  size_t bytes() const override { return blob_.bytes(); }
  bool CanUnpack() const override { return layout_->can_unpack(); }
  absl::StatusOr<Tensor> Plain() const override;

  const PackedLayout& layout() const { return *layout_; }
  const Tensor& blob() const { return blob_; }

  // Whether no element is a NaN, infinite or above FiniteGuard::kLimit. Float and bfloat16 only.
  bool WithinLimit(int threads) const;
  // What the first call's `check` of the elements found; each layout has one kind of check.
  bool Checked(absl::FunctionRef<bool()> check) const { return of_layout_.Holds(check); }

 private:
  const std::shared_ptr<const PackedLayout> layout_;
  const Tensor blob_;
  const DType dtype_;
  const Shape shape_;
  const CheckedOnce within_limit_, of_layout_;
};

// Returns the constant in that layout; packs it the first time.
absl::StatusOr<std::shared_ptr<const PackedWeights>> PackConstant(
    Constant& constant, std::shared_ptr<const PackedLayout> layout);

// All packed forms that the constant currently has.
absl::StatusOr<std::vector<std::shared_ptr<const PackedWeights>>> PackedForms(Constant& constant);

// Gives the constant a form that another process packed: PackConstant finds it under `key` as long
// as somebody holds the result. With the layout's description (may be empty), the form can also
// restore the plain value.
absl::StatusOr<std::shared_ptr<const PackedWeights>> AddPackedForm(Constant& constant,
                                                                   const std::string& key,
                                                                   const std::string& description,
                                                                   Tensor blob, int threads);

}  // namespace tenon

#endif  // TENON_KERNELS_CONTRACTION_PACKED_WEIGHTS_H_
