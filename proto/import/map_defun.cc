#include "proto/import/map_defun.h"

#include <limits>
#include <utility>

#include "env/status.h"
#include "graph/attr_reader.h"
#include "proto/messages/tenon_graph.pb.h"
#include "proto/stablehlo/function_writer.h"

namespace tenon {
namespace {

using stablehlo::FunctionWriter;
using stablehlo::Ref;
using Refs = std::vector<Ref>;
using Types = std::vector<DType>;

constexpr DType kIndex = DType::kInt32;

// The loop's variables: the row, the number of rows, a list of rows for each argument, the captured
// inputs, a list of rows for each output.
class MapWriter {
 public:
  MapWriter(FuncRef function, Types arguments, Types captured, Types outputs,
            std::vector<Shape> shapes, std::string name)
      : function_(std::move(function)),
        arguments_(std::move(arguments)),
        captured_(std::move(captured)),
        outputs_(std::move(outputs)),
        shapes_(std::move(shapes)),
        name_(std::move(name)) {}

  absl::StatusOr<std::vector<std::unique_ptr<tf::FunctionDef>>> Write() {
    variables_ = {kIndex, kIndex};
    variables_.insert(variables_.end(), arguments_.size(), DType::kVariant);
    variables_.insert(variables_.end(), captured_.begin(), captured_.end());
    variables_.insert(variables_.end(), outputs_.size(), DType::kVariant);
    TENON_RETURN_IF_ERROR(Condition());
    TENON_RETURN_IF_ERROR(Body());
    TENON_RETURN_IF_ERROR(Whole());
    return std::move(functions_);
  }

 private:
  static absl::StatusOr<Ref> Node1(FunctionWriter& writer, const char* name, const char* op,
                                   const Refs& inputs, const AttrMap& attrs, DType type) {
    TENON_ASSIGN_OR_RETURN(const Refs made, writer.AddNode(name, op, inputs, attrs, {type}));
    return made[0];
  }
  static absl::StatusOr<Ref> Constant(FunctionWriter& writer, const char* name, Tensor value) {
    const DType type = value.dtype();
    return Node1(writer, name, "Const", {}, {{"dtype", type}, {"value", std::move(value)}}, type);
  }
  // As the list ops take it: -1 for an unknown rank.
  static absl::StatusOr<Ref> ShapeConstant(FunctionWriter& writer, const char* name,
                                           const Shape& shape) {
    if (!shape.has_rank()) return Constant(writer, name, Tensor::Scalar<int32_t>(-1));
    std::vector<int32_t> dims;
    for (const int64_t d : shape.dims()) {
      if (d > std::numeric_limits<int32_t>::max()) {
        return InvalidArgument("an output of shape ", shape.ToString());
      }
      dims.push_back(static_cast<int32_t>(d));
    }
    return Constant(writer, name, Tensor::Vector<int32_t>(std::move(dims)));
  }
  Refs Variables(FunctionWriter& writer) const {
    Refs made;
    for (const DType type : variables_) made.push_back(writer.AddArgument(type));
    return made;
  }
  void Add(FunctionWriter&& writer) { functions_.push_back(std::move(writer).Finish()); }

  absl::Status Condition() {
    FunctionWriter writer(name_ + "/cond", nodes_left_);
    const Refs v = Variables(writer);
    TENON_ASSIGN_OR_RETURN(
        const Ref more, Node1(writer, "more", "Less", {v[0], v[1]}, {{"T", kIndex}}, DType::kBool));
    writer.AddResult(more);
    Add(std::move(writer));
    return absl::OkStatus();
  }

  absl::Status Body() {
    FunctionWriter writer(name_ + "/body", nodes_left_);
    Refs v = Variables(writer);
    const size_t captured = 2 + arguments_.size(), lists = captured + captured_.size();
    TENON_ASSIGN_OR_RETURN(const Ref any, ShapeConstant(writer, "any", Shape::Unknown()));
    Refs given;
    for (size_t i = 0; i < arguments_.size(); ++i) {
      TENON_ASSIGN_OR_RETURN(const Ref row,
                             Node1(writer, "row", "TensorListGetItem", {v[2 + i], v[0], any},
                                   {{"element_dtype", arguments_[i]}}, arguments_[i]));
      given.push_back(row);
    }
    given.insert(given.end(), v.begin() + static_cast<ptrdiff_t>(captured),
                 v.begin() + static_cast<ptrdiff_t>(lists));
    Types taken = arguments_;
    taken.insert(taken.end(), captured_.begin(), captured_.end());
    TENON_ASSIGN_OR_RETURN(
        const Refs results,
        writer.AddNode("call", "StatefulPartitionedCall", given,
                       {{"f", function_}, {"Tin", std::move(taken)}, {"Tout", outputs_}},
                       outputs_));
    for (size_t i = 0; i < outputs_.size(); ++i) {
      Ref& list = v[lists + i];
      TENON_ASSIGN_OR_RETURN(list,
                             Node1(writer, "list", "TensorListSetItem", {list, v[0], results[i]},
                                   {{"element_dtype", outputs_[i]}}, DType::kVariant));
    }
    TENON_ASSIGN_OR_RETURN(const Ref one, Constant(writer, "one", Tensor::Scalar<int32_t>(1)));
    TENON_ASSIGN_OR_RETURN(v[0],
                           Node1(writer, "next", "AddV2", {v[0], one}, {{"T", kIndex}}, kIndex));
    for (const Ref& variable : v) writer.AddResult(variable);
    Add(std::move(writer));
    return absl::OkStatus();
  }

