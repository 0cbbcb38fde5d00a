#include "graph_rewrite/context.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "env/status.h"
#include "ops/op.h"

namespace tenon {

std::shared_ptr<const Graph> RuleContext::FindFunction(absl::string_view name) const {
  const auto found = shapes.functions().find(name);
  return found == shapes.functions().end() ? nullptr : found->second;
}

bool RuleContext::IsCandidate(NodeId id, std::string* why) const {
  const Node& n = node(id);
  if (n.control_inputs.empty()) return true;
  NoteBlock(ReasonKind::kControlIn, id);
  if (why != nullptr) *why = absl::StrCat("'", n.name, "' (", n.op, ") has control inputs");
  return false;
}

const Node& RuleContext::Candidate(NodeId id) {
  static const Node* const none = new Node;
  std::string why;
  if (IsCandidate(id, explaining ? &why : nullptr)) return node(id);
  Refuse(id, std::move(why), ReasonKind::kControlIn);
  return *none;
}

absl::StatusOr<std::vector<NodeId>> RuleContext::Candidates() const {
  TENON_ASSIGN_OR_RETURN(std::vector<NodeId> order, graph().TopologicalOrder());
  std::erase_if(order, [this](NodeId id) { return !IsCandidate(id); });
  return order;
}

bool RuleContext::IsUnordered(NodeId id) {
  if (Candidate(id).op.empty()) return false;
  const auto& targets = graph().targets();
  const absl::Span<const Use> all = rw.uses(id);
  const bool is_target = std::find(targets.begin(), targets.end(), id) != targets.end();
  if (!is_target && std::none_of(all.begin(), all.end(), [](Use u) { return u.is_control(); })) {
    return true;
  }
  Refuse(id,
         absl::StrCat("'", node(id).name, "' (", node(id).op, ") ",
                      is_target ? "is a target" : "has a control edge out"),
         is_target ? ReasonKind::kTarget : ReasonKind::kControlOut);
  return false;
}

bool RuleContext::HasOnlyReader(NodeId id, NodeId reader) {
  std::string why;
  if (OnlyReader(id, explaining ? &why : nullptr) == reader) return true;
  Refuse(id, std::move(why), BlockOf(id));
  return false;
}

void RuleContext::Refuse(NodeId id, std::string reason, ReasonKind kind) {
  if (!explaining) return;
  refusal_ = Outcome::Skip(2, std::move(reason), id, kind);
  NoteBlock(kind, id);
}

void RuleContext::NoteBlock(ReasonKind kind, NodeId node) const {
  if (!explaining) return;
  const Block block{kind, node};
  if (std::find(blocks_.begin(), blocks_.end(), block) == blocks_.end()) blocks_.push_back(block);
}

ReasonKind RuleContext::BlockOf(NodeId id) const {
  const auto& targets = graph().targets();
  if (std::find(targets.begin(), targets.end(), id) != targets.end()) return ReasonKind::kTarget;
  if (rw.IsKept(id)) return ReasonKind::kOutput;
  const absl::Span<const Use> uses = rw.uses(id);
  const bool control = std::any_of(uses.begin(), uses.end(), [](Use u) { return u.is_control(); });
  return control ? ReasonKind::kControlOut : ReasonKind::kReader;
}

NodeId RuleContext::OnlyReader(NodeId id, std::string* why) const {
  const absl::Span<const Use> uses = rw.uses(id);
  if (uses.size() == 1 && !uses[0].is_control() && uses[0].port == 0 && !rw.IsKept(id)) {
    if (!loop_invariants_.EndAt(graph(), id, uses[0].reader)) return uses[0].reader;
    if (why != nullptr) {
      *why = absl::StrCat("'", node(id).name, "' (", node(id).op,
                          ") is the same in all iterations of the loop, and its reader is not");
    }
    return kNoNode;
  }
  if (explaining) NoteBlock(BlockOf(id), id);
  if (why != nullptr) {
    const std::string who = absl::StrCat("'", node(id).name, "' (", node(id).op, ")");
    if (rw.IsKept(id)) {
      *why = absl::StrCat(who, " is an output of the graph");
    } else if (uses.empty()) {
      *why = absl::StrCat(who, " has no reader");
    } else if (uses.size() > 1) {
      *why = absl::StrCat(who, " has ", uses.size(), " readers");
    } else {
      *why = absl::StrCat(who, " is read through a control edge or another port");
    }
  }
  return kNoNode;
}

NodeId RuleContext::AddConst(absl::string_view hint, Tensor value) {
  return tenon::AddConst(rw, hint, std::move(value));
}

absl::StatusOr<NodeId> RuleContext::AddNode(Node node) {
  const OpLookup op = FindOp(node.op);
  if (!op) return Unimplemented("op ", node.op, " is not known");
  TENON_RETURN_IF_ERROR(CompleteAttrs(*op.info, node));
  return rw.AddNode(std::move(node));
}

NodeId AddConst(Rewriter& rw, absl::string_view hint, Tensor value) {
  Node n;
  n.name = std::string(hint);
  n.op = "Const";
  n.attrs["dtype"] = value.dtype();
  n.attrs["value"] = std::move(value);
  return rw.AddNode(std::move(n));
}

}  // namespace tenon
