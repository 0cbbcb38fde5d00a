// Models that come from channels-first frameworks put each convolution between two Transposes, or
// have convolutions of the format NCHW. This rule changes the layout of what is between them:
//
//   transpose(relu(transpose(x) + b))  =  relu(x + b')       if the Transposes are inverse
//
// A region is a set of tensors with channels first that are connected through ops which have a form
// for channels last (graph_rewrite/channels_last.h). It is changed as a whole, if afterwards fewer
// elements are transposed, counting those of convolutions and pools with channels first, which
// reorder their images: Transposes at its border then disappear, and others appear where a tensor
// enters or leaves the region otherwise.
#include "graph_rewrite/channels_last.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "env/containers.h"
#include "env/status.h"
#include "graph_rewrite/permutation.h"
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

constexpr const char kChannelsLastRule[] = "ChannelsLast";

bool TransposesBy(RuleContext& context, const Node& n, const std::vector<int32_t>& permutation) {
  if (n.op != "Transpose") return false;
  const auto values = PermutationOf(context, n);
  return values.ok() &&
         std::equal(values->begin(), values->end(), permutation.begin(), permutation.end());
}

class LayoutRegions {
 public:
  LayoutRegions(RuleContext& context, int rank) : context_(context), layout_(rank) {}

  absl::Status Move(absl::Span<const NodeId> anchors) {
    for (const NodeId id : anchors) {
      if (!context_.rw.Has(id)) continue;  // removed with another region
      const Node& n = context_.node(id);
      if (n.op == "Transpose" && !TransposesBy(context_, n, layout_.to_first())) continue;
      if (context_.shapes.rank({id, 0}) != layout_.rank() || seen_.contains(Endpoint{id, 0})) {
        continue;
      }
      Region region = Grow({id, 0});
      if (region.nodes.empty() || !Pays(region)) continue;
      context_.Step(kChannelsLastRule, context_.node(region.nodes.front()).name);
      TENON_RETURN_IF_ERROR(Change(region));
      context_.EndStep(kChannelsLastRule);
    }
    return absl::OkStatus();
  }

 private:
  struct Region {
    std::vector<NodeId> nodes;  // sorted: their order in the graph's ids
    HashMap<NodeId, const ChannelsLastForm*> forms;
    std::vector<Endpoint> tensors;  // those that its nodes read or give
    HashSet<Endpoint> given;        // by its nodes
  };

  const ChannelsLastForm* FormOf(NodeId id) {
    auto [it, added] = forms_.try_emplace(id);
    if (added) {
      absl::StatusOr<ChannelsLastForm> form = FormInChannelsLast(context_, id, layout_);
      if (form.ok()) it->second = std::make_unique<const ChannelsLastForm>(*std::move(form));
    }
    return it->second.get();
  }

  Region Grow(Endpoint start) {
    Region region;
    std::deque<Endpoint> left = {start};
    const auto add_tensor = [&](Endpoint e) {
      if (seen_.insert(e).second) left.push_back(e);
    };
    const auto add_node = [&](NodeId id) {
      const ChannelsLastForm* form = FormOf(id);
      if (form == nullptr || !region.forms.try_emplace(id, form).second) return;
      region.nodes.push_back(id);
      for (const int slot : form->data)
        add_tensor(context_.node(id).inputs[static_cast<size_t>(slot)]);
      for (int port = 0; port < form->outputs; ++port) {
        add_tensor({id, port});
        region.given.insert({id, port});
      }
    };
    seen_.insert(start);
    while (!left.empty()) {
      const Endpoint e = left.front();
      left.pop_front();
      region.tensors.push_back(e);
      if (const ChannelsLastForm* form = FormOf(e.node);
          form != nullptr && e.port < form->outputs) {
        add_node(e.node);
      }
      for (const Use& use : context_.rw.uses(e.node)) {
        if (use.is_control() || use.port != e.port) continue;
        const ChannelsLastForm* form = FormOf(use.reader);
        if (form != nullptr && std::count(form->data.begin(), form->data.end(), use.slot) > 0) {
          add_node(use.reader);
        }
      }
    }
    std::sort(region.nodes.begin(), region.nodes.end());
    return region;
  }

  bool Reads(const Region& region, const Use& use) const {
    if (use.is_control()) return false;
    const auto it = region.forms.find(use.reader);
    return it != region.forms.end() &&
           std::count(it->second->data.begin(), it->second->data.end(), use.slot) > 0;
  }
  bool IsInverse(const Use& use) {
    return use.slot == 0 && TransposesBy(context_, context_.node(use.reader), layout_.to_last()) &&
           context_.IsCandidate(use.reader);
  }

