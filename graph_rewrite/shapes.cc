#include "graph_rewrite/shapes.h"

#include "ops/evaluate.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr int64_t kSmallValue = 64;  // elements of an integer tensor that is worth carrying

const TensorSpec& UnknownSpec() {
  static const TensorSpec* const spec = new TensorSpec;
  return *spec;
}
const Shape& UnknownShapeRef() {
  static const Shape* const shape = new Shape(Shape::Unknown());
  return *shape;
}

const Tensor* ConstValue(const Node& n) {
  return n.op == "Const" ? n.attr<Tensor>("value") : nullptr;
}

// Calls visit(id) on every node that `id` reads, and on `id`, inputs first, skipping those for
// which done(id) holds. Without recursion: graphs can be deep.
template <typename Done, typename Visit>
void PostOrder(const Graph& graph, NodeId id, Done done, Visit visit) {
  std::vector<std::pair<NodeId, bool>> stack = {{id, false}};
  while (!stack.empty()) {
    const auto [n, expanded] = stack.back();
    stack.pop_back();
    if (done(n)) continue;
    if (expanded) {
      visit(n);
      continue;
    }
    stack.emplace_back(n, true);
    for (const Endpoint& e : graph.node(n).inputs) {
      if (!done(e.node)) stack.emplace_back(e.node, false);
    }
    if (stack.size() > 1000000) return;  // a cycle: the verifier's business
  }
}

// A number for dimension `dim` of `e` in set `set`: the same whenever asked, different (nearly
// always) for different dimensions, odd and even.
int64_t NumberFor(int set, NodeId node, int port, int dim) {
  uint64_t h = (static_cast<uint64_t>(node) << 20) ^ (static_cast<uint64_t>(port) << 12) ^
               (static_cast<uint64_t>(dim) << 4) ^ static_cast<uint64_t>(set);
  h *= 0x9e3779b97f4a7c15u;
  h ^= h >> 29;
  h *= 0xbf58476d1ce4e5b9u;
  h ^= h >> 32;
  return 200 + static_cast<int64_t>(h % 1801);
}

}  // namespace

const TensorSpec& ShapeInfo::Spec(Endpoint e) {
  if (!rw_.Has(e.node)) return UnknownSpec();
  if (known_.size() < static_cast<size_t>(rw_.graph().end_id())) {
    known_.resize(static_cast<size_t>(rw_.graph().end_id()));
  }
  Known& k = known_[static_cast<size_t>(e.node)];
  if (!Fresh(k, e.node)) {
    PostOrder(
        rw_.graph(), e.node,
        [&](NodeId n) { return !rw_.Has(n) || Fresh(known_[static_cast<size_t>(n)], n); },
        [&](NodeId n) { Compute(n); });
  }
  return static_cast<size_t>(e.port) < k.outputs.size() ? k.outputs[static_cast<size_t>(e.port)]
                                                        : UnknownSpec();
}

void ShapeInfo::Compute(NodeId id) {
  const Node& n = rw_.node(id);
  Known& k = known_[static_cast<size_t>(id)];
  k.version = rw_.version(id);
  k.outputs.clear();
  if (const Tensor* value = ConstValue(n)) {
    k.outputs.push_back({value->dtype(), value->shape(), nullptr});
    return;
  }
  const OpLookup op = FindOp(n.op);
  if (!op) return;
  std::vector<TensorSpec> inputs;
  for (const Endpoint& e : n.inputs) {
    TensorSpec spec = rw_.Has(e.node) && static_cast<size_t>(e.port) <
                                             known_[static_cast<size_t>(e.node)].outputs.size()
                          ? known_[static_cast<size_t>(e.node)].outputs[static_cast<size_t>(e.port)]
                          : UnknownSpec();
    if (rw_.Has(e.node)) spec.value = ConstValue(rw_.node(e.node));
    inputs.push_back(std::move(spec));
  }
  auto outputs = InferOutputs(*op.info, n, inputs);
  if (outputs.ok()) {
    k.outputs = *std::move(outputs);
  } else if (auto dtypes = OutputDTypes(*op.info, n); dtypes.ok()) {
    for (DType d : *dtypes) k.outputs.push_back({d, Shape::Unknown(), nullptr});
  }
}

