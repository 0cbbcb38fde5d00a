// Outputs whose shape only the kernel determines, each in its own tensor.
#ifndef TENON_OPS_OWNED_OUTPUTS_H_
#define TENON_OPS_OWNED_OUTPUTS_H_

#include <vector>

#include "env/status.h"
#include "graph/tensor.h"
#include "ops/evaluate.h"

namespace tenon {

// `specs` (whose dtypes are read) must outlive it.
class OwnedOutputs final : public OutputAllocator {
 public:
  explicit OwnedOutputs(const std::vector<TensorSpec>& specs)
      : specs_(specs), tensors(specs.size()) {}

  absl::StatusOr<void*> Allocate(int output, const Shape& shape) override {
    const size_t i = static_cast<size_t>(output);
    TENON_ASSIGN_OR_RETURN(tensors[i], Tensor::Allocate(specs_[i].dtype, shape));
    return tensors[i].raw();
  }

 private:
  const std::vector<TensorSpec>& specs_;

 public:
  std::vector<Tensor> tensors;
};

}  // namespace tenon

#endif  // TENON_OPS_OWNED_OUTPUTS_H_
