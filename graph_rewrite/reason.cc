#include "graph_rewrite/reason.h"

#include "absl/strings/str_cat.h"

namespace tenon {
namespace {

struct KindText {
  const char* name;
  const char* needed;
  const char* change;
};

KindText TextOf(ReasonKind kind) {
  switch (kind) {
    case ReasonKind::kReader:
      return {"reader", "no other reader", "compute what the other reader needs from another node"};
    case ReasonKind::kOutput:
      return {"output", "a result that only the fused nodes read", "do not fetch it"};
    case ReasonKind::kTarget:
      return {"target", "a node that need not run by itself", "do not list it as a target"};
    case ReasonKind::kControlIn:
      return {"control_in", "no control inputs", "drop the control dependency before it"};
    case ReasonKind::kControlOut:
      return {"control_out", "no control edges out", "drop the control dependency on it"};
    case ReasonKind::kDType:
      return {"dtype", "a dtype that the rule supports", "compute it in float"};
    case ReasonKind::kShape:
      return {"shape", "a shape that is known before running", "export it with fixed input shapes"};
    case ReasonKind::kDisabled:
      return {"disabled", "the rule enabled", "remove the rule from TENON_DISABLE_RULES"};
    case ReasonKind::kOp:
      return {"op", "another op", ""};
    case ReasonKind::kAttribute:
      return {"attribute", "another value of the attribute", ""};
    case ReasonKind::kValue:
      return {"value", "another constant", ""};
    case ReasonKind::kConstant:
      return {"constant", "a constant", "freeze the value into the model"};
    case ReasonKind::kOperand:
      return {"operand", "the same tensor as elsewhere in the pattern", ""};
    case ReasonKind::kCondition:
      return {"condition", "", ""};
    case ReasonKind::kNoKernel:
      return {"no_kernel", "an accelerated kernel of the op", ""};
    case ReasonKind::kKernelDType:
      return {"kernel_dtype", "a dtype that the accelerated kernel takes", "compute it in float"};
    case ReasonKind::kKernelRefused:
      return {"kernel_refused", "shapes and attributes that the accelerated kernel takes", ""};
  }
  return {"", "", ""};
}

}  // namespace

const char* Name(ReasonKind kind) { return TextOf(kind).name; }

std::string Reason::Text() const {
  if (node.empty()) return found;
  return absl::StrCat("'", node, "' (", op, ") ", found);
}

Reason MakeReason(ReasonKind kind, absl::string_view node, absl::string_view op,
                  absl::string_view found) {
  const KindText text = TextOf(kind);
  return {kind, std::string(node), std::string(op), std::string(found), text.needed, text.change};
}

}  // namespace tenon