  // Whether the reader gives the sizes of what it reads, which are the same in another order.
  bool IsShape(const Use& use) {
    return context_.node(use.reader).op == "Shape" && context_.IsCandidate(use.reader);
  }

  // Whether the tensor has channels last before the Transpose that gives it. What the region gives
  // will not be the same afterwards.
  bool IsTransposed(const Region& region, Endpoint e) {
    return TransposesBy(context_, context_.node(e), layout_.to_first()) &&
           context_.IsCandidate(e.node) && !region.given.contains(context_.node(e).inputs[0]);
  }

  // Where a size is not known, one is assumed.
  double Elements(Endpoint e) {
    const Shape& s = context_.shapes.shape(e);
    double elements = 1;
    for (int d = 0; d < s.rank(); ++d) {
      elements *= s.dim(d) >= 0 ? static_cast<double>(s.dim(d)) : d == 0 ? 1.0 : 16.0;
    }
    return elements;
  }

  bool Pays(const Region& region) {
    double saved = 0, added = 0;
    for (const auto& [id, form] : region.forms) {
      if (!form->has_format || context_.node(id).op == "BiasAdd") continue;
      saved += Elements(context_.node(id).inputs[0]) + Elements({id, 0});
    }
    for (const Endpoint e : region.tensors) {
      const double elements = Elements(e);
      const absl::Span<const Use> uses = context_.rw.uses(e.node);
      const auto of_tensor = [&](const Use& use) {
        return !use.is_control() && use.port == e.port;
      };
      if (!region.given.contains(e)) {
        if (!IsTransposed(region, e)) {
          if (context_.Constant(e) == nullptr) added += elements;
        } else if (!context_.rw.IsOutput(e) &&
                   std::all_of(uses.begin(), uses.end(), [&](const Use& use) {
                     return !of_tensor(use) || Reads(region, use);
                   })) {
          saved += elements;
        }
        continue;
      }
      bool leaves = context_.rw.IsOutput(e);
      for (const Use& use : uses) {
        if (!of_tensor(use) || Reads(region, use)) continue;
        if (IsInverse(use)) {
          saved += elements;
        } else if (!IsShape(use)) {
          leaves = true;
        }
      }
      if (leaves) added += elements;
    }
    return added < saved;
  }

  absl::StatusOr<Endpoint> Transposed(Endpoint e, const std::vector<int32_t>& permutation) {
    const std::string name = context_.node(e).name;
    const NodeId perm = context_.AddConst(name + "/layout", Tensor::Vector<int32_t>(permutation));
    Node n;
    n.name = name + "/transposed";
    n.op = "Transpose";
    n.device = context_.node(e).device;
    n.inputs = {e, {perm, 0}};
    n.attrs["T"] = context_.shapes.dtype(e);
    n.attrs["Tperm"] = DType::kInt32;
    TENON_ASSIGN_OR_RETURN(const NodeId id, context_.AddNode(std::move(n)));
    return Endpoint{id, 0};
  }

  // What a Shape of a tensor gave before its layout changed.
  absl::StatusOr<Endpoint> SizesOf(NodeId id) {
    Node shape = context_.node(id);
    const std::string name = shape.name;
    const DType dtype = context_.shapes.dtype({id, 0});
    shape.id = kNoNode;
    shape.name = name + "/last";
    TENON_ASSIGN_OR_RETURN(const NodeId sizes, context_.AddNode(std::move(shape)));
    Node n;
    n.name = name + "/first";
    n.op = "GatherV2";
    n.inputs = {
        {sizes, 0},
        {context_.AddConst(name + "/layout", Tensor::Vector<int32_t>(layout_.to_first())), 0},
        {context_.AddConst(name + "/axis", Tensor::Scalar<int32_t>(0)), 0}};
    n.attrs["Tparams"] = dtype;
    n.attrs["Tindices"] = DType::kInt32;
    n.attrs["Taxis"] = DType::kInt32;
    TENON_ASSIGN_OR_RETURN(const NodeId gathered, context_.AddNode(std::move(n)));
    return Endpoint{gathered, 0};
  }

  // In channels last.
  absl::StatusOr<Endpoint> Entered(const Region& region, Endpoint e) {
    const Node& n = context_.node(e);
    if (IsTransposed(region, e)) return n.inputs[0];
    if (const Tensor* t = context_.Constant(e)) {
      TENON_ASSIGN_OR_RETURN(Tensor value, layout_.Operand(*t, context_.services));
      return Endpoint{context_.AddConst(n.name, std::move(value)), 0};
    }
    return Transposed(e, layout_.to_last());
  }

