// Timestamp: seconds since 1970.
#include <chrono>

#include "ops/op.h"

namespace tenon {
namespace {

absl::StatusOr<std::unique_ptr<Kernel>> TimestampKernel(PrepareContext&) {
  return MakeKernel([](RunContext& run) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    *run.output<double>(0) = std::chrono::duration<double>(now).count();
    return absl::OkStatus();
  });
}

const OpRegistration timestamp({
    .name = "Timestamp",
    .outputs = "ts: double",
    .shape = ScalarShape,
    .reference = TimestampKernel,
    .stateful = true,
});

}  // namespace
}  // namespace tenon
