#include "kernels/lists/optional.h"

#include <utility>
#include <vector>

#include "env/status.h"
#include "graph/object.h"
#include "kernels/lists/list_math.h"
#include "kernels/lists/tensor_list.h"

namespace tenon {
namespace {

// Optionals are added tensor by tensor, as the gradients of conditions need it.
struct OptionalTensors final : Summand {
  bool has_value = false;
  std::vector<std::shared_ptr<const Tensor>> value;

  absl::StatusOr<ObjectPtr> Plus(const ObjectPtr& other) const override;
  absl::StatusOr<ObjectPtr> Zeros() const override;
};

absl::StatusOr<ObjectPtr> OptionalTensors::Plus(const ObjectPtr& other) const {
  const auto* const y = dynamic_cast<const OptionalTensors*>(other.get());
  if (y == nullptr) return InvalidArgument("an optional can be added to another one only");
  if (has_value != y->has_value) {
    return InvalidArgument("an optional with a value and one without cannot be added");
  }
  if (value.size() != y->value.size()) {
    return InvalidArgument("optionals of ", value.size(), " and ", y->value.size(),
                           " tensors cannot be added");
  }
  auto sum = std::make_shared<OptionalTensors>();
  sum->has_value = has_value;
  for (size_t i = 0; i < value.size(); ++i) {
    if (value[i]->dtype() != y->value[i]->dtype()) {
      return InvalidArgument("optionals of ", Name(value[i]->dtype()), " and ",
                             Name(y->value[i]->dtype()), " cannot be added");
    }
    TENON_ASSIGN_OR_RETURN(auto item, AddItems(value[i], y->value[i]));
    sum->value.push_back(std::move(item));
  }
  return ObjectPtr(std::move(sum));
}

absl::StatusOr<ObjectPtr> OptionalTensors::Zeros() const {
  auto zeros = std::make_shared<OptionalTensors>();
  zeros->has_value = has_value;
  for (const std::shared_ptr<const Tensor>& part : value) {
    TENON_ASSIGN_OR_RETURN(auto item, ZerosLikeItem(part));
    zeros->value.push_back(std::move(item));
  }
  return ObjectPtr(std::move(zeros));
}

absl::StatusOr<const OptionalTensors*> OptionalIn(const RunContext& run) {
  const auto* found = dynamic_cast<const OptionalTensors*>(run.input<ObjectPtr>(0)->get());
  if (found == nullptr) return InvalidArgument("expected the handle of an optional");
  return found;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> NoOptionalKernel(PrepareContext&) {
  return MakeKernel([](RunContext& run) {
    *run.output<ObjectPtr>(0) = std::make_shared<OptionalTensors>();
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> OptionalOfKernel(PrepareContext& p) {
  std::vector<TensorSpec> specs;
  for (int i = 0; i < p.num_inputs(); ++i) specs.push_back(InputSpec(p, i));
  return MakeKernel([specs](RunContext& run) -> absl::Status {
    auto made = std::make_shared<OptionalTensors>();
    made->has_value = true;
    TENON_ASSIGN_OR_RETURN(made->value, KeepInputs(run, specs));
    *run.output<ObjectPtr>(0) = std::move(made);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> OptionalHasKernel(PrepareContext&) {
  return MakeKernel([](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const OptionalTensors* found, OptionalIn(run));
    *run.output<bool>(0) = found->has_value;
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> OptionalGetKernel(PrepareContext& p) {
  std::vector<TensorSpec> outputs;
  for (int i = 0; i < p.num_outputs(); ++i) {
    outputs.push_back({p.output_dtype(i), p.output_shape(i), nullptr});
  }
  return MakeKernel([outputs](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const OptionalTensors* found, OptionalIn(run));
    if (!found->has_value) return InvalidArgument("the optional has no value");
    return WriteItems(run, "optional", found->value, outputs);
  });
}

}  // namespace tenon
