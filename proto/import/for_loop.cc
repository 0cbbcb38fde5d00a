#include "proto/import/for_loop.h"

#include <utility>

#include "env/status.h"
#include "graph/attr_reader.h"
#include "proto/messages/tenon_graph.pb.h"
#include "proto/stablehlo/function_writer.h"

namespace tenon {
namespace {

using stablehlo::FunctionWriter;
using stablehlo::Ref;

constexpr size_t kCounters = 3;  // the counter, the steps that are left, and the step
constexpr DType kInt = DType::kInt32;

FuncRef Called(std::string name) {
  FuncRef function;
  function.name = std::move(name);
  return function;
}

class ForWriter {
 public:
  ForWriter(FuncRef body, std::vector<DType> types, std::string name)
      : body_(std::move(body)), types_(std::move(types)), name_(std::move(name)) {}

  absl::StatusOr<std::vector<std::unique_ptr<tf::FunctionDef>>> Write() {
    TENON_RETURN_IF_ERROR(Condition());
    TENON_RETURN_IF_ERROR(Body());
    TENON_RETURN_IF_ERROR(Loop());
    return std::move(functions_);
  }

 private:
  std::string ConditionName() const { return name_ + "/cond"; }
  std::string BodyName() const { return name_ + "/body"; }

  // Counters and variables.
  std::vector<DType> AllTypes() const {
    std::vector<DType> all(kCounters, kInt);
    all.insert(all.end(), types_.begin(), types_.end());
    return all;
  }
  std::vector<Ref> Arguments(FunctionWriter& writer) const {
    std::vector<Ref> arguments;
    for (const DType type : AllTypes()) arguments.push_back(writer.AddArgument(type));
    return arguments;
  }
  static absl::StatusOr<Ref> One(FunctionWriter& writer, const char* name, const char* op,
                                 const std::vector<Ref>& inputs, const AttrMap& attrs,
                                 DType type = kInt) {
    TENON_ASSIGN_OR_RETURN(const std::vector<Ref> made,
                           writer.AddNode(name, op, inputs, attrs, {type}));
    return made[0];
  }
  static absl::StatusOr<Ref> Number(FunctionWriter& writer, const char* name, int32_t value) {
    return One(writer, name, "Const", {},
               {{"dtype", kInt}, {"value", Tensor::Scalar<int32_t>(value)}});
  }
  void Add(FunctionWriter&& writer) { functions_.push_back(std::move(writer).Finish()); }

  absl::Status Condition() {
    FunctionWriter writer(ConditionName(), nodes_left_);
    const std::vector<Ref> arguments = Arguments(writer);
    TENON_ASSIGN_OR_RETURN(const Ref zero, Number(writer, "zero", 0));
    TENON_ASSIGN_OR_RETURN(const Ref more, One(writer, "more", "Greater", {arguments[1], zero},
                                               {{"T", kInt}}, DType::kBool));
    writer.AddResult(more);
    Add(std::move(writer));
    return absl::OkStatus();
  }

  absl::Status Body() {
    FunctionWriter writer(BodyName(), nodes_left_);
    const std::vector<Ref> arguments = Arguments(writer);
    std::vector<Ref> given = {arguments[0]};
    given.insert(given.end(), arguments.begin() + kCounters, arguments.end());
    std::vector<DType> taken = {kInt};
    taken.insert(taken.end(), types_.begin(), types_.end());
    TENON_ASSIGN_OR_RETURN(
        const std::vector<Ref> variables,
        writer.AddNode("call", "StatefulPartitionedCall", given,
                       {{"f", body_}, {"Tin", std::move(taken)}, {"Tout", types_}}, types_));
    TENON_ASSIGN_OR_RETURN(const Ref one, Number(writer, "one", 1));
    TENON_ASSIGN_OR_RETURN(const Ref counter, One(writer, "counter", "AddV2",
                                                  {arguments[0], arguments[2]}, {{"T", kInt}}));
    TENON_ASSIGN_OR_RETURN(const Ref left,
                           One(writer, "left", "Sub", {arguments[1], one}, {{"T", kInt}}));
    writer.AddResult(counter);
    writer.AddResult(left);
    writer.AddResult(arguments[2]);
    for (const Ref& variable : variables) writer.AddResult(variable);
    Add(std::move(writer));
    return absl::OkStatus();
  }

  // The number of steps is the length of a Range, which refuses what For does; but it also refuses
  // a step of 0 where there is nothing to do.
  absl::Status Loop() {
    FunctionWriter writer(name_, nodes_left_);
    std::vector<Ref> arguments = Arguments(writer);
    const Ref start = arguments[0], limit = arguments[1], delta = arguments[2];
    TENON_ASSIGN_OR_RETURN(const Ref one, Number(writer, "one", 1));
    TENON_ASSIGN_OR_RETURN(const Ref empty, One(writer, "empty", "Equal", {start, limit},
                                                {{"T", kInt}}, DType::kBool));
    TENON_ASSIGN_OR_RETURN(const Ref step,
                           One(writer, "step", "SelectV2", {empty, one, delta}, {{"T", kInt}}));
    TENON_ASSIGN_OR_RETURN(const Ref range,
                           One(writer, "range", "Range", {start, limit, step}, {{"Tidx", kInt}}));
    TENON_ASSIGN_OR_RETURN(
        arguments[1], One(writer, "steps", "Size", {range}, {{"T", kInt}, {"out_type", kInt}}));
    TENON_ASSIGN_OR_RETURN(
        const std::vector<Ref> results,
        writer.AddNode(
            "loop", "While", arguments,
            {{"T", AllTypes()}, {"cond", Called(ConditionName())}, {"body", Called(BodyName())}},
            AllTypes()));
    for (size_t i = kCounters; i < results.size(); ++i) writer.AddResult(results[i]);
    Add(std::move(writer));
    return absl::OkStatus();
  }

  const FuncRef body_;
  const std::vector<DType> types_;
  const std::string name_;
  size_t nodes_left_ = 1000;
  std::vector<std::unique_ptr<tf::FunctionDef>> functions_;
};

}  // namespace

absl::StatusOr<std::vector<std::unique_ptr<tf::FunctionDef>>> LowerFor(const Node& node,
                                                                       const std::string& name) {
  const auto* body = node.attr<FuncRef>("body");
  const auto* types = node.attr<std::vector<DType>>("T");
  if (body == nullptr || types == nullptr) {
    return InvalidArgument("attribute 'body' or 'T' is missing");
  }
  return ForWriter(*body, *types, name).Write();
}

}  // namespace tenon
