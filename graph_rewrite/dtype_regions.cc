#include "graph_rewrite/dtype_regions.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "env/containers.h"
#include "env/status.h"
#include "ops/evaluate.h"
#include "ops/op.h"
#include "ops/rename.h"

namespace tenon {
namespace {

// A node that can be converted: the attribute to set, and the inputs and outputs that follow it.
struct Candidate {
  std::string type_attr;
  std::vector<bool> slots, ports;
};

// The largest finite number of bfloat16. Floats up to 0.4 % larger exist, and masks of attention
// are full of them, since their authors write the least finite float: rounded to bfloat16, they
// would be infinite, and a softmax of nothing but infinities is NaN.
constexpr float kLargestBfloat16 = 0x1.FEp127f;

// Whether the elements that are infinite in bfloat16 are not so here.
bool IsTooLarge(float x) { return std::isfinite(x) && std::abs(x) > kLargestBfloat16; }

bool HasTooLarge(const Tensor& value) {
  constexpr int64_t kMost = int64_t{1} << 21;  // a mask of more would be computed
  if (value.dtype() != DType::kFloat || value.num_elements() > kMost) return false;
  const absl::Span<const float> elements = value.flat<float>();
  return std::any_of(elements.begin(), elements.end(), IsTooLarge);
}

absl::StatusOr<Tensor> Limited(const Tensor& value) {
  TENON_ASSIGN_OR_RETURN(Tensor limited, value.Clone());
  for (float& x : limited.flat<float>()) {
    if (IsTooLarge(x)) x = std::copysign(kLargestBfloat16, x);
  }
  return limited;
}

std::vector<bool> Differ(const std::vector<DType>& a, const std::vector<DType>& b) {
  std::vector<bool> out(a.size());
  for (size_t i = 0; i < a.size(); ++i) out[i] = a[i] != b[i];
  return out;
}

class Regions {
 public:
  Regions(RuleContext& context, const RegionSpec& spec) : context_(context), spec_(spec) {}

  absl::Status Run() {
    TENON_ASSIGN_OR_RETURN(order_, context_.graph().TopologicalOrder());
    FindCandidates();
    if (!HasStart()) return absl::OkStatus();
    Choose();
    LeaveWhatEndsOutside();
    for (NodeId id : order_) {
      if (!chosen_.contains(id)) continue;
      context_.Step(spec_.rule, context_.node(id).name);
      TENON_RETURN_IF_ERROR(Move(id));
      context_.EndStep(spec_.rule);
    }
    return absl::OkStatus();
  }

 private:
  struct Member {
    RegionRole role;
    Candidate candidate;
  };

  // ---- candidates ----

  void FindCandidates() {
    HashSet<NodeId> fed;
    for (const GraphInput& in : context_.graph().inputs()) fed.insert(in.node);
    for (NodeId id : order_) {
      if (fed.contains(id)) continue;
      const RegionRole role = spec_.role(id);
      Candidate c;
      if (role == RegionRole::kNone || !FindCandidate(context_.node(id), role, c)) continue;
      candidates_[id] = {role, std::move(c)};
    }
  }

  // Returns false if the node does not compute in `from`, or has no worthwhile kernel in `to`.
  bool FindCandidate(const Node& n, RegionRole role, Candidate& out) const {
    const OpLookup op = FindOp(n.op);
    if (!op || op.info->row.stateful || op.info->signature.outputs.empty()) return false;
    out.type_attr = op.info->signature.outputs[0].type_attr;
    const DType* dtype = n.attr<DType>(out.type_attr);
    if (dtype == nullptr || *dtype != spec_.from) return false;
    Node moved = n;
    moved.attrs[out.type_attr] = spec_.to;
    if (role != RegionRole::kMover && NativeName(*op.info, moved) == nullptr) return false;
    const auto inputs = InputDTypes(*op.info, n), moved_inputs = InputDTypes(*op.info, moved);
    const auto outputs = OutputDTypes(*op.info, n), moved_outputs = OutputDTypes(*op.info, moved);
    if (!inputs.ok() || !moved_inputs.ok() || !outputs.ok() || !moved_outputs.ok()) return false;
    if (inputs->size() != n.inputs.size()) return false;
    out.slots = Differ(*inputs, *moved_inputs);
    out.ports = Differ(*outputs, *moved_outputs);
    return true;
  }

  bool HasStart() const {
    return std::any_of(candidates_.begin(), candidates_.end(),
                       [](const auto& c) { return c.second.role == RegionRole::kStart; });
  }

  // ---- the region ----

