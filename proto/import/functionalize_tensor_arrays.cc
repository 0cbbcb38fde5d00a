// Turns TensorArrayV3 and its ops into tensor lists. The order of reads and writes of a tensor
// array is given by its flow, a float that every op passes on; the list replaces the flow. Arrays
// whose gradients are asked for stay as they are, because these belong to their handles.
#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "env/containers.h"
#include "env/status.h"
#include "proto/import/expand.h"
#include "proto/import/functionalize.h"

namespace tenon {
namespace {

class TensorArrayFunctionalization {
 public:
  explicit TensorArrayFunctionalization(Draft& draft) : draft_(draft) {}

  absl::Status Run() {
    FindReaders();
    for (NodeId id = 0; id < draft_.end_id(); ++id) FollowHandle(id);
    const NodeId end = draft_.end_id();
    for (NodeId id = 0; id < end; ++id) {
      const std::string op = draft_.node(id).op;
      if (!absl::StartsWith(op, "TensorArray") || !IsPlain(id)) continue;
      TENON_RETURN_IF_ERROR(Annotate(ReplaceOp(id, op), NodeLabel(draft_.node(id))));
    }
    FindReaders();
    MarkPassing(std::move(lists_), DType::kVariant);
    draft_.Forward(forward_);
    return absl::OkStatus();
  }

 private:
  void FindReaders() {
    readers_.clear();
    for (NodeId id = 0; id < draft_.end_id(); ++id) {
      for (const Endpoint& e : draft_.node(id).inputs) readers_[e].push_back(id);
    }
  }

  // Whether the node passes its first input on, or one of several.
  static bool Passes(const Node& n) {
    // op names: TensorFlow 1's dataflow, which only import meets.
    return n.op == "Enter" || n.op == "Exit" || n.op == "NextIteration" || n.op == "Merge" ||
           n.op == "Switch" || n.op == "Identity";
  }

  // Where the handle of a new array or stack goes.
  void FollowHandle(NodeId maker) {
    const std::string& op = draft_.node(maker).op;
    const bool stack = op == "StackV2", array = op == "TensorArrayV3";
    if (!stack && !array && op != "TensorArrayGradV3") return;
    const HashSet<Endpoint> passed = MarkPassing({{maker, 0}}, DType::kResource);
    // Nobody but ops of arrays reads it, and no gradient; and it has a flow, which only they read.
    bool alone = array && draft_.node(maker).attrs.erase(kWithoutFlow) == 0 && FlowIsOurs(maker);
    bool popped = false;
    std::vector<NodeId> pushes;
    for (const Endpoint& e : passed) {
      for (const NodeId reader : readers_[e]) {
        const Node& n = draft_.node(reader);
        if (Passes(n)) continue;
        alone &=
            absl::StartsWith(n.op, "TensorArray") && !absl::StartsWith(n.op, "TensorArrayGrad");
        if (n.op == "StackPushV2") {
          pushes.push_back(reader);
        } else {
          popped = true;
        }
      }
      for (const GraphOutput& output : draft_.outputs) {
        alone &= output.source != e;
        popped |= output.source == e;
      }
    }
    if (array && alone) plain_.insert(passed.begin(), passed.end());
    if (!stack || popped) return;
    for (const NodeId push : pushes) {  // for a gradient that nobody asks for
      Node& n = draft_.node(push);
      n.op = "Identity";
      n.inputs = {n.inputs[1]};
      n.attrs.erase("swap_memory");
    }
  }

  // Whether nobody but ops of arrays reads the flow of a new array.
  bool FlowIsOurs(NodeId maker) {
    HashSet<Endpoint> seen;
    std::vector<Endpoint> from = {{maker, 1}};
    while (!from.empty()) {
      const Endpoint e = from.back();
      from.pop_back();
      if (!seen.insert(e).second) continue;
      for (const NodeId id : readers_[e]) {
        const Node& n = draft_.node(id);
        if (Passes(n)) {
          if (n.op == "Switch" && n.inputs[0] != e) return false;
          from.push_back({id, 0});
          if (n.op == "Switch") from.push_back({id, 1});
        } else if (!absl::StartsWith(n.op, "TensorArray") || n.inputs.back() != e) {
          return false;
        } else if (n.inputs.size() == 4) {  // it changes the array and gives the flow
          from.push_back({id, 0});
        }
      }
    }
    return std::none_of(draft_.outputs.begin(), draft_.outputs.end(),
                        [&](const GraphOutput& output) { return seen.contains(output.source); });
  }

  bool IsPlain(NodeId id) const {
    const Node& n = draft_.node(id);
    if (n.op == "TensorArrayV3") return plain_.contains({id, 0});
    return !n.inputs.empty() && plain_.contains(n.inputs[0]);
  }

  absl::Status Expect(const Node& n, size_t inputs) const {
    if (n.inputs.size() == inputs) return absl::OkStatus();
    return InvalidArgument("takes ", inputs, " inputs, but has ", n.inputs.size());
  }

  absl::StatusOr<Endpoint> ShapeConst(const std::string& name, const Shape& shape) {
    Node n;
    n.name = name + "/element_shape";
    n.op = "Const";
    Tensor value = Tensor::Scalar<int32_t>(-1);
    if (shape.has_rank()) {
      std::vector<int32_t> dims;
      for (int64_t d : shape.dims()) dims.push_back(static_cast<int32_t>(d));
      value = Tensor::Vector<int32_t>(std::move(dims));
    }
    n.attrs["dtype"] = DType::kInt32;
    n.attrs["value"] = std::move(value);
    TENON_ASSIGN_OR_RETURN(const NodeId id, draft_.Add(std::move(n), /*effect=*/false));
    return Endpoint{id, 0};
  }

