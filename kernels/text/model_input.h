// Models that are inputs of kernels, as bytes (uint8, [n]): parsed once if constant.
#ifndef TENON_KERNELS_TEXT_MODEL_INPUT_H_
#define TENON_KERNELS_TEXT_MODEL_INPUT_H_

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "env/status.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// `Model` is a DerivedConstant with `static absl::StatusOr<std::shared_ptr<const Model>>
// Parse(absl::Span<const uint8_t>)`.
template <typename Model>
class ModelInput {
 public:
  // `key` names the form among those derived from a constant.
  static absl::StatusOr<ModelInput> Make(PrepareContext& p, int input, const char* key) {
    ModelInput in;
    in.input_ = input;
    in.size_ = static_cast<size_t>(p.input_shape(input).num_elements());
    if (Constant* constant = p.constant(input)) {
      TENON_ASSIGN_OR_RETURN(
          std::shared_ptr<const DerivedConstant> form,
          constant->Derive(
              key, [](const Tensor& t) -> absl::StatusOr<std::shared_ptr<const DerivedConstant>> {
                return Model::Parse(t.flat<uint8_t>());
              }));
      in.model_ = std::static_pointer_cast<const Model>(std::move(form));
      p.InputNotRead(input);
    }
    return in;
  }

  absl::StatusOr<std::shared_ptr<const Model>> Get(const RunContext& run) const {
    if (model_ != nullptr) return model_;
    return Model::Parse({run.input<uint8_t>(input_), size_});
  }

 private:
  std::shared_ptr<const Model> model_;
  int input_ = 0;
  size_t size_ = 0;
};

}  // namespace tenon

#endif  // TENON_KERNELS_TEXT_MODEL_INPUT_H_