const Shape& ShapeInfo::ProbedShape(int set, Endpoint e) {
  auto& probed = probed_[static_cast<size_t>(set)];
  if (probed.size() < static_cast<size_t>(rw_.graph().end_id())) {
    probed.resize(static_cast<size_t>(rw_.graph().end_id()));
  }
  PostOrder(
      rw_.graph(), e.node,
      [&](NodeId n) {
        return !rw_.Has(n) || probed[static_cast<size_t>(n)].version == rw_.version(n);
      },
      [&](NodeId n) { ProbeOne(set, n); });
  const Probed& p = probed[static_cast<size_t>(e.node)];
  return static_cast<size_t>(e.port) < p.shapes.size() ? p.shapes[static_cast<size_t>(e.port)]
                                                       : UnknownShapeRef();
}

void ShapeInfo::ProbeOne(int set, NodeId id) {
  auto& probed = probed_[static_cast<size_t>(set)];
  const Node& n = rw_.node(id);
  Probed& p = probed[static_cast<size_t>(id)];
  p = Probed();
  p.version = rw_.version(id);
  if (const Tensor* value = ConstValue(n)) {
    p.shapes.push_back(value->shape());
    if (IsInteger(value->dtype()) && value->num_elements() <= kSmallValue) {
      p.values.push_back(*value);
    }
    return;
  }
  const OpLookup op = FindOp(n.op);
  if (!op) return;

  std::vector<TensorSpec> inputs;
  std::vector<Tensor> values;
  bool all_known = !n.inputs.empty();
  for (const Endpoint& e : n.inputs) {
    const Probed& in = probed[static_cast<size_t>(e.node)];
    const size_t port = static_cast<size_t>(e.port);
    TensorSpec spec;
    spec.dtype = dtype(e);
    if (port < in.shapes.size()) spec.shape = in.shapes[port];
    if (port < in.values.size() && in.values[port].valid()) {
      spec.value = &in.values[port];
      values.push_back(in.values[port]);
    } else {
      spec.value = ConstValue(rw_.node(e.node));
      all_known = false;
    }
    inputs.push_back(std::move(spec));
  }
  auto outputs = InferOutputs(*op.info, n, inputs);
  if (outputs.ok()) {
    for (TensorSpec& o : *outputs) p.shapes.push_back(std::move(o.shape));
  } else {
    Spec({id, 0});
    for (const TensorSpec& o : known_[static_cast<size_t>(id)].outputs) p.shapes.push_back(o.shape);
  }
  for (size_t port = 0; port < p.shapes.size(); ++port) {
    Shape& s = p.shapes[port];
    for (int d = 0; s.has_rank() && d < s.rank(); ++d) {
      if (s.dim(d) < 0) s.set_dim(d, NumberFor(set, id, static_cast<int>(port), d));
    }
  }

  // Arithmetic on shapes.
  if (p.shapes.size() != 1 || !p.shapes[0].IsComplete() ||
      p.shapes[0].num_elements() > kSmallValue || !IsInteger(dtype({id, 0}))) {
    return;
  }
  if (n.op == "Shape" && inputs[0].shape.IsComplete()) {
    const Shape& s = inputs[0].shape;
    if (dtype({id, 0}) == DType::kInt64) {
      p.values.push_back(
          Tensor::Vector<int64_t>(std::vector<int64_t>(s.dims().begin(), s.dims().end())));
    } else {
      p.values.push_back(
          Tensor::Vector<int32_t>(std::vector<int32_t>(s.dims().begin(), s.dims().end())));
    }
  } else if (all_known && !op.info->row.stateful && op.info->row.reference != nullptr) {
    auto out = Evaluate(n, values, services_);
    if (out.ok()) p.values = *std::move(out);
  }
}

bool ShapeInfo::SameShape(Endpoint a, Endpoint b) {
  if (a == b) return true;
  const Shape& sa = shape(a);
  const Shape& sb = shape(b);
  if (sa.IsComplete() && sb.IsComplete()) return sa == sb;
  if (!sa.CompatibleWith(sb)) return false;
  for (int set = 0; set < kProbes; ++set) {
    const Shape pa = ProbedShape(set, a);
    const Shape pb = ProbedShape(set, b);
    if (!pa.IsComplete() || pa != pb) return false;
  }
  return true;
}

bool ShapeInfo::SameShapeButLast(Endpoint a, Endpoint b, int64_t last) {
  for (int set = 0; set < kProbes; ++set) {
    const Shape pa = ProbedShape(set, a);
    Shape pb = ProbedShape(set, b);
    if (!pa.IsComplete() || !pb.IsComplete() || pb.rank() == 0) return false;
    pb.set_dim(pb.rank() - 1, last);
    if (pa != pb) return false;
  }
  return true;
}

}  // namespace tenon
