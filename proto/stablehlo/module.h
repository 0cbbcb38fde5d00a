// A StableHLO module in memory, as XlaCallModule's attribute holds it.
//
//   TENON_ASSIGN_OR_RETURN(Module m, ReadModule(bytes));
//   const Function* main = m.Find("main");
//
// Ops keep the names that they have in VHLO, StableHLO's versioned form, without the version:
// "dot_general".
#ifndef TENON_PROTO_STABLEHLO_MODULE_H_
#define TENON_PROTO_STABLEHLO_MODULE_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "env/containers.h"
#include "graph/dtype.h"
#include "graph/shape.h"
#include "graph/tensor.h"

namespace tenon::stablehlo {

struct Type {
  enum class Kind { kElement, kTensor, kFunction, kToken, kOther };
  Kind kind = Kind::kOther;
  DType dtype = DType::kInvalid;  // of an element or a tensor; invalid if Tenon has none like it
  Shape shape;                    // of a tensor; -1: not known before the module runs
  std::vector<std::shared_ptr<const Type>> inputs, results;  // of a function
};
using TypePtr = std::shared_ptr<const Type>;

struct Attribute;
using AttributePtr = std::shared_ptr<const Attribute>;

struct Attribute {
  enum class Kind { kInteger, kFloat, kString, kList, kDictionary, kTensor, kType, kOther };
  Kind kind = Kind::kOther;
  int64_t integer = 0;  // also of a bool, and of an enum
  double number = 0;
  absl::string_view text;
  std::vector<AttributePtr> list;
  std::vector<std::pair<absl::string_view, AttributePtr>> dictionary;
  // A tensor: its type, and its elements, or one element that is all of them.
  TypePtr type;
  Tensor tensor;
};

using ValueId = int32_t;  // of an op's result or a block's argument; unique in the module

struct Op;

struct Block {
  std::vector<ValueId> args;
  std::vector<Op> ops;
};

struct Op {
  absl::string_view dialect, name;
  std::vector<std::pair<absl::string_view, AttributePtr>> attrs;
  AttributePtr extras;  // a dictionary of others, such as mhlo.sharding; may be null
  std::vector<ValueId> operands, results;
  std::vector<std::vector<Block>> regions;

  // Null if there is none.
  const Attribute* attr(absl::string_view key) const;
};

struct Function {
  absl::string_view name;
  TypePtr type;
  Block body;
};

struct Module {
  std::vector<TypePtr> value_types;  // by ValueId
  std::vector<Function> functions;
  HashMap<absl::string_view, size_t> by_name;  // indices of functions

  const Function* Find(absl::string_view name) const;  // null: none
  const Type& type(ValueId v) const { return *value_types[static_cast<size_t>(v)]; }
};

// Whether the bytes begin as MLIR's bytecode does.
bool IsBytecode(absl::string_view bytes);

// Reads a portable artifact: MLIR bytecode with ops of VHLO, whose format is stable.
// InvalidArgument for bytes that are none, or damaged; Unimplemented for what no exporter writes.
// Texts in the module are views of `bytes`; tensors are copies.
absl::StatusOr<Module> ReadModule(absl::string_view bytes);

}  // namespace tenon::stablehlo

#endif  // TENON_PROTO_STABLEHLO_MODULE_H_
