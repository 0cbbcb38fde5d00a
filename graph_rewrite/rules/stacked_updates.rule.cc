// Decoders keep the keys and values of all layers in one tensor: in each step they take a layer's
// slice, put a block into it, and stack the slices of all layers again, which copies everything:
//
//   stack([update(c[i], block_i, start_i) for i])
//
// That is c with the blocks put into it, one after the other, which a plan can do in place; who
// reads an updated slice reads it from there.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "env/containers.h"
#include "env/status.h"
#include "graph_rewrite/rule.h"
#include "graph_rewrite/slices.h"

namespace tenon {
namespace {

constexpr char kUpdate[] = "XlaDynamicUpdateSlice";
constexpr size_t kMostElements = 256;

// An element of the stack: a slice and the updates to it, the first one first.
struct Element {
  std::vector<NodeId> updates;
  // The nodes on which the blocks and their positions depend.
  HashSet<NodeId> needs;
};

class StackOfUpdates {
 public:
  StackOfUpdates(RuleContext& context, NodeId stack) : context_(context), stack_(stack) {}

  // FailedPrecondition with the reason if the stack stays.
  absl::Status Check() {
    const Node& n = context_.node(stack_);
    const int64_t* axis = n.attr<int64_t>("axis");
    const int rank = context_.shapes.rank(n.inputs[0]) + 1;
    if (axis == nullptr || rank < 1) return WhyNot("the rank of its elements is not known");
    axis_ = static_cast<int>(*axis < 0 ? *axis + rank : *axis);
    if (n.inputs.size() > kMostElements) return WhyNot("it has too many elements");
    for (size_t i = 0; i < n.inputs.size(); ++i) TENON_RETURN_IF_ERROR(AddElement(n.inputs[i], i));
    const Shape& whole = context_.shapes.shape(whole_);
    if (whole.rank() != rank || whole.dim(axis_) != std::ssize(elements_)) {
      return WhyNot("its elements are not known to be all slices of the tensor");
    }
    if (std::all_of(elements_.begin(), elements_.end(),
                    [](const Element& e) { return e.updates.empty(); })) {
      return WhyNot("no element is an updated slice");
    }
    return FindNeeds();
  }

  void Apply() {
    std::vector<Endpoint> versions;  // of the whole, after the updates of each element
    Endpoint now = whole_;
    for (size_t i = 0; i < elements_.size(); ++i) {
      for (NodeId update : elements_[i].updates) now = AddUpdate(update, i, now);
      versions.push_back(now);
    }
    for (size_t i = 0; i < elements_.size(); ++i) {
      if (!elements_[i].updates.empty()) MoveReaders(i, versions);
    }
    context_.rw.ReplaceNode(stack_, now);
  }

 private:
  absl::Status AddElement(Endpoint e, size_t i) {
    Element element;
    NodeId reader = stack_;
    while (context_.Candidate(e).op == kUpdate) {
      if (reader != stack_ && !context_.HasOnlyReader(e.node, reader)) {
        return WhyNot("a slice between two updates has other readers");
      }
      const Node& starts = context_.node(context_.node(e).inputs[2]);
      if (starts.op != "Pack" && starts.op != "Const") {
        return WhyNot("the position of an update is computed as a whole");
      }
      element.updates.insert(element.updates.begin(), e.node);
      reader = e.node;
      e = context_.node(e).inputs[0];
    }
    const std::optional<IndexedAxis> slice = FindIndexedAxis(context_, e);
    if (!slice.has_value() || slice->axis != axis_ || slice->index != static_cast<int64_t>(i)) {
      return WhyNot(absl::StrCat("element ", i, " is not slice ", i, " of a tensor"));
    }
    if (i == 0) whole_ = slice->source;
    if (slice->source != whole_) return WhyNot("its elements are slices of several tensors");
    if (reader != stack_ && context_.rw.NumReaders(e) != 1) {
      return WhyNot("a slice is read as it was before its update");
    }
    elements_.push_back(std::move(element));
    return absl::OkStatus();
  }

  // An update may depend on earlier elements only.
  absl::Status FindNeeds() {
    for (size_t i = 0; i < elements_.size(); ++i) {
      std::vector<NodeId> todo;
      for (NodeId update : elements_[i].updates) {
        todo.push_back(context_.node(update).inputs[1].node);
        todo.push_back(context_.node(update).inputs[2].node);
      }
      HashSet<NodeId>& seen = elements_[i].needs;
      seen.insert(todo.begin(), todo.end());
      while (!todo.empty()) {
        const Node& n = context_.node(todo.back());
        todo.pop_back();
        for (const Endpoint& e : n.inputs) {
          if (seen.insert(e.node).second) todo.push_back(e.node);
        }
        for (NodeId c : n.control_inputs) {
          if (seen.insert(c).second) todo.push_back(c);
        }
      }
      for (size_t j = i + 1; j < elements_.size(); ++j) {
        const auto& updates = elements_[j].updates;
        if (!updates.empty() && seen.contains(updates.back())) {
          return WhyNot("an update depends on a later element");
        }
      }
    }
    return absl::OkStatus();
  }