  absl::Status Change(const Region& region) {
    // Readers outside get what they got, through a Transpose.
    struct Exit {
      Endpoint tensor;
      std::vector<Use> inverse, shapes, others;
      bool output = false;
    };
    std::vector<Exit> exits;
    for (const Endpoint e : region.tensors) {
      if (!region.given.contains(e)) continue;
      Exit exit{e, {}, {}, {}, context_.rw.IsOutput(e)};
      for (const Use& use : context_.rw.uses(e.node)) {
        if (use.is_control() || use.port != e.port || Reads(region, use)) continue;
        (IsInverse(use) ? exit.inverse : IsShape(use) ? exit.shapes : exit.others).push_back(use);
      }
      exits.push_back(std::move(exit));
    }
    HashMap<Endpoint, Endpoint> entered;
    for (const Endpoint e : region.tensors) {
      if (region.given.contains(e)) continue;
      TENON_ASSIGN_OR_RETURN(entered[e], Entered(region, e));
    }
    std::vector<NodeId> unread;
    for (const NodeId id : region.nodes) {
      const ChannelsLastForm& form = *region.forms.at(id);
      for (const int slot : form.data) {
        const Endpoint e = context_.node(id).inputs[static_cast<size_t>(slot)];
        const auto it = entered.find(e);
        if (it == entered.end()) continue;
        context_.rw.SetInput(id, slot, it->second);
        unread.push_back(e.node);
      }
      for (const auto& [slot, value] : form.constants) {
        const NodeId old = context_.node(id).inputs[static_cast<size_t>(slot)].node;
        const NodeId constant = context_.AddConst(context_.node(old).name, value);
        context_.rw.SetInput(id, slot, {constant, 0});
        unread.push_back(old);
      }
      for (const auto& [name, value] : form.attrs) context_.rw.SetAttr(id, name, value);
    }
    for (const Exit& exit : exits) {
      // Outputs first: those of an inverse Transpose become outputs of the tensor itself.
      if (exit.output || !exit.others.empty()) {
        TENON_ASSIGN_OR_RETURN(const Endpoint left, Transposed(exit.tensor, layout_.to_first()));
        for (const Use& use : exit.others) context_.rw.SetInput(use.reader, use.slot, left);
        if (exit.output) context_.rw.ReplaceOutputs(exit.tensor, left);
      }
      const auto replace = [&](NodeId old, Endpoint by) {
        context_.rw.ReplaceAllUses({old, 0}, by);
        context_.rw.ReplaceControlUses(old, by.node);
        unread.push_back(old);
      };
      for (const Use& use : exit.inverse) replace(use.reader, exit.tensor);
      for (const Use& use : exit.shapes) {
        TENON_ASSIGN_OR_RETURN(const Endpoint sizes, SizesOf(use.reader));
        replace(use.reader, sizes);
      }
    }
    for (const NodeId id : unread) {
      if (context_.rw.Has(id)) context_.RemoveIfDead(id);
    }
    for (const NodeId id : region.nodes) context_.shapes.Forget(id);
    return absl::OkStatus();
  }

  RuleContext& context_;
  const ChannelsLast layout_;
  HashMap<NodeId, std::unique_ptr<const ChannelsLastForm>> forms_;  // null: none
  HashSet<Endpoint> seen_;
};

// Where a region may begin.
bool IsAnchor(RuleContext& context, NodeId id) {
  const Node& n = context.node(id);
  const std::string* format = n.attr<std::string>("data_format");
  const bool first = format != nullptr && absl::StartsWith(*format, "NC");
  return (first || n.op == "Transpose") && context.IsCandidate(id);
}

absl::Status MoveToChannelsLast(RuleContext& context) {
  std::vector<NodeId> anchors = context.graph().NodeIds();
  anchors.erase(std::remove_if(anchors.begin(), anchors.end(),
                               [&](NodeId id) { return !IsAnchor(context, id); }),
                anchors.end());
  for (const int rank : {3, 4, 5}) {
    TENON_RETURN_IF_ERROR(LayoutRegions(context, rank).Move(anchors));
  }
  return absl::OkStatus();
}

const RuleRegistration channels_last({
    .name = kChannelsLastRule,
    .doc = "ops between Transposes, and convolutions and pools with channels first, compute with "
           "channels last where that leaves fewer elements to transpose",
    .phase = Phase::kFold,
    .sweep = MoveToChannelsLast,
    .after = "FoldConstants",
});

}  // namespace
}  // namespace tenon
