#include "ops/evaluate.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "env/cpu.h"
#include "env/flush_denormals.h"
#include "env/status.h"
#include "kernels/elementwise/half_in_float.h"
#include "ops/owned_outputs.h"

namespace tenon {
namespace {

absl::Status CheckInputs(const OpInfo& op, const Node& node, absl::Span<const TensorSpec> inputs) {
  TENON_ASSIGN_OR_RETURN(const std::vector<DType> dtypes, InputDTypes(op, node));
  if (dtypes.size() != inputs.size()) {
    return InvalidArgument("takes ", dtypes.size(), " inputs, but has ", inputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].dtype != dtypes[i]) {
      return InvalidArgument("input ", i, " must be ", Name(dtypes[i]), ", but is ",
                             Name(inputs[i].dtype));
    }
  }
  return absl::OkStatus();
}

// An output that Tensor::Allocate would refuse. Found before a kernel is prepared, which may make
// tables of a dimension's size.
absl::Status CheckSizes(const std::vector<TensorSpec>& outputs) {
  for (const TensorSpec& output : outputs) {
    if (!output.shape.IsComplete()) continue;
    TENON_ASSIGN_OR_RETURN(const int64_t elements, output.shape.CheckedElements());
    const int64_t size = std::max<int64_t>(static_cast<int64_t>(SizeOf(output.dtype)), 1);
    if (elements > (int64_t{1} << 46) / size) {
      return absl::ResourceExhaustedError(
          absl::StrCat("an output of shape ", output.shape.ToString(), " is too large"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TensorSpec>> InferByName(const Node& node,
                                                    absl::Span<const TensorSpec> inputs) {
  static const absl::Status* const cpu = new absl::Status(CheckCpu());
  TENON_RETURN_IF_ERROR(*cpu);
  const OpLookup op = FindOp(node.op);
  if (!op) return Unimplemented(NodeLabel(node), ": op is not implemented");
  TENON_ASSIGN_OR_RETURN(std::vector<TensorSpec> outputs, InferOutputs(*op.info, node, inputs));
  if (absl::Status s = CheckSizes(outputs); !s.ok()) return Annotate(s, NodeLabel(node));
  return outputs;
}

bool HasHalves(absl::Span<const TensorSpec> specs) {
  return absl::c_any_of(specs, [](const TensorSpec& s) { return s.dtype == DType::kHalf; });
}

}  // namespace

absl::StatusOr<std::vector<TensorSpec>> InferOutputs(const OpInfo& op, const Node& node,
                                                     absl::Span<const TensorSpec> inputs) {
  if (absl::Status s = CheckInputs(op, node, inputs); !s.ok()) return Annotate(s, NodeLabel(node));
  TENON_ASSIGN_OR_RETURN(const std::vector<DType> dtypes, OutputDTypes(op, node));
  ShapeContext context(node, inputs, static_cast<int>(dtypes.size()));
  if (op.row.shape != nullptr) {
    if (absl::Status s = op.row.shape(context); !s.ok()) return Annotate(s, NodeLabel(node));
  }
  std::vector<TensorSpec> outputs(dtypes.size());
  for (size_t i = 0; i < dtypes.size(); ++i) {
    outputs[i].dtype = dtypes[i];
    outputs[i].shape = context.outputs()[i];
  }
  return outputs;
}

absl::StatusOr<PreparedKernel> PrepareNode(const Node& node, absl::Span<const TensorSpec> inputs,
                                           absl::Span<Constant* const> constants,
                                           const Services& services) {
  const OpLookup op = FindOp(node.op);
  if (!op) return Unimplemented(NodeLabel(node), ": op is not implemented");
  TENON_ASSIGN_OR_RETURN(std::vector<TensorSpec> outputs, InferOutputs(*op.info, node, inputs));
  if (absl::Status s = CheckSizes(outputs); !s.ok()) return Annotate(s, NodeLabel(node));
  const OpRow& row = op.info->row;

  const KernelFactory accelerated = op.native ? row.accelerated : nullptr;
  struct Candidate {
    KernelFactory factory;
    bool accelerated;
    bool in_float;  // for nodes of halves
  };
  const Candidate candidates[] = {
      {accelerated, true, false}, {accelerated, true, true}, {row.reference, false, false}};
  absl::Status last = Unimplemented("op has no kernel");
  for (const Candidate& candidate : candidates) {
    if (candidate.factory == nullptr || (candidate.in_float && !HasHalves(inputs))) continue;
    PrepareContext context(node, inputs, constants, outputs, services, InferByName);
    absl::StatusOr<std::unique_ptr<Kernel>> kernel =
        candidate.in_float ? PrepareInFloat(context, inputs, candidate.factory)
                           : candidate.factory(context);
    if (!kernel.ok()) {
      last = kernel.status();
      if (absl::IsUnimplemented(last)) continue;
      return Annotate(last, NodeLabel(node));
    }
    PreparedKernel prepared;
    prepared.kernel = *std::move(kernel);
    prepared.outputs = std::move(outputs);
    prepared.scratch_bytes = context.scratch_bytes();
    prepared.in_place.assign(context.in_place().begin(), context.in_place().end());
    prepared.unread.assign(context.unread().begin(), context.unread().end());
    prepared.value_inputs.assign(context.value_inputs().begin(), context.value_inputs().end());
    prepared.accelerated = candidate.accelerated;
    return prepared;
  }
  return Annotate(last, NodeLabel(node));
}

absl::StatusOr<std::vector<Tensor>> RunKernel(const PreparedKernel& prepared,
                                              absl::Span<const Tensor> inputs) {
  OwnedOutputs outputs(prepared.outputs);
  absl::InlinedVector<const void*, 8> in;
  for (const Tensor& t : inputs) in.push_back(t.raw());
  absl::InlinedVector<void*, 4> out(prepared.outputs.size(), nullptr);
  for (size_t i = 0; i < out.size(); ++i) {
    if (!prepared.outputs[i].shape.IsComplete()) continue;
    TENON_ASSIGN_OR_RETURN(out[i],
                           outputs.Allocate(static_cast<int>(i), prepared.outputs[i].shape));
  }
  Tensor scratch;
  if (prepared.scratch_bytes > 0) {
    const Shape shape({static_cast<int64_t>(prepared.scratch_bytes)});
    TENON_ASSIGN_OR_RETURN(scratch, Tensor::Allocate(DType::kUint8, shape));
  }
  RunContext run(in.data(), out.data(), scratch.raw(), &outputs);
  TENON_RETURN_IF_ERROR(prepared.kernel->Run(run));
  return std::move(outputs.tensors);
}

absl::StatusOr<std::vector<Tensor>> Evaluate(const Node& node, absl::Span<const Tensor> inputs,
                                             const Services& services) {
  const FlushDenormals flush;
  std::vector<TensorSpec> specs;
  for (const Tensor& t : inputs) specs.push_back({t.dtype(), t.shape(), &t});
  TENON_ASSIGN_OR_RETURN(const PreparedKernel prepared, PrepareNode(node, specs, {}, services));
  absl::StatusOr<std::vector<Tensor>> outputs = RunKernel(prepared, inputs);
  if (!outputs.ok()) return Annotate(outputs.status(), NodeLabel(node));
  return outputs;
}

}  // namespace tenon
