#include "runtime/execution/grow_step.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "env/memory_account.h"
#include "env/status.h"
#include "graph/object.h"
#include "kernels/interface/axis.h"
#include "runtime/execution/execution.h"

namespace tenon {
namespace {

struct Grown final : StepState {
  std::shared_ptr<Tensor> block;  // bytes; null: the last result is an ordinary tensor
  const void* last = nullptr;     // where the last result lies
  size_t bytes = 0;               // and how many it has
  bool used = false;              // the block took more than the rows that it was made for
  bool stopped = false;           // a block was made in vain: this value only lies where one grew
};

// Whether the parts of a concatenation lie one behind the other.
absl::StatusOr<bool> AreInSequence(const Shape& whole, const Tensor& axis) {
  TENON_ASSIGN_OR_RETURN(const int64_t value, ScalarInteger(axis, "axis"));
  TENON_ASSIGN_OR_RETURN(const int at, NormalizeAxis(value, whole.rank()));
  for (int i = 0; i < at; ++i) {
    if (whole[i] != 1) return false;
  }
  return true;
}

// Bytes for rows to come. Where memory is limited, other steps need what they had without them.
size_t Spare(size_t total) {
  return std::min(total, static_cast<size_t>(std::max<int64_t>(MemoryScope::Available(), 0)) / 8);
}

}  // namespace

bool GrowStep::Serves(const OpInfo& op, size_t inputs, absl::Span<const TensorSpec> outputs) {
  if (absl::string_view(op.row.name) != "ConcatV2" || inputs < 3) return false;
  const DType dtype = outputs[0].dtype;
  return !outputs[0].shape.IsComplete() && dtype != DType::kString && !HoldsObjects(dtype);
}

absl::Status GrowStep::Run(Execution& run) const {
  std::unique_ptr<StepState>& kept = run.state.steps[static_cast<size_t>(state_)];
  if (kept == nullptr) kept = std::make_unique<Grown>();
  Grown& grown = static_cast<Grown&>(*kept);
  const StepArg& output = outputs()[0];
  const auto remember = [&](const Tensor& result) {
    grown.last = result.raw();
    grown.bytes = result.bytes();
  };
  TENON_ASSIGN_OR_RETURN(const std::vector<Tensor> parts, run.Views(inputs()));
  const Tensor& first = parts[0];
  bool appends = !grown.stopped && grown.bytes > 0 && first.raw() == grown.last &&
                 first.bytes() == grown.bytes &&
                 run.BufferOf(output).kind == Buffer::Kind::kDynamic;
  Shape shape;
  if (appends) {
    std::vector<TensorSpec> specs;
    for (const Tensor& t : parts) specs.push_back({t.dtype(), t.shape(), &t});
    TENON_ASSIGN_OR_RETURN(std::vector<TensorSpec> specs_out, InferOutputs(op_, node_, specs));
    shape = std::move(specs_out[0].shape);
    TENON_ASSIGN_OR_RETURN(appends, AreInSequence(shape, parts.back()));
  }
  if (!appends) {
    grown.stopped |= grown.block != nullptr && !grown.used;
    grown.block = nullptr;
    grown.bytes = 0;
    TENON_RETURN_IF_ERROR(DynamicKernelStep::Run(run));
    TENON_ASSIGN_OR_RETURN(const Tensor result, run.View(output));
    remember(result);
    return absl::OkStatus();
  }

  const size_t total = static_cast<size_t>(shape.num_elements()) * SizeOf(output.dtype);
  if (grown.block == nullptr || grown.block->bytes() < total) {
    absl::StatusOr<Tensor> larger =
        Tensor::Allocate(DType::kUint8, Shape({static_cast<int64_t>(total + Spare(total))}));
    if (!larger.ok()) {
      larger = Tensor::Allocate(DType::kUint8, Shape({static_cast<int64_t>(total)}));
    }
    TENON_RETURN_IF_ERROR(larger.status());
    std::memcpy(larger->raw(), first.raw(), first.bytes());
    grown.block = std::make_shared<Tensor>(*std::move(larger));
    grown.used = false;
  } else {
    grown.used = true;
  }
  char* to = static_cast<char*>(grown.block->raw()) + first.bytes();
  for (size_t i = 1; i + 1 < parts.size(); ++i) {
    if (parts[i].bytes() > 0) std::memcpy(to, parts[i].raw(), parts[i].bytes());
    to += parts[i].bytes();
  }
  Tensor result = Tensor::FromExternal(output.dtype, shape, grown.block->raw(), grown.block);
  remember(result);
  run.Bring(output, std::move(result));
  return absl::OkStatus();
}

}  // namespace tenon
