#include "graph_rewrite/shapes.h"

#include "graph/constants.h"
#include "graph_rewrite/call_shapes.h"
#include "ops/evaluate.h"
#include "ops/op.h"

namespace tenon {
namespace {

// The most elements of an integer tensor that is worth tracking.
constexpr int64_t kSmallValue = 64;

// Whether a tensor's values may decide a shape: integers, or one number, such as the length of a
// Range of floats.
bool IsTracked(DType dtype, int64_t num_elements) {
  return IsInteger(dtype) ? num_elements <= kSmallValue : IsFloating(dtype) && num_elements == 1;
}

const TensorSpec& UnknownSpec() {
  static const TensorSpec* const spec = new TensorSpec;
  return *spec;
}

// Calls visit(id) on every node that `id` depends on, and on `id`, inputs first, skipping nodes for
// which done(id) holds. Not recursive, because graphs can be deep.
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
    if (stack.size() > 1000000) return;  // a cycle: the verifier reports it
  }
}

// A pseudo-random but fixed number from 200 to 2000, odd or even.
int64_t Number(uint64_t seed) {
  uint64_t h = (seed + 1) * 0x9e3779b97f4a7c15u;
  h ^= h >> 29;
  h *= 0xbf58476d1ce4e5b9u;
  h ^= h >> 32;
  return 200 + static_cast<int64_t>(h % 1801);
}

// Different ones for the first axes.
int64_t SmallNumber(int axis) {
  constexpr int64_t kPrimes[] = {3, 5, 2, 7, 11, 13};
  return kPrimes[static_cast<size_t>(axis) % std::size(kPrimes)];
}

constexpr int64_t kLargeNumber = 30011;
constexpr int kLargeAxes = 4;
constexpr size_t kMaxSets = 400;

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

void ShapeInfo::Forget(NodeId id) {
  const auto at = static_cast<size_t>(id);
  if (at < known_.size()) known_[at] = Known();
  for (Set& set : sets_) {
    if (at < set.nodes.size()) set.nodes[at] = Probed();
  }
}

// Sets dimensions of a node's result that are known of the shape that it is given: one of a tensor,
// or one stacked from scalars, of which some are constant, as in [batch, tokens, 8, 64].
void ShapeInfo::SetGivenDims(const Node& n, Shape& out) {
  // op names: ops whose input is the shape of their result
  const size_t slot = n.op == "Reshape" || n.op == "BroadcastTo" ? 1 : 0;
  if (slot == 0 && n.op != "Fill") return;
  if (!out.has_rank() || !rw_.Has(n.inputs[slot].node)) return;
  const Node& given = rw_.node(n.inputs[slot].node);
  Shape tensor = Shape::Unknown();
  if (given.op == "Shape" && rw_.Has(given.inputs[0].node)) {
    const Endpoint of = given.inputs[0];
    const std::vector<TensorSpec>& outputs = known_[static_cast<size_t>(of.node)].outputs;
    if (static_cast<size_t>(of.port) < outputs.size()) {
      tensor = outputs[static_cast<size_t>(of.port)].shape;
    }
  }
  const bool stacked = given.op == "Pack" && static_cast<int>(given.inputs.size()) == out.rank();
  for (int i = 0; i < out.rank(); ++i) {
    if (out.dim(i) >= 0) continue;
    if (tensor.has_rank() && tensor.rank() == out.rank()) out.set_dim(i, tensor.dim(i));
    if (!stacked) continue;
    const NodeId size = given.inputs[static_cast<size_t>(i)].node;
    const Tensor* value = rw_.Has(size) ? ConstantOf(rw_.node(size)) : nullptr;
    if (value == nullptr || value->num_elements() != 1) continue;
    const auto number = IntegerValues(*value);
    if (number.ok() && (*number)[0] >= 0) out.set_dim(i, (*number)[0]);
  }
}

