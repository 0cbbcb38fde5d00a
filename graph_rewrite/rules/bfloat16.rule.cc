// Contractions in bfloat16, and with them what stands between them. The graph's inputs and outputs
// keep their dtype; everything that is not named here stays in float (sums over many elements,
// exponentials, variables, gradients), behind casts. Norms and softmax read and write bfloat16 but
// compute in float, which is how their kernels work.
#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "env/status.h"
#include "graph_rewrite/rule.h"
#include "ops/evaluate.h"
#include "ops/op.h"
#include "ops/rename.h"

namespace tenon {
namespace {

constexpr const char kRule[] = "ConvertToBfloat16";

// What goes along with a contraction whose result it reads. Ops that only move elements need no
// accelerated kernel.
constexpr const char kFollowers[] =
    "Add AddV2 Sub Mul AddN BiasAdd Maximum Minimum Neg Abs Square "
    "Relu Relu6 LeakyRelu Elu Selu Tanh Sigmoid Softplus Softsign "
    "_GeluExact _GeluApproximate _Swish _HardSwish _Mish _FusedElementwise "
    "MaxPool AvgPool MaxPool3D AvgPool3D FusedBatchNormV2 FusedBatchNormV3 "
    "Softmax _FusedSoftmax _LayerNorm _AddLayerNorm";
constexpr const char kMovers[] =
    "Identity Reshape Squeeze ExpandDims Transpose ConcatV2 Pack Unpack Pad PadV2 MirrorPad "
    "Slice StridedSlice Split SplitV Tile BroadcastTo ReverseV2 "
    "DepthToSpace SpaceToDepth BatchToSpaceND SpaceToBatchND ResizeNearestNeighbor";

absl::flat_hash_set<absl::string_view> Words(absl::string_view list) {
  const std::vector<absl::string_view> words = absl::StrSplit(list, ' ');
  return {words.begin(), words.end()};
}

enum class Role { kNone, kContraction, kFollower, kMover };

Role RoleOf(const std::string& op) {
  static const auto* const roles = [] {
    auto* map = new absl::flat_hash_map<std::string, Role>;
    for (const Rule& rule : AllRules()) {
      if (rule.contraction == nullptr) continue;
      (*map)[rule.contraction] = Role::kContraction;
      (*map)[rule.fused] = Role::kContraction;
    }
    (*map)["_PadWithFusedConv2D"] = Role::kContraction;
    for (absl::string_view word : Words(kFollowers)) (*map)[word] = Role::kFollower;
    for (absl::string_view word : Words(kMovers)) (*map)[word] = Role::kMover;
    return map;
  }();
  const auto it = roles->find(op);
  return it == roles->end() ? Role::kNone : it->second;
}

// A node that can be bfloat16: the attribute to set, and the inputs and outputs that follow it.
struct Candidate {
  std::string type_attr;
  std::vector<bool> slots, ports;
};

std::vector<bool> Differ(const std::vector<DType>& a, const std::vector<DType>& b) {
  std::vector<bool> out(a.size());
  for (size_t i = 0; i < a.size(); ++i) out[i] = a[i] != b[i];
  return out;
}

// False where the node does not compute in float, or has no kernel worth having.
bool FindCandidate(const Node& n, Role role, Candidate& out) {
  const OpLookup op = FindOp(n.op);
  if (!op || op.info->signature.outputs.empty()) return false;
  out.type_attr = op.info->signature.outputs[0].type_attr;
  const DType* dtype = n.attr<DType>(out.type_attr);
  if (dtype == nullptr || *dtype != DType::kFloat) return false;
  Node as_bfloat16 = n;
  as_bfloat16.attrs[out.type_attr] = DType::kBfloat16;
  if (role != Role::kMover && NativeName(*op.info, as_bfloat16) == nullptr) return false;
  const auto inputs = InputDTypes(*op.info, n), inputs16 = InputDTypes(*op.info, as_bfloat16);
  const auto outputs = OutputDTypes(*op.info, n), outputs16 = OutputDTypes(*op.info, as_bfloat16);
  if (!inputs.ok() || !inputs16.ok() || !outputs.ok() || !outputs16.ok()) return false;
  if (inputs->size() != n.inputs.size()) return false;
  out.slots = Differ(*inputs, *inputs16);
  out.ports = Differ(*outputs, *outputs16);
  return true;
}

class Conversion {
 public:
  explicit Conversion(RuleContext& context) : context_(context) {}

  absl::Status Run() {
    TENON_ASSIGN_OR_RETURN(order_, context_.graph().TopologicalOrder());
    Choose();
    LeaveWhatEndsInFloat();
    for (NodeId id : order_) {
      if (!chosen_.contains(id)) continue;
      context_.Step(kRule, context_.node(id).name);
      TENON_RETURN_IF_ERROR(Convert(id));
      context_.EndStep(kRule);
    }
    return absl::OkStatus();
  }

 private:
  // With a constant filter the "gradient" is a transposed convolution.
  Role RoleOf(NodeId id) const {
    const Node& n = context_.node(id);
    if (n.op == "Conv2DBackpropInput" && context_.Constant(n.inputs[1]) != nullptr) {
      return Role::kContraction;
    }
    if (n.op == "Mean") return IsGlobalAverage(n) ? Role::kFollower : Role::kNone;
    return tenon::RoleOf(n.op);
  }