  // Readers of element i read its slice after as many updates as they can wait for: those leave the
  // slice as it is, and the next one waits for the reader, so that it can be in place.
  void MoveReaders(size_t i, const std::vector<Endpoint>& versions) {
    const NodeId last = elements_[i].updates.back();
    HashMap<size_t, Endpoint> slices;  // by version
    const auto slice_of = [&](size_t version) {
      const auto [it, added] = slices.try_emplace(version);
      if (added) {
        it->second = AddIndexedAxis(context_, {versions[version], axis_, static_cast<int64_t>(i)});
      }
      return it->second;
    };
    const absl::Span<const Use> found = context_.rw.uses(last);
    for (const Use& use : std::vector<Use>(found.begin(), found.end())) {
      if (use.is_control() || use.reader == stack_) continue;
      size_t version = i;
      while (version + 1 < versions.size() && !elements_[version + 1].needs.contains(use.reader)) {
        ++version;
      }
      context_.rw.SetInput(use.reader, use.slot, slice_of(version));
    }
    if (context_.rw.IsKept(last)) {
      context_.rw.ReplaceAllUses({last, 0}, slice_of(versions.size() - 1));
    }
  }

  Endpoint AddScalar(const std::string& name, DType dtype, int64_t value) {
    return {context_.AddConst(name, dtype == DType::kInt64
                                        ? Tensor::Scalar<int64_t>(value)
                                        : Tensor::Scalar<int32_t>(static_cast<int32_t>(value))),
            0};
  }

  // The update of slice i, as one of `whole`.
  Endpoint AddUpdate(NodeId update, size_t i, Endpoint whole) {
    Node n = context_.node(update);
    const std::string& name = n.name;
    const int64_t index = static_cast<int64_t>(i);
    Node block;
    block.name = name + "/block";
    block.op = "ExpandDims";
    block.inputs = {n.inputs[1], AddScalar(name + "/axis", DType::kInt32, axis_)};
    block.attrs["T"] = context_.shapes.dtype(n.inputs[1]);
    block.attrs["Tdim"] = DType::kInt32;

    const DType dtype = context_.shapes.dtype(n.inputs[2]);
    Node starts = context_.node(n.inputs[2]);
    Endpoint position;
    if (starts.op == "Const") {
      std::vector<int64_t> values = *IntegerValues(*context_.Constant(n.inputs[2]));
      values.insert(values.begin() + axis_, index);
      Tensor t = Tensor::Vector<int64_t>(values);
      if (dtype == DType::kInt32) {
        t = Tensor::Vector<int32_t>(std::vector<int32_t>(values.begin(), values.end()));
      }
      position = {context_.AddConst(starts.name, std::move(t)), 0};
    } else {
      starts.inputs.insert(starts.inputs.begin() + axis_, AddScalar(name + "/index", dtype, index));
      starts.attrs["N"] = static_cast<int64_t>(starts.inputs.size());
      position = {context_.rw.AddNode(std::move(starts)), 0};
    }
    const NodeId expanded = context_.rw.AddNode(std::move(block));
    n.inputs = {whole, {expanded, 0}, position};
    return {context_.rw.AddNode(std::move(n)), 0};
  }

  RuleContext& context_;
  const NodeId stack_;
  int axis_ = 0;
  Endpoint whole_;
  std::vector<Element> elements_;
};

Outcome UpdateStack(RuleContext& context, NodeId id) {
  const auto inputs = context.node(id).inputs;
  if (std::none_of(inputs.begin(), inputs.end(),
                   [&](Endpoint e) { return context.node(e).op == kUpdate; })) {
    return Outcome::NotMine();
  }
  StackOfUpdates stack(context, id);
  if (const absl::Status status = stack.Check(); !status.ok()) {
    return Outcome::Skip(1, std::string(status.message()), id);
  }
  stack.Apply();
  for (const Endpoint& e : inputs) {
    if (context.graph().Has(e.node)) context.RemoveIfDead(e.node);
  }
  return Outcome::Fired();
}

const RuleRegistration update_stack({
    .name = "UpdateStack",
    .doc = "a stack of updated slices of one tensor updates that tensor instead",
    .phase = Phase::kFold,
    .anchors = "Pack",
    .apply = UpdateStack,
});

}  // namespace
}  // namespace tenon