void ShapeInfo::Compute(NodeId id) {
  const Node& n = rw_.node(id);
  Known& k = known_[static_cast<size_t>(id)];
  k.version = rw_.version(id);
  k.refused = false;
  k.outputs.clear();
  if (const Tensor* value = ConstantOf(n)) {
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
    if (rw_.Has(e.node)) spec.value = ConstantOf(rw_.node(e.node));
    inputs.push_back(std::move(spec));
  }
  if (op.info->row.control_flow != ControlFlow::kNone) {
    k.outputs = InferCall(functions(), *op.info, n, inputs, call_budget_);
    return;
  }
  auto outputs = InferOutputs(*op.info, n, inputs);
  k.refused = !outputs.ok();
  if (outputs.ok()) {
    k.outputs = *std::move(outputs);
    if (k.outputs.size() == 1) SetGivenDims(n, k.outputs[0].shape);
  } else if (auto dtypes = OutputDTypes(*op.info, n); dtypes.ok()) {
    for (DType d : *dtypes) k.outputs.push_back({d, Shape::Unknown(), nullptr});
  }
}

void ShapeInfo::MakeSets() {
  sets_.push_back({{.kind = Assignment::kByAxis, .fresh_on_error = true}, {}});
  sets_.push_back({{.kind = Assignment::kByAxis, .fresh_on_error = true}, {}});
  sets_.push_back({{.kind = Assignment::kAllDifferent}, {}});
  sets_.push_back({{.kind = Assignment::kDataIsOne}, {}});
  sets_.push_back({{.kind = Assignment::kSmall}, {}});
  sets_.push_back({{.kind = Assignment::kBatchIsZero}, {}});
  std::vector<Assignment> ones;
  probed_inputs_.clear();
  for (NodeId id : rw_.graph().NodeIds()) {
    if (rw_.node(id).op != "Placeholder") continue;
    const Shape& s = shape({id, 0});
    if (!s.IsComplete()) probed_inputs_.push_back(id);
    for (int d = 0; s.has_rank() && d < s.rank(); ++d) {
      if (s.dim(d) < 0) ones.push_back({.kind = Assignment::kOneIsOne, .input = id, .axis = d});
    }
  }
  // Where no input has the axis, it would be as with small numbers.
  for (int axis = 0; axis < kLargeAxes; ++axis) {
    if (std::any_of(ones.begin(), ones.end(),
                    [axis](const Assignment& one) { return one.axis == axis; })) {
      sets_.push_back({{.kind = Assignment::kAxisIsLarge, .axis = axis}, {}});
    }
  }
  all_have_sets_ = sets_.size() + 2 * ones.size() <= kMaxSets;
  for (const Assignment& one : ones) {
    if (sets_.size() < kMaxSets) sets_.push_back({one, {}});
    Assignment others = one;
    others.kind = Assignment::kOthersAreOne;
    if (probed_inputs_.size() > 1 && sets_.size() < kMaxSets) sets_.push_back({others, {}});
  }
}

int64_t ShapeInfo::NumberFor(int set, NodeId node, int port, int axis) const {
  const Assignment& a = sets_[static_cast<size_t>(set)].assignment;
  const uint64_t by_axis = (static_cast<uint64_t>(set == 1) << 8) + static_cast<uint64_t>(axis);
  const uint64_t by_place = (static_cast<uint64_t>(node) << 16) +
                            (static_cast<uint64_t>(port) << 12) +
                            (static_cast<uint64_t>(axis) << 4) + static_cast<uint64_t>(set == 1);
  if (rw_.node(node).op != "Placeholder") {  // depends on data
    return a.kind == Assignment::kDataIsOne ? 1 : Number(by_place);
  }
  switch (a.kind) {
    case Assignment::kAllDifferent:
      return Number(by_place);
    case Assignment::kSmall:
      return SmallNumber(axis);
    case Assignment::kBatchIsZero:
      return axis == 0 ? 0 : SmallNumber(axis);
    case Assignment::kAxisIsLarge:
      return axis == a.axis ? kLargeNumber : SmallNumber(axis);
    case Assignment::kOneIsOne:
      return a.input == node && a.axis == axis ? 1 : Number(by_axis);
    case Assignment::kOthersAreOne:
      return a.input != node && a.axis == axis ? 1 : Number(by_axis);
    default:
      return Number(by_axis);
  }
}

const Shape* ShapeInfo::ProbedShape(int set, Endpoint e, bool* impossible) {
  auto& probed = sets_[static_cast<size_t>(set)].nodes;
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
  *impossible = *impossible || p.impossible;
  if (p.impossible || static_cast<size_t>(e.port) >= p.shapes.size()) return nullptr;
  const Shape& s = p.shapes[static_cast<size_t>(e.port)];
  return s.IsComplete() ? &s : nullptr;
}

