// The op table: one row states everything that Tenon knows about an op. Rows register themselves
// from the op's own file (ops/<topic>/<name>.op.cc), so adding an op means adding one file:
//
//   const OpRegistration relu({
//       .name = "Relu",
//       .inputs = "features: T",
//       .outputs = "activations: T",
//       .attrs = "T: type = DT_FLOAT",
//       .types = "T: half bfloat16 float double int32",
//       .shape = UnchangedShape,
//       .reference = ReluReference,
//       .accelerated = EltwiseOnednn,
//       .native = "_MklNativeRelu",
//   });
//
// Inputs and outputs have the syntax of TensorFlow's op definitions: "value: T", "values: N * T",
// "components: Tlist" (a list(type) attribute), "index: int32". Attributes: "name: kind" or "name:
// kind = default", separated by ";"; kinds: int float bool string type shape tensor func and
// list(...) of them; defaults such as "3", "0.5", "true", "SAME", "float", "[1, 1]".
#ifndef TENON_OPS_OP_H_
#define TENON_OPS_OP_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "env/containers.h"
#include "env/status.h"
#include "graph/attr.h"
#include "graph/dtype.h"
#include "graph/graph.h"
#include "kernels/interface/kernel.h"
#include "ops/batch_axis.h"
#include "ops/error_bound.h"
#include "ops/op_facts.h"
#include "ops/shape_fn.h"

namespace tenon {

struct OpRow {
  const char* name = nullptr;
  const char* inputs = "";
  const char* outputs = "";
  const char* attrs = "";
  // Allowed dtypes of type attributes: "T: float half; Tidx: int32 int64". Others are unrestricted.
  const char* types = "";

  ShapeFn shape = nullptr;              // output shapes (dtypes follow from `outputs`)
  KernelFactory reference = nullptr;    // reference kernel: every dtype of the op
  KernelFactory accelerated = nullptr;  // oneDNN or vector kernel; null: none
  // The op's name after the rename phase; null: never renamed. A native op has the inputs, outputs
  // and attributes of this row and runs `accelerated`; if that returns Unimplemented for the given
  // shapes and dtypes, it runs `reference`.
  const char* native = nullptr;
  // The dtypes that `accelerated` supports for the first type attribute ("float bfloat16").
  const char* native_types = "float";

  bool commutative = false;  // binary, and the order of inputs 0 and 1 does not matter
  // Output i has input i's bytes, possibly with another shape: if the output's shape is known, the
  // plan passes the input's memory on and runs nothing. (The kernel copies; eager calls use it.)
  bool alias = false;
  // The same for output 0, if it has as many elements as input 0: then the op repeats, adds and
  // removes none.
  bool alias_if_same_size = false;
  bool elementwise = false;  // output element i depends on (broadcast) element i of each input
  // Outputs depend only on the inputs' shapes (Shape, Size, Rank): Run never reads an input.
  bool shape_only = false;
  bool stateful = false;  // never folded or merged, and never dropped as dead if it is a target
  bool eager = true;      // may be renamed in eager calls
  bool internal = false;  // created only by rewrites; hidden from users, never imported

  // Facts (ops/op_facts.h) on which rewrites, plans, the quantizer, the import and the tests rely.
  // A fact that is left out is unknown.
  bool moves_elements =
      false;                   // elements move but do not change: the op is the same for all dtypes
  bool discontinuous = false;  // a rounding error of an input may change the output by a step
  Sign sign = Sign::kAny;
  PrecisionRole precision = PrecisionRole::kFloat;
  BatchAxisFn batch_axis = nullptr;      // if null, see KeepsRowsApart
  WeightReadsFn weight_reads = nullptr;  // if null, a run reads constant inputs once
  // Outputs 1 and 2, the range of quantized output 0, depend on the input ranges and not on the
  // data.
  bool range_of_ranges = false;
  OnIntegers on_integers = OnIntegers::kNone;
  ImportRole import_role = ImportRole::kNone;
  ControlFlow control_flow = ControlFlow::kNone;
  ErrorBound error_bound = ErrorBound::kFewRoundings;
  bool rounds_to_integers =
      false;  // quantized results are rounded: a tie may be rounded either way
};

// An argument in OpRow's signature strings, after parsing.
struct ArgSpec {
  std::string name;
  DType dtype = DType::kInvalid;  // fixed dtype, or
  std::string type_attr;          // dtype from this type attribute (element dtype of N * T), or
  std::string type_list_attr;     // one tensor per entry of this list(type) attribute
  std::string number_attr;        // N of N * T
};
struct AttrSpec {
  std::string name;
  std::string kind;  // "int", "list(type)" ...
  bool has_default = false;
  AttrValue default_value;
};
struct OpSignature {
  std::vector<ArgSpec> inputs;
  std::vector<ArgSpec> outputs;
  std::vector<AttrSpec> attrs;
  OrderedMap<std::string, std::vector<DType>> types;

  const AttrSpec* FindAttr(absl::string_view name) const;
};

struct OpInfo {
  OpRow row;
  OpSignature signature;
};

// Adds a row to the table during static initialization. A bad row (a duplicate name, a signature
// that does not parse) is left out and reported by OpTableErrors, which a test reads.
class OpRegistration {
 public:
  explicit OpRegistration(const OpRow& row);
};

// The op with that name, or null. Also finds native names: `native` is then true.
struct OpLookup {
  const OpInfo* info = nullptr;
  bool native = false;
  explicit operator bool() const { return info != nullptr; }
};
OpLookup FindOp(absl::string_view name);

// The row of the named op, for its facts; an empty row if there is none.
const OpRow& FactsOf(absl::string_view name);

// Whether two operands are broadcast as in NumPy and the result has their dtype.
bool IsBroadcastBinary(const OpInfo& op);

// Every row, by name.
std::vector<const OpInfo*> AllOps();
std::vector<std::string> OpTableErrors();

// The dtypes of the node's outputs, from its attributes (defaults filled in). One entry per tensor.
absl::StatusOr<std::vector<DType>> OutputDTypes(const OpInfo& op, const Node& node);
// The number of tensors of each output argument, in order: {"output", 1}, {"components", 3} ...
absl::StatusOr<std::vector<std::pair<std::string, int>>> OutputArgs(const OpInfo& op,
                                                                    const Node& node);
// The dtypes of the node's data inputs, one for each input that it must have.
absl::StatusOr<std::vector<DType>> InputDTypes(const OpInfo& op, const Node& node);

// Fills in attributes that the node leaves at their defaults and checks the others: a missing
// attribute, a wrong kind, or a dtype that the op does not allow is an InvalidArgument that names
// the node, the op and the attribute. Attributes that the op does not know are left alone.
absl::Status CompleteAttrs(const OpInfo& op, Node& node);

}  // namespace tenon

#endif  // TENON_OPS_OP_H_
