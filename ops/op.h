// The op table: one row states everything that Tenon knows of an op. Rows register themselves
// from the op's own file (ops/<topic>/<name>.op.cc), so adding an op is adding one file:
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
//       .post_op = PostOp::kRelu,
//   });
//
// Inputs and outputs are written as in TensorFlow's op definitions: "value: T", "values: N * T",
// "components: Tlist" (a list(type) attribute), "index: int32". Attributes: "name: kind" or
// "name: kind = default", separated by ";"; kinds: int float bool string type shape tensor func and
// list(...) of them; defaults as in "3", "0.5", "true", "SAME", "float", "[1, 1]".
#ifndef TENON_OPS_OP_H_
#define TENON_OPS_OP_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "env/status.h"
#include "graph/attr.h"
#include "graph/dtype.h"
#include "graph/graph.h"
#include "kernels/interface/kernel.h"
#include "kernels/interface/post_op.h"
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
  KernelFactory reference = nullptr;    // standard kernel: every dtype the op has
  KernelFactory accelerated = nullptr;  // oneDNN or vector kernel; null: none
  // Name of the op after the rename phase; null: never renamed. A native op has the inputs,
  // outputs and attributes of this row and runs `accelerated`; where that gives Unimplemented for
  // the shapes and dtypes at hand, `reference` runs.
  const char* native = nullptr;
  // dtypes that `accelerated` takes for the first type attribute ("float bfloat16").
  const char* native_types = "float";

  PostOp post_op = PostOp::kNone;  // what a contraction may apply to its result in place of this op
  bool commutative = false;        // binary, and the order of inputs 0 and 1 does not matter
  // Output i is input i's bytes, perhaps under another shape: where the output's shape is known,
  // the plan passes the input's memory on and runs nothing. (The kernel copies; eager uses it.)
  bool alias = false;
  bool elementwise = false;  // output element i depends on (broadcast) element i of each input
  // Outputs follow from the inputs' shapes alone (Shape, Size, Rank): Run never reads an input.
  bool shape_only = false;
  bool stateful = false;  // never folded, merged or dropped as dead when it is a target
  bool eager = true;      // may be renamed in the eager pass
  bool internal = false;  // made by rewrites only; hidden from users, never imported
};

// What OpRow's signature strings say, parsed once.
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
  absl::btree_map<std::string, std::vector<DType>> types;

  const AttrSpec* FindAttr(absl::string_view name) const;
};

struct OpInfo {
  OpRow row;
  OpSignature signature;
};

// Puts a row into the table when the program starts. A bad row (twice the same name, a signature
// that does not parse) is kept out and reported by OpTableErrors, which a test reads.
class OpRegistration {
 public:
  explicit OpRegistration(const OpRow& row);
};

// The op of that name, or null. Finds native names too: `native` is then true.
struct OpLookup {
  const OpInfo* info = nullptr;
  bool native = false;
  explicit operator bool() const { return info != nullptr; }
};
OpLookup FindOp(absl::string_view name);

// Every row, by name.
std::vector<const OpInfo*> AllOps();
std::vector<std::string> OpTableErrors();

// dtypes of the node's outputs, from its attributes (defaults filled in). One entry per tensor.
absl::StatusOr<std::vector<DType>> OutputDTypes(const OpInfo& op, const Node& node);
// Tensors that each output argument stands for, in order: {"output", 1}, {"components", 3} ...
absl::StatusOr<std::vector<std::pair<std::string, int>>> OutputArgs(const OpInfo& op,
                                                                    const Node& node);
// dtypes of the node's data inputs: as many as it must have.
absl::StatusOr<std::vector<DType>> InputDTypes(const OpInfo& op, const Node& node);

// Fills attributes that the node leaves to their defaults and checks the rest: an attribute that
// is missing, of a wrong kind, or a dtype that the op does not take is an InvalidArgument that
// names the node, the op and the attribute. Attributes the op does not know are left alone.
absl::Status CompleteAttrs(const OpInfo& op, Node& node);

}  // namespace tenon

#endif  // TENON_OPS_OP_H_
