// custom_call: what JAX's exports call by name.
#include "absl/strings/match.h"
#include "env/status.h"
#include "proto/stablehlo/lowering.h"

namespace tenon::stablehlo {
namespace {

// Annotations, which pass their operand on.
bool IsAnnotation(absl::string_view target) {
  return target == "Sharding" || target == "SPMDFullToShardShape" ||
         target == "SPMDShardToFullShape" || target == "LayoutConstraint" ||
         target == "annotate_device_placement" || absl::StartsWith(target, "xla.sdy.");
}

struct Plain {
  absl::string_view target, op;
};
// op names: no row of the op table knows these names of XLA's.
constexpr Plain kElementwise[] = {
    {"mhlo.acos", "Acos"}, {"mhlo.acosh", "Acosh"}, {"mhlo.asin", "Asin"}, {"mhlo.asinh", "Asinh"},
    {"mhlo.atan", "Atan"}, {"mhlo.atanh", "Atanh"}, {"mhlo.cosh", "Cosh"}, {"mhlo.erf", "Erf"},
    {"mhlo.erfc", "Erfc"}, {"mhlo.sinh", "Sinh"},   {"mhlo.tan", "Tan"},
};

// The value of `key` among the call's own attributes, whichever list they are in.
const Attribute* Setting(const Op& op, absl::string_view key) {
  for (absl::string_view list : {"mhlo.attributes", "backend_config"}) {
    const Attribute* settings = op.attr(list);
    if (settings == nullptr) continue;
    for (const auto& [name, value] : settings->dictionary) {
      if (name == key) return value.get();
    }
  }
  return nullptr;
}

// Operand 1 is the count, or an attribute says it.
absl::Status TopK(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Ref x, body.FullOperand(op, 0));
  const Attribute* largest = Setting(op, "largest");
  if (largest != nullptr && largest->integer == 0) return Unimplemented("of the smallest elements");
  if (op.results.size() != 2) return InvalidArgument("has ", op.results.size(), " results");
  Ref count;
  if (op.operands.size() > 1) {
    TENON_ASSIGN_OR_RETURN(count, body.FullOperand(op, 1));
    TENON_ASSIGN_OR_RETURN(count, body.Cast(count, DType::kInt32));
  } else {
    const Attribute* k = Setting(op, "k");
    if (k == nullptr || k->integer < 0 || k->integer > (1 << 30)) {
      return InvalidArgument("has no attribute 'k'");
    }
    TENON_ASSIGN_OR_RETURN(
        count, body.Constant(Tensor::Scalar<int32_t>(static_cast<int32_t>(k->integer))));
  }
  return DefineTopK(body, op, x, count);
}

// reduce_window with a window that operands describe, and with a function of the module.
absl::Status DynamicReduceWindow(Body& body, const Op& op) {
  const Attribute* called = op.attr("called_computations");
  if (op.operands.size() != 7 || called == nullptr || called->list.size() != 1) {
    return Unimplemented("of several tensors at once");
  }
  const Function* function = body.module().Find(called->list[0]->text);
  if (function == nullptr) return InvalidArgument("calls a function that is not there");
  std::vector<Ref> inputs;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(Ref input, body.FullOperand(op, i));
    if (i >= 2) {
      TENON_ASSIGN_OR_RETURN(input, body.Cast(input, DType::kInt64));
    }
    inputs.push_back(std::move(input));
  }
  TENON_ASSIGN_OR_RETURN(FuncRef reducer, ScalarFunction(body, function->body, "reducer"));
  const DType dtype = inputs[0].dtype;
  return body.DefineNode(
      op, "XlaReduceWindow", inputs,
      {{"T", dtype}, {"Tindices", DType::kInt64}, {"computation", std::move(reducer)}});
}

absl::Status CustomCall(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const absl::string_view target, TextOf(op, "call_target_name"));
  // The exporter's checks of input shapes: what follows fails for wrong ones.
  if (target == "shape_assertion" && op.results.empty()) return absl::OkStatus();
  if (IsAnnotation(target)) {
    for (size_t i = 0; i < op.results.size(); ++i) {
      TENON_ASSIGN_OR_RETURN(Value v, body.Operand(op, i));
      TENON_RETURN_IF_ERROR(body.DefineResult(op, i, std::move(v)));
    }
    return absl::OkStatus();
  }
  if (target == "mhlo.topk" || target == "stablehlo.dynamic_top_k") return TopK(body, op);
  if (target == "stablehlo.dynamic_reduce_window") return DynamicReduceWindow(body, op);
  for (const Plain& row : kElementwise) {
    if (row.target != target) continue;
    TENON_ASSIGN_OR_RETURN(const Value x, body.Operand(op, 0));
    TENON_ASSIGN_OR_RETURN(Value y, body.Map(row.op, {x}));
    return body.DefineResult(op, std::move(y));
  }
  if (target == "tf.call_tf_function") {
    return Unimplemented("the module calls back into TensorFlow (jax2tf.call_tf)");
  }
  return Unimplemented("Tenon does not have '", target, "'");
}

constexpr Lowering kCustomCalls[] = {
    {"custom_call", CustomCall},
};

}  // namespace

absl::Span<const Lowering> CustomCallLowerings() { return kCustomCalls; }

}  // namespace tenon::stablehlo
