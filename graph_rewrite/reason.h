// Why a rule did not fire at a node, or why a node runs a reference kernel, as an object. The text
// that people read is made from it.
#ifndef TENON_GRAPH_REWRITE_REASON_H_
#define TENON_GRAPH_REWRITE_REASON_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tenon {

enum class ReasonKind {
  // Safety checks, which hold for every rule. A graph without what they found can be tried
  // (graph_rewrite/near_miss.h).
  kReader,      // another node reads the intermediate result
  kOutput,      // the intermediate result is an output of the graph
  kTarget,      // the node must run
  kControlIn,   // another node must run before it
  kControlOut,  // another node must run after it
  kDType,       // the rule does not support the dtype
  kShape,       // a shape is known only at run time
  kDisabled,    // TENON_DISABLE_RULES names the rule
  // What the rule asks for.
  kOp,         // the node has another op
  kAttribute,  // an attribute has another value
  kValue,      // a constant has another value
  kConstant,   // an operand is not constant
  kOperand,    // another tensor than elsewhere in the pattern
  kCondition,  // the rule's own condition; the text tells
  // Of a single node.
  kNoKernel,       // the op has no accelerated kernel
  kKernelDType,    // its accelerated kernel does not take the dtype
  kKernelRefused,  // its accelerated kernel does not take these shapes or attributes
};
// "reader", "output", "control_in" ...
const char* Name(ReasonKind kind);

struct Reason {
  ReasonKind kind = ReasonKind::kCondition;
  std::string node, op;  // where it stopped; may be empty
  std::string found;     // "has another reader, 'z'"; a whole sentence if there is no node
  std::string needed;    // "no other reader"
  std::string change;    // what would have to change in the model; may be empty

  // "'node' (Op) has another reader, 'z'"
  std::string Text() const;
};

// A reason with the `needed` and `change` of its kind.
Reason MakeReason(ReasonKind kind, absl::string_view node, absl::string_view op,
                  absl::string_view found);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_REASON_H_
