// One function that is being written: the values of the module's ops so far, and ways to write
// nodes. The lowerings of ops (lowering.h) are functions of a Body and an op.
#ifndef TENON_PROTO_STABLEHLO_BODY_H_
#define TENON_PROTO_STABLEHLO_BODY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "env/containers.h"
#include "proto/stablehlo/function_writer.h"
#include "proto/stablehlo/module.h"
#include "proto/stablehlo/value.h"

namespace tenon::stablehlo {

// What the bodies of one module share.
struct ModuleWriter {
  ModuleWriter(const Module& m, std::string prefix, size_t max_nodes);
  ~ModuleWriter();

  // "name/while_body", with a number if it is taken.
  std::string NewName(absl::string_view what);

  const Module& module;
  const std::string name;  // of the function for main
  size_t nodes_left;
  HashMap<std::string, int> names;
  std::vector<std::unique_ptr<tf::FunctionDef>> functions;
  std::vector<absl::string_view> calls;  // the functions that are being inlined, outermost first
  int depth = 0;                         // of regions and calls
};

class Body {
 public:
  Body(ModuleWriter& writer, std::string name)
      : writer_(writer), out_(std::move(name), writer.nodes_left) {}

  ModuleWriter& writer() { return writer_; }
  FunctionWriter& out() { return out_; }
  const Module& module() const { return writer_.module; }

  // ---- values ----

  absl::StatusOr<Value> Get(ValueId id) const;
  absl::StatusOr<Value> Operand(const Op& op, size_t i) const;
  // Operands begin ... end - 1.
  absl::StatusOr<std::vector<Value>> Operands(const Op& op, size_t begin, size_t end) const;
  // Also checks that the value has the type that the op's result says.
  absl::Status Define(ValueId id, Value value);
  absl::Status DefineResult(const Op& op, Value value) { return DefineResult(op, 0, value); }
  absl::Status DefineResult(const Op& op, size_t i, Value value);
  // The type of result i: a tensor of a dtype that Tenon has.
  absl::StatusOr<const Type*> ResultType(const Op& op, size_t i = 0) const;
  // Replaces an op's only result by a node of that result's dtype.
  absl::Status DefineNode(const Op& op, absl::string_view tf_op, const std::vector<Ref>& inputs,
                          AttrMap attrs);

  // ---- tensors ----

  // A tensor with all elements of the value, in its shape.
  absl::StatusOr<Ref> Full(const Value& v);
  absl::StatusOr<Ref> FullOperand(const Op& op, size_t i);
  // A tensor that TensorFlow's elementwise ops repeat to the value's shape, and its shape.
  absl::StatusOr<Ref> Aligned(const Value& v, Shape& shape);
  // The value's shape as a vector; int32 or int64.
  absl::StatusOr<Ref> Sizes(const Value& v);

  // ---- nodes, named after the op that is being lowered ----

  absl::StatusOr<Ref> Node(absl::string_view tf_op, const std::vector<Ref>& inputs, AttrMap attrs,
                           DType dtype);
  absl::StatusOr<std::vector<Ref>> Nodes(absl::string_view tf_op, const std::vector<Ref>& inputs,
                                         AttrMap attrs, const std::vector<DType>& dtypes);
  // A node with the attribute T, whose result has the first input's dtype.
  absl::StatusOr<Ref> Unary(absl::string_view tf_op, const std::vector<Ref>& inputs);
  absl::StatusOr<Ref> Constant(const Tensor& value);
  // int32, or int64 if a number needs that.
  absl::StatusOr<Ref> Integers(const std::vector<int64_t>& values);
  absl::StatusOr<Ref> Integers32(const std::vector<int64_t>& values);
  // Dimension i of the result is dimension order[i] of x.
  absl::StatusOr<Ref> Transposed(const Ref& x, const std::vector<int64_t>& order);
  absl::StatusOr<Ref> Cast(const Ref& x, DType dtype);
  absl::StatusOr<Ref> Reshape(const Ref& x, const Shape& from, const Shape& to);
  absl::StatusOr<Value> ConstantValue(const Tensor& value, const Shape& shape);
  // Another number in place of the element of a uniform value.
  absl::StatusOr<Value> Uniform(double number, DType dtype, const Value& like);
  // A number, repeated to the shape of `like`.
  absl::StatusOr<Value> Number(double number, DType dtype, const Value& like);

  // An elementwise op of TensorFlow on operands of one shape (or scalars). Nothing is repeated that
  // the op repeats itself; if all operands repeat the same dimensions, so does the result.
  absl::StatusOr<Value> Elementwise(absl::string_view tf_op, absl::Span<const Value> operands,
                                    DType result, AttrMap attrs = {});
  // With the attribute T.
  absl::StatusOr<Value> Map(absl::string_view tf_op, absl::Span<const Value> operands);

  // ---- blocks ----

  // Lowers the block's ops and returns what it returns.
  absl::StatusOr<std::vector<Value>> Lower(const Block& block, absl::Span<const Value> args);

 private:
  ModuleWriter& writer_;
  FunctionWriter out_;
  HashMap<ValueId, Value> values_;
  absl::string_view op_;  // that is being lowered
};

// A tensor with one element; the number is converted to the dtype. Invalid for dtypes without
// numbers.
Tensor ScalarOf(DType dtype, double number);

}  // namespace tenon::stablehlo

#endif  // TENON_PROTO_STABLEHLO_BODY_H_