  void Choose() {
    for (const auto& [id, member] : candidates_) {
      if (member.role == RegionRole::kStart) chosen_[id] = member;
    }
    for (size_t before = 0; before != chosen_.size();) {
      before = chosen_.size();
      for (NodeId id : order_) {
        const auto it = candidates_.find(id);
        if (it != candidates_.end() && ReadsRegion(id, it->second.candidate)) {
          chosen_.try_emplace(id, it->second);
        }
      }
      if (!spec_.greedy) return;
      for (auto id = order_.rbegin(); id != order_.rend(); ++id) {
        const auto it = candidates_.find(*id);
        if (it != candidates_.end() && IsReadByRegion(*id)) chosen_.try_emplace(*id, it->second);
      }
    }
  }

  // Whether the region makes a cast superfluous.
  bool IsAbsorbed(NodeId id, DType from, DType to) const {
    const Node& n = context_.node(id);
    if (!spec_.absorb_casts || n.op != "Cast") return false;
    const DType* src = n.attr<DType>("SrcT");
    const DType* dst = n.attr<DType>("DstT");
    return src != nullptr && dst != nullptr && *src == from && *dst == to;
  }

  bool IsMoved(Endpoint e) const {
    const auto it = chosen_.find(e.node);
    return it != chosen_.end() && it->second.candidate.ports[static_cast<size_t>(e.port)];
  }

  // Whether the node reads a tensor that exists in the new dtype: in the region, or before a cast.
  bool ReadsRegion(NodeId id, const Candidate& c) const {
    const auto& inputs = context_.node(id).inputs;
    for (size_t slot = 0; slot < inputs.size(); ++slot) {
      if (!c.slots[slot]) continue;
      if (IsMoved(inputs[slot]) || IsAbsorbed(inputs[slot].node, spec_.to, spec_.from)) return true;
    }
    return false;
  }

  bool IsChosenUse(const Use& use) const {
    const auto reader = chosen_.find(use.reader);
    return !use.is_control() && reader != chosen_.end() &&
           reader->second.candidate.slots[static_cast<size_t>(use.slot)];
  }

  bool IsReadByRegion(NodeId id) const {
    const absl::Span<const Use> uses = context_.rw.uses(id);
    return std::any_of(uses.begin(), uses.end(), [&](const Use& u) {
      return IsChosenUse(u) || (!u.is_control() && IsAbsorbed(u.reader, spec_.from, spec_.to));
    });
  }

  // Removes nodes whose results nothing in the region reads: they would only be rounded and cast
  // back at once. A mover at the start of a greedy region would move wider elements for nothing.
  void LeaveWhatEndsOutside() {
    for (auto id = order_.rbegin(); id != order_.rend(); ++id) {
      const auto it = chosen_.find(*id);
      if (it == chosen_.end() || it->second.role == RegionRole::kStart) continue;
      if (spec_.greedy && it->second.role == RegionRole::kFollower) continue;
      if (!IsReadByRegion(*id)) chosen_.erase(it);
    }
    if (!spec_.greedy) return;
    for (NodeId id : order_) {
      const auto it = chosen_.find(id);
      if (it == chosen_.end() || it->second.role != RegionRole::kMover) continue;
      if (!ReadsRegion(id, it->second.candidate)) chosen_.erase(it);
    }
  }

  // ---- conversion ----

  absl::StatusOr<Endpoint> AddCast(Endpoint e, DType from, DType to) {
    Node cast;
    cast.name = absl::StrCat(context_.node(e).name, "/", Name(to));
    cast.op = "Cast";
    cast.inputs = {e};
    cast.attrs["SrcT"] = from;
    cast.attrs["DstT"] = to;
    if (const Tensor* value = context_.Constant(e)) {
      TENON_ASSIGN_OR_RETURN(std::vector<Tensor> values,
                             Evaluate(cast, {*value}, context_.services));
      return Endpoint{context_.AddConst(cast.name, std::move(values[0])), 0};
    }
    TENON_ASSIGN_OR_RETURN(const NodeId id, context_.AddNode(std::move(cast)));
    return Endpoint{id, 0};
  }

  // Whether the tensor follows, by a few nodes that are no contractions, from a constant that would
  // be infinite in bfloat16.
  bool MayBeTooLarge(Endpoint e) const {
    constexpr size_t kMostNodes = 32;
    std::vector<NodeId> found = {e.node};
    HashSet<NodeId> seen = {e.node};
    for (size_t i = 0; i < found.size() && i < kMostNodes; ++i) {
      const Tensor* const value = context_.Constant({found[i], 0});
      if (value != nullptr && HasTooLarge(*value)) return true;
      if (spec_.role(found[i]) == RegionRole::kStart) continue;
      for (const Endpoint& input : context_.node(found[i]).inputs) {
        if (seen.insert(input.node).second) found.push_back(input.node);
      }
    }
    return false;
  }

