#include "ops/nn/packed_weights.h"

#include "env/status.h"

namespace tenon {

absl::StatusOr<Tensor> PackedWeights::Plain() const {
  TENON_ASSIGN_OR_RETURN(Tensor plain, Tensor::Allocate(dtype_, shape_));
  TENON_RETURN_IF_ERROR(layout_->Unpack(blob_.raw(), plain.raw()));
  return plain;
}

absl::StatusOr<std::shared_ptr<const PackedWeights>> PackConstant(
    Constant& constant, std::shared_ptr<const PackedLayout> layout) {
  auto make = [&](const Tensor& plain) -> absl::StatusOr<std::shared_ptr<const DerivedConstant>> {
    const Shape bytes({static_cast<int64_t>(layout->bytes())});
    TENON_ASSIGN_OR_RETURN(Tensor blob, Tensor::Allocate(DType::kUint8, bytes));
    TENON_RETURN_IF_ERROR(layout->Pack(plain.raw(), blob.raw()));
    return std::make_shared<PackedWeights>(layout, std::move(blob), plain.dtype(), plain.shape());
  };
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<const DerivedConstant> form,
                         constant.Derive(layout->key(), make));
  return std::static_pointer_cast<const PackedWeights>(std::move(form));
}

}  // namespace tenon
