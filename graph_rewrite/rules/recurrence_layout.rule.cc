// What recurrent layers can take over from their surroundings: the order of their results, and
// another layer that runs beside them.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph_rewrite/rule.h"
#include "graph_rewrite/rules/sequence_order.h"
#include "graph_rewrite/sequence_lengths.h"
#include "graph_rewrite/slices.h"

namespace tenon {
namespace {

// A result of one step, [1, batch, units], from which each reader takes the step, is stored as
// [batch, 1, units], which is the same memory: then the batch is its first axis.
Outcome TakeOnlyStep(RuleContext& context, NodeId id, const std::vector<NodeId>& readers) {
  Node squeeze;
  squeeze.name = absl::StrCat(context.node(id).name, "/only_step");
  squeeze.op = "Squeeze";
  squeeze.device = context.node(id).device;
  squeeze.inputs = {{id, 0}};
  squeeze.attrs["T"] = DType::kFloat;
  squeeze.attrs["squeeze_dims"] = std::vector<int64_t>{1};
  context.rw.SetAttr(id, "y_time_major", false);
  auto added = context.AddNode(std::move(squeeze));
  if (!added.ok()) return Outcome::Skip(1, std::string(added.status().message()), id);
  for (NodeId r : readers) {
    context.rw.ReplaceAllUses({r, 0}, {*added, 0});
    context.rw.ReplaceControlUses(r, *added);
    context.RemoveIfDead(r);
  }
  return Outcome::Fired();
}

// Results in the order in which their readers want them.
Outcome ChangeLayout(RuleContext& context, NodeId id) {
  const Node& n = context.node(id);
  const bool major = *n.attr<bool>("y_time_major");
  if (*n.attr<int64_t>("N") != 1) return Outcome::NotMine();
  std::vector<NodeId> readers;
  for (const Use& use : context.rw.uses(id)) {
    if (!use.is_control() && use.port == 0) readers.push_back(use.reader);
  }
  if (readers.empty() || context.rw.IsOutput({id, 0})) return Outcome::NotMine();
  auto all = [&](auto holds) {
    return std::all_of(readers.begin(), readers.end(),
                       [&](NodeId r) { return holds(context.Candidate(r)); });
  };
  if (major && *n.attr<bool>("last_only") && all([&](const Node& r) {
        const auto index = FindIndexedAxis(context, {r.id, 0});
        return index.has_value() && index->axis == 0 && index->source == Endpoint{id, 0};
      })) {
    return TakeOnlyStep(context, id, readers);
  }
  if (all([&](const Node& r) { return SwapsTimeAndBatch(context, r); })) {
    context.rw.SetAttr(id, "y_time_major", !major);
  } else if (!*n.attr<bool>("last_only") &&
             all([&](const Node& r) { return Reverses(context, r, major ? 0 : 1); })) {
    const auto* reverse = n.attr<std::vector<int64_t>>("y_reverse");
    const bool reversed = reverse != nullptr && !reverse->empty() && (*reverse)[0] != 0;
    context.rw.SetAttr(id, "y_reverse", std::vector<int64_t>{reversed ? 0 : 1});
  } else {
    return Outcome::Skip(1, "its readers do not all transpose or reverse it", id);
  }
  for (NodeId r : readers) {
    context.rw.ReplaceAllUses({r, 0}, {id, 0});
    context.rw.ReplaceControlUses(r, id);
    context.RemoveIfDead(r);
  }
  return Outcome::Fired();
}

const RuleRegistration layout({
    .name = "RecurrenceLayout",
    .doc = "a Transpose or ReverseV2 of a recurrent layer's results is fused into the layer; its "
           "only result is taken by a Squeeze",
    .phase = Phase::kFuse,
    .anchors = "_Recurrence",
    .apply = ChangeLayout,
    .keeps_control_inputs = true,
    .after = "FuseRecurrence",
});

// ---- joining ----

bool JoinsWith(RuleContext& context, const Node& a, const Node& b) {
  if (a.inputs.size() != b.inputs.size() || a.device != b.device) return false;
  AttrMap attrs[2] = {a.attrs, b.attrs};
  for (AttrMap& m : attrs) {
    m.erase("reverse");
    m.erase("y_reverse");
    m.erase("mask_reverse");
  }
  if (attrs[0] != attrs[1]) return false;
  for (size_t i = 0; i < a.inputs.size(); ++i) {
    if (context.shapes.SameShape(a.inputs[i], b.inputs[i])) continue;
    if (i != 0 || !HaveSameFirstSteps(context, a.inputs[0], b.inputs[0])) return false;
  }
  return !context.rw.DependsOn(a.id, b.id) && !context.rw.DependsOn(b.id, a.id);
}

// Two layers that do not depend on each other, as in Bidirectional, run side by side.
Outcome Join(RuleContext& context, NodeId id) {
  const Node& a = context.node(id);
  if (*a.attr<int64_t>("N") != 1) return Outcome::NotMine();
  const std::vector<NodeId> ids = context.graph().NodeIds();
  const auto other = std::find_if(ids.begin(), ids.end(), [&](NodeId b) {
    return b != id && context.node(b).op == "_Recurrence" && context.IsCandidate(b) &&
           JoinsWith(context, a, context.node(b));
  });
  if (other == ids.end()) return Outcome::Skip(1, "no layer of the same sizes runs beside it", id);
  if (!context.IsUnordered(id) || !context.IsUnordered(*other)) return Outcome::NotMine();
  const Node& b = context.node(*other);
  Node joined;
  joined.name = absl::StrCat(a.name, "/joined");
  joined.op = a.op;
  joined.device = a.device;
  joined.attrs = a.attrs;
  for (const char* count :
       {"N", "num_states", "num_biases", "num_peepholes", "num_masks", "num_projections"}) {
    joined.attrs[count] = 2 * *a.attr<int64_t>(count);
  }
  for (const char* name : {"reverse", "y_reverse", "mask_reverse"}) {
    std::vector<int64_t> both;
    for (const Node* n : {&a, &b}) {
      const auto* own = n->attr<std::vector<int64_t>>(name);
      both.push_back(own != nullptr && !own->empty() ? (*own)[0] : 0);
    }
    joined.attrs[name] = std::move(both);
  }
  const auto states = static_cast<size_t>(*a.attr<int64_t>("num_states"));
  // Inputs x and w, then the states, then single optional inputs: those of both, group by group.
  for (size_t begin = 0; begin < a.inputs.size();) {
    const size_t end = begin == 2 ? begin + states : begin + 1;
    for (const Node* n : {&a, &b}) {
      joined.inputs.insert(joined.inputs.end(), n->inputs.begin() + static_cast<int64_t>(begin),
                           n->inputs.begin() + static_cast<int64_t>(end));
    }
    begin = end;
  }
  auto added = context.AddNode(std::move(joined));
  if (!added.ok()) return Outcome::Skip(2, std::string(added.status().message()), id);
  const NodeId old[2] = {id, *other};
  for (int s = 0; s < 2; ++s) {
    context.rw.ReplaceAllUses({old[s], 0}, {*added, s});
    for (int i = 0; i < static_cast<int>(states); ++i) {
      context.rw.ReplaceAllUses({old[s], 1 + i}, {*added, 2 + s * static_cast<int>(states) + i});
    }
    context.RemoveIfDead(old[s]);
  }
  return Outcome::Fired();
}

const RuleRegistration join({
    .name = "JoinRecurrences",
    .doc = "two recurrent layers of the same sizes that do not depend on each other run side by "
           "side",
    .phase = Phase::kFuse,
    .anchors = "_Recurrence",
    .apply = Join,
    .after = "RecurrenceLayout",
    .last = true,
});

}  // namespace
}  // namespace tenon