  // Turns the node into `op` with these inputs.
  void Become(NodeId id, const char* op, DType dtype, std::vector<Endpoint> inputs, bool shaped) {
    Node& n = draft_.node(id);
    n.op = op;
    n.inputs.assign(inputs.begin(), inputs.end());
    n.attrs.clear();
    if (dtype != DType::kInvalid) n.attrs["element_dtype"] = DType(dtype);
    if (shaped) n.attrs["shape_type"] = DType::kInt32;
  }

  absl::Status ReplaceOp(NodeId id, const std::string& op) {
    const Node n = draft_.node(id);
    const DType* type = n.attr<DType>("dtype");
    if (type == nullptr) type = n.attr<DType>("T");
    const DType dtype = type == nullptr ? DType::kInvalid : *type;
    const Shape* stated = n.attr<Shape>("element_shape");
    const Shape element = stated == nullptr ? Shape::Unknown() : *stated;
    const auto& in = n.inputs;
    if (op == "TensorArrayV3") {
      TENON_RETURN_IF_ERROR(Expect(n, 1));
      TENON_ASSIGN_OR_RETURN(const Endpoint shape, ShapeConst(n.name, element));
      Become(id, "TensorListReserve", dtype, {shape, in[0]}, true);
      forward_[{id, 1}] = {id, 0};
      lists_.push_back({id, 0});
      lists_.push_back({id, 1});
    } else if (op == "TensorArrayWriteV3") {
      TENON_RETURN_IF_ERROR(Expect(n, 4));
      Become(id, "TensorListSetItem", dtype, {in[3], in[1], in[2]}, false);
      draft_.node(id).attrs["resize_if_index_out_of_bounds"] = true;
      lists_.push_back({id, 0});
    } else if (op == "TensorArrayReadV3") {
      TENON_RETURN_IF_ERROR(Expect(n, 3));
      TENON_ASSIGN_OR_RETURN(const Endpoint shape, ShapeConst(n.name, Shape::Unknown()));
      Become(id, "TensorListGetItem", dtype, {in[2], in[1], shape}, false);
    } else if (op == "TensorArrayGatherV3") {
      TENON_RETURN_IF_ERROR(Expect(n, 3));
      TENON_ASSIGN_OR_RETURN(const Endpoint shape, ShapeConst(n.name, element));
      Become(id, "TensorListGather", dtype, {in[2], in[1], shape}, false);
    } else if (op == "TensorArrayScatterV3") {
      TENON_RETURN_IF_ERROR(Expect(n, 4));
      Become(id, "TensorListScatterIntoExistingList", dtype, {in[3], in[2], in[1]}, false);
      lists_.push_back({id, 0});
    } else if (op == "TensorArrayConcatV3") {
      TENON_RETURN_IF_ERROR(Expect(n, 2));
      Become(id, "TensorListConcat", dtype, {in[1]}, false);
      const Shape* rest = n.attr<Shape>("element_shape_except0");
      if (rest != nullptr && rest->has_rank()) {
        Shape rows({-1});
        for (const int64_t d : rest->dims()) rows.push_back(d);
        draft_.node(id).attrs["element_shape"] = std::move(rows);
      }
    } else if (op == "TensorArraySplitV3") {
      TENON_RETURN_IF_ERROR(Expect(n, 4));
      TENON_ASSIGN_OR_RETURN(const Endpoint shape, ShapeConst(n.name, Shape::Unknown()));
      Become(id, "TensorListSplit", dtype, {in[1], shape, in[2]}, true);
      lists_.push_back({id, 0});
    } else if (op == "TensorArraySizeV3") {
      TENON_RETURN_IF_ERROR(Expect(n, 2));
      Become(id, "TensorListLength", DType::kInvalid, {in[1]}, false);
    } else if (op == "TensorArrayCloseV3") {
      Become(id, "NoOp", DType::kInvalid, {}, false);
    }
    return absl::OkStatus();
  }

  // Ops that pass these on get their dtype. Returns all endpoints that have them.
  HashSet<Endpoint> MarkPassing(std::vector<Endpoint> from, DType dtype) {
    HashSet<Endpoint> passed;
    while (!from.empty()) {
      const Endpoint e = from.back();
      from.pop_back();
      if (!passed.insert(e).second) continue;
      for (const NodeId id : readers_[e]) {
        Node& n = draft_.node(id);
        if (!Passes(n) || (n.op == "Switch" && n.inputs[0] != e)) continue;
        n.attrs["T"] = DType(dtype);
        from.push_back({id, 0});
        if (n.op == "Switch") from.push_back({id, 1});
      }
    }
    return passed;
  }

  Draft& draft_;
  HashMap<Endpoint, std::vector<NodeId>> readers_;
  HashSet<Endpoint> plain_;  // handles of arrays that become lists
  std::vector<Endpoint> lists_;
  HashMap<Endpoint, Endpoint> forward_;
};

}  // namespace

absl::Status FunctionalizeTensorArrays(Draft& draft) {
  return TensorArrayFunctionalization(draft).Run();
}

}  // namespace tenon
