// NoOp and ControlTrigger do nothing; they only carry control edges.
#include "ops/op.h"

namespace tenon {
namespace {

absl::StatusOr<std::unique_ptr<Kernel>> Nothing(PrepareContext&) {
  return MakeKernel([](RunContext&) { return absl::OkStatus(); });
}

const OpRegistration no_op({
    .name = "NoOp",
    .reference = Nothing,
});

const OpRegistration control_trigger({
    .name = "ControlTrigger",
    .reference = Nothing,
});

}  // namespace
}  // namespace tenon
