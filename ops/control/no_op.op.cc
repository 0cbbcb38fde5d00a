// NoOp: does nothing; it only carries control edges.
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

}  // namespace
}  // namespace tenon
