#include "runtime/execution/dynamic_kernel_step.h"

#include <memory>
#include <utility>
#include <vector>

#include "env/status.h"
#include "runtime/execution/execution.h"
#include "runtime/memory/arena.h"

namespace tenon {
namespace {

// Allocates outputs whose sizes Run determines.
class DynamicOutputs final : public OutputAllocator {
 public:
  DynamicOutputs(const Step& step, Execution& run) : step_(step), run_(run) {}

  absl::StatusOr<void*> Allocate(int output, const Shape& shape) override {
    const StepArg& arg = step_.outputs()[static_cast<size_t>(output)];
    const Buffer& buffer = run_.BufferOf(arg);
    if (buffer.kind == Buffer::Kind::kHeld) {
      if (shape != arg.shape) {
        return InvalidArgument("output ", output, " has shape ", shape.ToString(), ", not ",
                               arg.shape.ToString());
      }
      TENON_ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(arg.dtype, shape));
      void* const address = t.raw();
      run_.Bring(arg, std::move(t));
      return address;
    }
    if (buffer.kind != Buffer::Kind::kDynamic) {
      return Internal("output ", output, " has a known shape and is already allocated");
    }
    Tensor& t = run_.state.dynamic[static_cast<size_t>(buffer.index)];
    TENON_ASSIGN_OR_RETURN(t, Tensor::Allocate(arg.dtype, shape));
    return t.raw();
  }

 private:
  const Step& step_;
  Execution& run_;
};

}  // namespace

absl::Status DynamicKernelStep::Run(Execution& run) const {
  TENON_ASSIGN_OR_RETURN(std::vector<Tensor> tensors, run.Views(inputs()));
  std::vector<TensorSpec> specs;
  std::vector<Constant*> constants;
  std::vector<const void*> in;
  for (const Tensor& t : tensors) {
    specs.push_back({t.dtype(), t.shape(), &t});
    in.push_back(t.raw());
  }
  for (const StepArg& arg : inputs()) constants.push_back(arg.constant);
  TENON_ASSIGN_OR_RETURN(const std::vector<TensorSpec> specs_out, InferOutputs(op_, node_, specs));
  TENON_ASSIGN_OR_RETURN(
      const std::shared_ptr<const PreparedKernel> prepared,
      run.plan.cache->Prepare(node_, specs, constants, specs_out, run.plan.services));

  // An output that may overwrite an input which only this step still holds.
  std::vector<Tensor> reused(specs_out.size());
  for (const auto& [i, o] : prepared->in_place) {
    const StepArg& from = inputs()[static_cast<size_t>(i)];
    const StepArg& to = outputs()[static_cast<size_t>(o)];
    const Shape& shape = specs_out[static_cast<size_t>(o)].shape;
    const bool fits = from.last_read && run.BufferOf(to).kind == Buffer::Kind::kDynamic &&
                      from.dtype == to.dtype && shape.IsComplete() &&
                      shape.num_elements() == tensors[static_cast<size_t>(i)].num_elements();
    const Buffer& buffer = run.BufferOf(from);
    Tensor* const slot = fits ? run.Slot(buffer.kind, buffer.index) : nullptr;
    if (slot == nullptr || reused[static_cast<size_t>(o)].valid()) continue;
    *slot = Tensor();
    if (!tensors[static_cast<size_t>(i)].OwnsAlone()) continue;
    TENON_ASSIGN_OR_RETURN(reused[static_cast<size_t>(o)],
                           tensors[static_cast<size_t>(i)].Reshaped(shape));
  }

  DynamicOutputs allocator(*this, run);
  std::vector<void*> out;
  bool empty = !specs_out.empty();
  for (size_t i = 0; i < specs_out.size(); ++i) {
    const StepArg& arg = outputs()[i];
    void* address = nullptr;
    const Shape& shape = specs_out[i].shape;
    if (run.BufferOf(arg).kind == Buffer::Kind::kHeld && !shape.IsComplete()) {
      // The kernel allocates it.
    } else if (run.BufferOf(arg).kind != Buffer::Kind::kDynamic) {
      if (shape.IsComplete() && shape != arg.shape) {
        return Internal("output ", i, " was planned as ", arg.shape.ToString(), ", but is ",
                        shape.ToString());
      }
      TENON_ASSIGN_OR_RETURN(Tensor view, run.View(arg));
      address = view.raw();
    } else if (reused[i].valid()) {
      address = reused[i].raw();
      run.Bring(arg, std::move(reused[i]));
    } else if (shape.IsComplete()) {
      TENON_ASSIGN_OR_RETURN(address, allocator.Allocate(static_cast<int>(i), shape));
    }
    empty &= shape.IsComplete() && shape.num_elements() == 0;
    out.push_back(address);
  }
  if (empty && !op_.row.stateful) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const ArenaBlock scratch, ArenaBlock::Allocate(prepared->scratch_bytes));
  RunContext context(in.data(), out.data(), scratch.data(), &allocator);
  return prepared->kernel->Run(context);
}

}  // namespace tenon
