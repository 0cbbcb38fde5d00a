// One op of the table with any attributes and inputs: as its plain name runs it, as an eager call
// runs it, renamed if it has an accelerated kernel, and as a session runs the accelerated kernel
// whose inputs but the first are constants. All give the same, or an error.
#include <memory>
#include <optional>
#include <vector>

#include "env/exceptions.h"
#include "env/flags.h"
#include "env/flush_denormals.h"
#include "graph/object.h"
#include "ops/evaluate.h"
#include "ops/rename.h"
#include "runtime/eager/eager.h"
#include "tests/fuzz/targets/draw.h"
#include "tests/fuzz/targets/target.h"
#include "tests/support/settings.h"
#include "tests/support/tolerance.h"

namespace tenon {
namespace {

bool Refused(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsUnimplemented(status) ||
         absl::IsResourceExhausted(status);
}

SessionOptions Options() {
  SessionOptions options = DefaultOptions(/*threads=*/1);
  options.flags->strict_nan = true;
  return options;
}

// Ops that belong to a rewritten graph have no eager call.
absl::StatusOr<std::vector<Tensor>> RunAccelerated(const OpInfo& op, const OpCall& call,
                                                   const Services& services) {
  if (op.row.internal || !op.row.eager) {
    Node renamed = call.node;
    if (op.row.native != nullptr) renamed.op = op.row.native;
    return CatchExceptions([&] { return Evaluate(renamed, call.inputs, services); });
  }
  static Eager* const eager = Eager::Create(Options())->release();
  return eager->Execute(call.node.op, call.inputs, call.node.attrs);
}

// Nothing if there is no accelerated kernel, or nothing that can be constant.
std::optional<absl::StatusOr<std::vector<Tensor>>> RunWithConstants(const OpInfo& op,
                                                                    const OpCall& call,
                                                                    const Services& services) {
  const char* const native = NativeName(op, call.node);
  if (native == nullptr || call.inputs.size() < 2) return std::nullopt;
  Node renamed = call.node;
  renamed.op = native;
  std::vector<TensorSpec> specs;
  std::vector<std::unique_ptr<Constant>> owned;
  std::vector<Constant*> constants(call.inputs.size(), nullptr);
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const Tensor& t = call.inputs[i];
    const bool constant = i > 0 && !HoldsObjects(t.dtype());
    specs.push_back({t.dtype(), t.shape(), constant ? &t : nullptr});
    if (!constant) continue;
    owned.push_back(std::make_unique<Constant>(t));
    constants[i] = owned.back().get();
  }
  const FlushDenormals flush;
  return CatchExceptions([&]() -> absl::StatusOr<std::vector<Tensor>> {
    const auto prepared = PrepareNode(renamed, specs, constants, services);
    if (!prepared.ok()) return prepared.status();
    return RunKernel(*prepared, call.inputs);
  });
}

void Compare(const OpInfo& op, const OpCall& call, const std::vector<Tensor>& want,
             const std::vector<Tensor>& got) {
  if (want.size() != got.size()) FuzzFailure("another number of outputs: " + Describe(call));
  if (op.row.stateful) return;
  for (size_t i = 0; i < want.size(); ++i) {
    if (HoldsObjects(want[i].dtype())) continue;
    const Tolerance tolerance = ToleranceFor(call.node, call.inputs, want[i]);
    const std::string difference = Difference(got[i], want[i], tolerance);
    if (!difference.empty()) {
      FuzzFailure(absl::StrCat("output ", i, ": ", difference, "\n", Describe(call)));
    }
  }
}

int FuzzOpCall(const uint8_t* data, size_t size) {
  ByteReader bytes(data, size);
  const OpInfo& op = DrawOp(bytes);
  if (op.row.reference == nullptr && op.row.accelerated == nullptr) return -1;
  const Magnitudes numbers = bytes.Bool() ? Magnitudes::kAbsurd : Magnitudes::kSmall;
  const Shape base = DrawShape(bytes);
  const auto input = [&](DType dtype) {
    return DrawTensor(bytes, dtype, bytes.Bool() ? DrawShape(bytes) : base, numbers);
  };
  const std::optional<OpCall> call = DrawCall(bytes, op, numbers, input);
  if (!call.has_value()) return -1;

  static const SessionOptions options = Options();
  Services services;
  services.flags = &*options.flags;
  // Like the public functions, which catch what containers throw without memory.
  const auto want = CatchExceptions([&] { return Evaluate(call->node, call->inputs, services); });
  if (!want.ok() && !Refused(want.status())) {
    FuzzFailure(absl::StrCat(want.status().ToString(), "\n", Describe(*call)));
  }
  const auto check = [&](const absl::StatusOr<std::vector<Tensor>>& got) {
    if (want.ok() != got.ok()) {
      if (op.row.stateful) return;  // a staging area that the first call has filled, for example
      if (absl::IsResourceExhausted(want.status()) || absl::IsResourceExhausted(got.status())) {
        return;
      }
      FuzzFailure(absl::StrCat("reference: ", want.status().ToString(),
                               "\naccelerated: ", got.status().ToString(), "\n", Describe(*call)));
    }
    if (want.ok() && numbers == Magnitudes::kSmall) Compare(op, *call, *want, *got);
  };
  check(RunAccelerated(op, *call, services));
  const auto with_constants = RunWithConstants(op, *call, services);
  if (with_constants.has_value()) check(*with_constants);
  return 0;
}

const FuzzTarget kTarget("op_call", FuzzOpCall);

}  // namespace
}  // namespace tenon