  // The tensor, no element of which rounds to an infinity but those that are infinite.
  absl::StatusOr<Endpoint> WithinBfloat16(Endpoint e) {
    if (const Tensor* value = context_.Constant(e)) {
      if (!HasTooLarge(*value)) return e;
      TENON_ASSIGN_OR_RETURN(Tensor limited, Limited(*value));
      return Endpoint{context_.AddConst(context_.node(e).name, std::move(limited)), 0};
    }
    if (!MayBeTooLarge(e)) return e;
    // op names: the two that limit a tensor.
    for (const auto& [op, limit] :
         {std::pair("Minimum", kLargestBfloat16), std::pair("Maximum", -kLargestBfloat16)}) {
      Node node;
      node.name = absl::StrCat(context_.node(e).name, "/", op);
      node.op = op;
      node.inputs = {e, {context_.AddConst(node.name, Tensor::Scalar(limit)), 0}};
      node.attrs["T"] = DType::kFloat;
      TENON_ASSIGN_OR_RETURN(e.node, context_.AddNode(std::move(node)));
      e.port = 0;
    }
    return e;
  }

  // The tensor in the new dtype; readers outside the region now read `e`.
  absl::StatusOr<Endpoint> Moved(Endpoint e) {
    if (IsMoved(e)) return e;
    const auto it = moved_.find(e);
    if (it != moved_.end()) return it->second;
    if (IsAbsorbed(e.node, spec_.to, spec_.from)) return context_.node(e).inputs[0];
    Endpoint within = e;
    if (spec_.from == DType::kFloat && spec_.to == DType::kBfloat16) {
      TENON_ASSIGN_OR_RETURN(within, WithinBfloat16(e));
    }
    TENON_ASSIGN_OR_RETURN(const Endpoint cast, AddCast(within, spec_.from, spec_.to));
    context_.RemoveIfDead(within.node);
    moved_[e] = cast;
    return cast;
  }

  absl::Status Move(NodeId id) {
    const Candidate& c = chosen_.at(id).candidate;
    for (size_t slot = 0; slot < c.slots.size(); ++slot) {
      if (!c.slots[slot]) continue;
      const Endpoint before = context_.node(id).inputs[slot];
      TENON_ASSIGN_OR_RETURN(const Endpoint e, Moved(before));
      if (e == before) continue;
      context_.rw.SetInput(id, static_cast<int>(slot), e);
      context_.RemoveIfDead(before.node);
    }
    context_.rw.SetAttr(id, c.type_attr, spec_.to);
    for (size_t port = 0; port < c.ports.size(); ++port) {
      if (!c.ports[port]) continue;
      AbsorbCasts({id, static_cast<int>(port)});
      TENON_RETURN_IF_ERROR(CastBack({id, static_cast<int>(port)}));
    }
    return absl::OkStatus();
  }

  // Casts of the tensor to the dtype that it now has: the clean rules remove them.
  void AbsorbCasts(Endpoint e) {
    for (const Use& use : context_.rw.uses(e.node)) {
      if (use.is_control() || use.port != e.port) continue;
      if (!IsAbsorbed(use.reader, spec_.from, spec_.to)) continue;
      absorbed_.insert(use.reader);
      context_.rw.SetAttr(use.reader, "SrcT", spec_.to);
    }
  }

  bool StaysOnMoved(const Use& use) const {
    return IsChosenUse(use) || (!use.is_control() && absorbed_.contains(use.reader));
  }

  // Makes readers outside the region, and the graph's outputs, read a cast.
  absl::Status CastBack(Endpoint e) {
    const std::vector<Use> all(context_.rw.uses(e.node).begin(), context_.rw.uses(e.node).end());
    const bool read_outside = std::any_of(all.begin(), all.end(), [&](const Use& use) {
      return !use.is_control() && use.port == e.port && !StaysOnMoved(use);
    });
    if (!read_outside && !context_.rw.IsOutput(e)) return absl::OkStatus();
    TENON_ASSIGN_OR_RETURN(const Endpoint cast, AddCast(e, spec_.to, spec_.from));
    context_.rw.ReplaceAllUses(e, cast);
    context_.rw.SetInput(cast.node, 0, e);
    for (const Use& use : all) {
      if (use.port == e.port && StaysOnMoved(use)) {
        context_.rw.SetInput(use.reader, use.slot, e);
      }
    }
    return absl::OkStatus();
  }

  RuleContext& context_;
  const RegionSpec& spec_;
  std::vector<NodeId> order_;
  HashMap<NodeId, Member> candidates_, chosen_;
  HashMap<Endpoint, Endpoint> moved_;
  HashSet<NodeId> absorbed_;
};

}  // namespace

absl::Status MoveRegions(RuleContext& context, const RegionSpec& spec) {
  return Regions(context, spec).Run();
}

}  // namespace tenon