void ShapeInfo::ProbeOne(int set, NodeId id) {
  Set& the_set = sets_[static_cast<size_t>(set)];
  auto& probed = the_set.nodes;
  const Node& n = rw_.node(id);
  Probed& p = probed[static_cast<size_t>(id)];
  p = Probed();
  p.version = rw_.version(id);
  if (set == 0) FindInputs(id);
  if (const Tensor* value = ConstantOf(n)) {
    p.shapes.push_back(value->shape());
    if (IsTracked(value->dtype(), value->num_elements())) {
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
    if (in.impossible) {
      p.impossible = true;
      return;
    }
    const size_t port = static_cast<size_t>(e.port);
    TensorSpec spec;
    spec.dtype = dtype(e);
    if (port < in.shapes.size()) spec.shape = in.shapes[port];
    if (port < in.values.size() && in.values[port].valid()) {
      spec.value = &in.values[port];
      values.push_back(in.values[port]);
    } else {
      spec.value = ConstantOf(rw_.node(e.node));
      all_known = false;
    }
    inputs.push_back(std::move(spec));
  }
  const bool calls = op.info->row.control_flow != ControlFlow::kNone;
  auto outputs = InferOutputs(*op.info, n, inputs);
  // op names: with other numbers of as many elements it would not have been refused; so the refusal
  // does not tell that the graph cannot run. Of no elements, it does.
  const bool may_fit =
      n.op == "Reshape" && inputs[0].shape.IsComplete() && inputs[0].shape.num_elements() > 0;
  if (outputs.ok() && !calls) {
    for (TensorSpec& o : *outputs) p.shapes.push_back(std::move(o.shape));
  } else if (!outputs.ok() && !the_set.assignment.fresh_on_error && !may_fit) {
    p.impossible = true;
    return;
  } else {
    Spec({id, 0});
    for (const TensorSpec& o : known_[static_cast<size_t>(id)].outputs) p.shapes.push_back(o.shape);
    // op names: its result is what the shape says, whether or not the input's numbers fit
    if (n.op == "Reshape" && inputs[1].value != nullptr && p.shapes.size() == 1) {
      const auto sizes = IntegerValues(*inputs[1].value);
      if (sizes.ok() && p.shapes[0].rank() == static_cast<int>(sizes->size())) {
        for (int d = 0; d < p.shapes[0].rank(); ++d) {
          const int64_t size = (*sizes)[static_cast<size_t>(d)];
          if (size >= 0) p.shapes[0].set_dim(d, size);
        }
      }
    }
  }
  for (size_t port = 0; port < p.shapes.size(); ++port) {
    Shape& s = p.shapes[port];
    for (int d = 0; s.has_rank() && d < s.rank(); ++d) {
      if (s.dim(d) < 0) s.set_dim(d, NumberFor(set, id, static_cast<int>(port), d));
    }
  }

  // Arithmetic on shapes.
  if (p.shapes.size() != 1 || !p.shapes[0].IsComplete() ||
      !IsTracked(dtype({id, 0}), p.shapes[0].num_elements())) {
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

void ShapeInfo::FindInputs(NodeId id) {
  auto& nodes = sets_[0].nodes;
  auto& inputs = nodes[static_cast<size_t>(id)].inputs;
  inputs.assign((probed_inputs_.size() + 63) / 64, 0);
  const auto own = std::lower_bound(probed_inputs_.begin(), probed_inputs_.end(), id);
  if (own != probed_inputs_.end() && *own == id) {
    const auto at = static_cast<size_t>(own - probed_inputs_.begin());
    inputs[at / 64] |= uint64_t{1} << at % 64;
  }
  for (const Endpoint& e : rw_.node(id).inputs) {
    const auto& of_input = nodes[static_cast<size_t>(e.node)].inputs;
    for (size_t i = 0; i < std::min(inputs.size(), of_input.size()); ++i) inputs[i] |= of_input[i];
  }
}

bool ShapeInfo::DependsOn(Endpoint e, NodeId input) const {
  const auto& inputs = sets_[0].nodes[static_cast<size_t>(e.node)].inputs;
  const auto at =
      static_cast<size_t>(std::lower_bound(probed_inputs_.begin(), probed_inputs_.end(), input) -
                          probed_inputs_.begin());
  return at / 64 < inputs.size() && (inputs[at / 64] >> at % 64 & 1) != 0;
}

template <typename Holds>
bool ShapeInfo::Always(Endpoint a, Endpoint b, Holds holds, bool when_empty) {
  if (sets_.empty()) MakeSets();
  bool held = false;
  for (int set = 0; set < static_cast<int>(sets_.size()); ++set) {
    const Assignment& assignment = sets_[static_cast<size_t>(set)].assignment;
    if (assignment.kind == Assignment::kBatchIsZero && !when_empty) continue;
    const NodeId input = assignment.input;
    if (input != kNoNode && !DependsOn(a, input) && !DependsOn(b, input)) continue;
    bool impossible = false;
    const Shape* sa = ProbedShape(set, a, &impossible);
    const Shape* sb = ProbedShape(set, b, &impossible);
    if (impossible) continue;
    if (sa == nullptr || sb == nullptr || !holds(*sa, *sb)) return false;
    held = true;
  }
  return held && all_have_sets_;
}

bool ShapeInfo::SameShape(Endpoint a, Endpoint b) {
  if (a == b) return true;
  const Shape& sa = shape(a);
  const Shape& sb = shape(b);
  if (sa.IsComplete() && sb.IsComplete()) return sa == sb;
  if (!sa.CompatibleWith(sb)) return false;
  return Always(a, b, [](const Shape& x, const Shape& y) { return x == y; });
}

bool ShapeInfo::AlikeShape(Endpoint a, Endpoint b) {
  const Shape& sa = shape(a);
  if (sa.has_rank() && sa == shape(b)) return true;
  return SameShape(a, b);
}

bool ShapeInfo::SameShapeButLast(Endpoint a, Endpoint b, int64_t last) {
  return Always(a, b, [last](const Shape& x, const Shape& y) {
    if (x.rank() != y.rank() || x.rank() == 0 || x.dim(x.rank() - 1) != last) return false;
    for (int d = 0; d + 1 < x.rank(); ++d) {
      if (x.dim(d) != y.dim(d)) return false;
    }
    return true;
  });
}

bool ShapeInfo::IsMultiple(Endpoint a, Endpoint b, absl::Span<const int64_t> times) {
  return Always(a, b, [times](const Shape& x, const Shape& y) {
    if (x.rank() != y.rank() || x.rank() != static_cast<int>(times.size())) return false;
    for (int d = 0; d < x.rank(); ++d) {
      if (x.dim(d) != y.dim(d) * times[static_cast<size_t>(d)]) return false;
    }
    return true;
  });
}

bool ShapeInfo::Joins(Endpoint split, Endpoint joined, int axis) {
  const Shape &from = shape(split), &to = shape(joined);
  if (!from.has_rank() || from.rank() != to.rank() + 1 || axis >= to.rank()) return false;
  // If the other dimensions are known, the number of elements decides the joined one.
  bool decided = from.dim(axis + 1) > 0;
  for (int d = 0; d < to.rank(); ++d) {
    if (d != axis)
      decided = decided && to.dim(d) > 0 && to.dim(d) == from.dim(d < axis ? d : d + 1);
  }
  if (decided) return true;
  const auto joins = [axis](const Shape& x, const Shape& y) {
    if (x.rank() != y.rank() + 1 || axis >= y.rank()) return false;
    for (int d = 0; d < y.rank(); ++d) {
      if (d == axis ? x.dim(d) * x.dim(d + 1) != y.dim(d) : x.dim(d < axis ? d : d + 1) != y.dim(d))
        return false;
    }
    return true;
  };
  // Of no elements, a size that a Reshape finds may be another one.
  return Always(split, joined, joins, /*when_empty=*/false);
}

bool ShapeInfo::BroadcastsTo(Endpoint a, Endpoint b) {
  if (a == b) return true;
  return Always(a, b, [](const Shape& x, const Shape& y) {
    const auto both = BroadcastShapes(x, y);
    return both.ok() && *both == y;
  });
}

}  // namespace tenon