  // Of an image's pixels (NHWC): its kernel sums in float.
  bool IsGlobalAverage(const Node& n) const {
    const Tensor* axes = context_.Constant(n.inputs[1]);
    if (axes == nullptr) return false;
    const absl::StatusOr<std::vector<int64_t>> values = IntegerValues(*axes);
    return context_.shapes.shape(n.inputs[0]).rank() == 4 && values.ok() &&
           (*values == std::vector<int64_t>{1, 2} || *values == std::vector<int64_t>{2, 1});
  }

  bool IsBfloat16(Endpoint e) const {
    const auto it = chosen_.find(e.node);
    return it != chosen_.end() && it->second.ports[static_cast<size_t>(e.port)];
  }

  bool ReadsBfloat16(const Node& n, const Candidate& c) const {
    for (size_t slot = 0; slot < n.inputs.size(); ++slot) {
      if (c.slots[slot] && IsBfloat16(n.inputs[slot])) return true;
    }
    return false;
  }

  void Choose() {
    for (NodeId id : order_) {
      const Node& n = context_.node(id);
      const Role role = RoleOf(id);
      Candidate c;
      if (role == Role::kNone || !FindCandidate(n, role, c)) continue;
      if (role == Role::kContraction || ReadsBfloat16(n, c)) chosen_[id] = std::move(c);
    }
  }

  // A follower that nothing in bfloat16 reads would only round what is cast back at once.
  void LeaveWhatEndsInFloat() {
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      if (!chosen_.contains(*it) || RoleOf(*it) == Role::kContraction) continue;
      const absl::Span<const Use> uses = context_.rw.uses(*it);
      if (std::none_of(uses.begin(), uses.end(), [&](const Use& u) { return IsChosenUse(u); })) {
        chosen_.erase(*it);
      }
    }
  }

  bool IsChosenUse(const Use& use) const {
    const auto reader = chosen_.find(use.reader);
    return !use.is_control() && reader != chosen_.end() &&
           reader->second.slots[static_cast<size_t>(use.slot)];
  }

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

  // The tensor in bfloat16; a reader that was float so far gets `e` by now.
  absl::StatusOr<Endpoint> AsBfloat16(Endpoint e) {
    if (IsBfloat16(e)) return e;
    const auto it = bfloat16_.find(e);
    if (it != bfloat16_.end()) return it->second;
    TENON_ASSIGN_OR_RETURN(const Endpoint cast, AddCast(e, DType::kFloat, DType::kBfloat16));
    bfloat16_[e] = cast;
    return cast;
  }

  absl::Status Convert(NodeId id) {
    const Candidate& c = chosen_.at(id);
    for (size_t slot = 0; slot < c.slots.size(); ++slot) {
      if (!c.slots[slot]) continue;
      const Endpoint before = context_.node(id).inputs[slot];
      TENON_ASSIGN_OR_RETURN(const Endpoint e, AsBfloat16(before));
      if (e == before) continue;
      context_.rw.SetInput(id, static_cast<int>(slot), e);
      context_.RemoveIfDead(before.node);
    }
    context_.rw.SetAttr(id, c.type_attr, DType::kBfloat16);
    for (size_t port = 0; port < c.ports.size(); ++port) {
      if (!c.ports[port]) continue;
      TENON_RETURN_IF_ERROR(CastBack({id, static_cast<int>(port)}));
    }
    return absl::OkStatus();
  }

  // Readers that stay in float, and the graph's outputs, read a cast.
  absl::Status CastBack(Endpoint e) {
    std::vector<Use> float_readers;
    for (const Use& use : context_.rw.uses(e.node)) {
      if (!use.is_control() && use.port == e.port && !IsChosenUse(use)) {
        float_readers.push_back(use);
      }
    }
    if (float_readers.empty() && !context_.rw.IsOutput(e)) return absl::OkStatus();
    const std::vector<Use> all(context_.rw.uses(e.node).begin(), context_.rw.uses(e.node).end());
    TENON_ASSIGN_OR_RETURN(const Endpoint cast, AddCast(e, DType::kBfloat16, DType::kFloat));
    context_.rw.ReplaceAllUses(e, cast);
    context_.rw.SetInput(cast.node, 0, e);
    for (const Use& use : all) {
      if (use.port == e.port && IsChosenUse(use)) context_.rw.SetInput(use.reader, use.slot, e);
    }
    return absl::OkStatus();
  }

  RuleContext& context_;
  std::vector<NodeId> order_;
  absl::flat_hash_map<NodeId, Candidate> chosen_;
  absl::flat_hash_map<Endpoint, Endpoint> bfloat16_;
};

absl::Status ConvertToBfloat16(RuleContext& context) { return Conversion(context).Run(); }

const RuleRegistration bfloat16_rule({
    .name = kRule,
    .doc = "contractions, and what stands between them, compute in bfloat16 (--precision bf16)",
    .phase = Phase::kPrecision,
    .sweep = ConvertToBfloat16,
    .repeat = false,
});

}  // namespace
}  // namespace tenon
