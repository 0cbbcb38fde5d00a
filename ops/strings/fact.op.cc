// Fact: a fact about factorials.
#include "ops/op.h"

namespace tenon {
namespace {

absl::StatusOr<std::unique_ptr<Kernel>> FactKernel(PrepareContext&) {
  return MakeKernel([](RunContext& run) {
    *run.output<std::string>(0) = "0! == 1";
    return absl::OkStatus();
  });
}

const OpRegistration fact({
    .name = "Fact",
    .outputs = "fact: string",
    .shape = ScalarShape,
    .reference = FactKernel,
});

}  // namespace
}  // namespace tenon
