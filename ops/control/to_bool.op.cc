// ToBool: whether a tensor counts as true in a condition: a number that is not zero, text that is
// not empty, any other tensor that has elements.
#include <string>

#include "kernels/interface/types.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::StatusOr<std::unique_ptr<Kernel>> ToBool(PrepareContext& p) {
  const Shape shape = p.input_shape(0);
  if (shape.rank() > 0) {
    return MakeKernel([has_elements = shape.num_elements() > 0](RunContext& run) {
      *run.output<bool>(0) = has_elements;
      return absl::OkStatus();
    });
  }
  return DispatchType(AllTypes{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([](RunContext& run) {
      const T& value = *run.input<T>(0);
      if constexpr (std::is_same_v<T, std::string>) {
        *run.output<bool>(0) = !value.empty();
      } else {
        *run.output<bool>(0) = value != T(0);
      }
      return absl::OkStatus();
    });
  });
}

const OpRegistration to_bool({
    .name = "ToBool",
    .inputs = "input: T",
    .outputs = "output: bool",
    .attrs = "T: type",
    .shape = ScalarShape,
    .reference = ToBool,
});

}  // namespace
}  // namespace tenon