  absl::Status Whole() {
    FunctionWriter writer(name_, nodes_left_);
    TENON_ASSIGN_OR_RETURN(const Ref any, ShapeConstant(writer, "any", Shape::Unknown()));
    TENON_ASSIGN_OR_RETURN(const Ref zero, Constant(writer, "zero", Tensor::Scalar<int32_t>(0)));
    Ref rows;
    Refs variables = {zero, zero};
    for (const DType type : arguments_) {
      const Ref argument = writer.AddArgument(type);
      TENON_ASSIGN_OR_RETURN(
          const Ref list,
          Node1(writer, "rows", "TensorListFromTensor", {argument, any},
                {{"element_dtype", type}, {"shape_type", any.dtype}}, DType::kVariant));
      TENON_ASSIGN_OR_RETURN(const Ref length,
                             Node1(writer, "count", "TensorListLength", {list}, {}, kIndex));
      variables.push_back(list);
      if (!rows.valid()) {
        rows = length;
        continue;
      }
      TENON_ASSIGN_OR_RETURN(const Ref same, Node1(writer, "same", "Equal", {rows, length},
                                                   {{"T", kIndex}}, DType::kBool));
      TENON_RETURN_IF_ERROR(
          writer.AddNode("check", "Assert", {same, length}, {{"T", Types{kIndex}}}, {}).status());
    }
    variables[1] = rows;
    for (const DType type : captured_) variables.push_back(writer.AddArgument(type));
    Refs shapes;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      TENON_ASSIGN_OR_RETURN(const Ref shape, ShapeConstant(writer, "shape", shapes_[i]));
      shapes.push_back(shape);
      TENON_ASSIGN_OR_RETURN(
          const Ref list,
          Node1(writer, "reserve", "TensorListReserve", {shape, rows},
                {{"element_dtype", outputs_[i]}, {"shape_type", shape.dtype}}, DType::kVariant));
      variables.push_back(list);
    }
    FuncRef condition, body;
    condition.name = name_ + "/cond";
    body.name = name_ + "/body";
    TENON_ASSIGN_OR_RETURN(
        const Refs results,
        writer.AddNode("loop", "While", variables,
                       {{"T", variables_}, {"cond", condition}, {"body", body}}, variables_));
    for (size_t i = 0; i < outputs_.size(); ++i) {
      TENON_ASSIGN_OR_RETURN(
          const Ref stacked,
          Node1(writer, "stack", "TensorListStack",
                {results[results.size() - outputs_.size() + i], shapes[i]},
                {{"element_dtype", outputs_[i]}, {"num_elements", int64_t{-1}}}, outputs_[i]));
      writer.AddResult(stacked);
    }
    Add(std::move(writer));
    return absl::OkStatus();
  }

  const FuncRef function_;
  const Types arguments_, captured_, outputs_;
  const std::vector<Shape> shapes_;
  const std::string name_;
  Types variables_;
  size_t nodes_left_ = 10000;
  std::vector<std::unique_ptr<tf::FunctionDef>> functions_;
};

}  // namespace

absl::StatusOr<std::vector<std::unique_ptr<tf::FunctionDef>>> LowerMapDefun(
    const Node& node, const std::string& name) {
  const auto types = [&](const char* attr) {
    const auto* stated = node.attr<Types>(attr);
    return stated == nullptr ? Types() : *stated;
  };
  const Types arguments = types("Targuments"), outputs = types("output_types");
  const auto* function = node.attr<FuncRef>("f");
  const auto* shapes = node.attr<std::vector<Shape>>("output_shapes");
  if (function == nullptr || shapes == nullptr) {
    return InvalidArgument("attribute 'f' or 'output_shapes' is missing");
  }
  if (arguments.empty() || outputs.empty()) return InvalidArgument("no arguments or no outputs");
  if (shapes->size() != outputs.size()) {
    return InvalidArgument(outputs.size(), " outputs of ", shapes->size(), " shapes");
  }
  return MapWriter(*function, arguments, types("Tcaptured"), outputs, *shapes, name).Write();
}

}  // namespace tenon
