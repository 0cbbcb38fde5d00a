// The shapes of scores that are no longer computed.
#include "graph_rewrite/attention.h"
#include "graph_rewrite/dims.h"

namespace tenon {
namespace {

// Adds integer scalars of one dtype, named after a Shape node.
class Sizes {
 public:
  Sizes(RuleContext& context, std::string name, DType type)
      : context_(context), name_(std::move(name)), type_(type) {}

  // The size of the dimension with label `c`, to which those of these operands broadcast.
  Endpoint Of(const AttentionForm& f, const std::vector<size_t>& operands, char c) {
    Endpoint size;
    Dimension known;
    const bool repeats = f.repeated.find(c) != std::string::npos;
    for (size_t i : operands) {
      // Of heads that k and v share, q tells how many they would be.
      const LabeledInput& x = f.operands[repeats ? 0 : i];
      const size_t axis = x.labels.find(c);
      if (axis == std::string::npos) continue;
      const Dimension here = DimensionOf(context_, x.e, static_cast<int>(axis));
      if (size.node != kNoNode && here == known) continue;
      const Endpoint one =
          here.value >= 0 ? Number(here.value) : SizeOf(x.e, static_cast<int>(axis));
      size = size.node == kNoNode ? one : Broadcast(size, one);
      known = here;
    }
    return size;
  }

  // op names: an op on two numbers
  Endpoint Binary(const char* op, Endpoint a, Endpoint b) {
    Node n;
    n.op = op;
    n.inputs = {a, b};
    return Add(std::move(n));
  }

 private:
  Endpoint Add(Node n) {
    n.name = name_ + "/size";
    n.attrs["T"] = type_;
    return {*context_.AddNode(std::move(n)), 0};
  }

  Endpoint Number(int64_t value) {
    Tensor t = type_ == DType::kInt64 ? Tensor::Scalar<int64_t>(value)
                                      : Tensor::Scalar<int32_t>(static_cast<int32_t>(value));
    return {context_.AddConst(name_ + "/number", std::move(t)), 0};
  }

  Endpoint SizeOf(Endpoint e, int axis) {
    Node shape;
    shape.name = name_ + "/shape";
    shape.op = "Shape";
    shape.inputs = {e};
    shape.attrs["T"] = context_.shapes.dtype(e);
    shape.attrs["out_type"] = type_;
    const auto bound = [&](int32_t v) -> Endpoint {
      return {context_.AddConst(name_ + "/axis", Tensor::Vector<int32_t>({v})), 0};
    };
    Node size;
    size.op = "StridedSlice";
    size.inputs = {
        {*context_.AddNode(std::move(shape)), 0}, bound(axis), bound(axis + 1), bound(1)};
    size.attrs["Index"] = DType::kInt32;
    size.attrs["shrink_axis_mask"] = int64_t{1};
    return Add(std::move(size));
  }

  // b if a is 1, otherwise a.
  Endpoint Broadcast(Endpoint a, Endpoint b) {
    Node select;
    select.op = "SelectV2";
    select.inputs = {Binary("Equal", a, Number(1)), b, a};
    return Add(std::move(select));
  }

  RuleContext& context_;
  const std::string name_;
  const DType type_;
};

}  // namespace

void ReplaceShapes(RuleContext& context, const AttentionForm& f) {
  for (const LabeledShape& shape : f.shapes) {
    const DType* out_type = context.node(shape.node).attr<DType>("out_type");
    const DType type = out_type == nullptr ? DType::kInt32 : *out_type;
    const std::string name = context.node(shape.node).name;
    Sizes sizes(context, name, type);
    Node pack;
    pack.name = name;
    pack.op = "Pack";
    for (size_t i = 0; i < shape.labels.size(); ++i) {
      Endpoint size = sizes.Of(f, shape.of, shape.labels[i]);
      if (shape.labels[i] == shape.joined) {
        size = sizes.Binary("Mul", size, sizes.Of(f, shape.of, shape.labels[++i]));
      }
      pack.inputs.push_back(size);
    }
    pack.attrs["T"] = type;
    pack.attrs["N"] = static_cast<int64_t>(pack.inputs.size());
    pack.attrs["axis"] = int64_t{0};
    context.rw.ReplaceNode(shape.node, {*context.AddNode(std::move(pack)), 0});
  }
}

}  // namespace tenon
