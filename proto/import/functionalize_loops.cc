// Turns a frame into a While. For one loop variable, TensorFlow 1 generates:
//
//   Enter -> Merge <- NextIteration <- body <- Switch:1 <- Merge, LoopCond
//                                     Exit <- Switch:0
//
// and only an Enter for a value that the loop does not change.
#include <algorithm>
#include <optional>
#include <utility>

#include "env/containers.h"
#include "env/status.h"
#include "proto/import/functionalize.h"

namespace tenon {
namespace {

struct LoopVariable {
  NodeId enter = kNoNode, merge = kNoNode, next = kNoNode, branch = kNoNode, exit = kNoNode;
};
struct Frame {
  std::string name;
  std::string parent;  // "": none
  NodeId loop_cond = kNoNode;
  std::vector<NodeId> enters;
  std::vector<LoopVariable> variables;
  int depth = 0;
};

class LoopFunctionalization {
 public:
  LoopFunctionalization(Draft& draft, const std::string& prefix,
                        std::vector<FunctionalizedBody>& bodies)
      : draft_(draft), prefix_(prefix), bodies_(bodies) {}

  absl::Status Run() {
    TENON_RETURN_IF_ERROR(FindFrames());
    std::vector<Frame*> order;
    for (auto& [name, frame] : frames_) order.push_back(&frame);
    std::stable_sort(order.begin(), order.end(),
                     [](const Frame* a, const Frame* b) { return a->depth > b->depth; });
    for (Frame* frame : order) {
      absl::Status status = Functionalize(*frame);
      if (!status.ok()) return Annotate(status, absl::StrCat("loop '", frame->name, "'"));
    }
    return absl::OkStatus();
  }

 private:
  const std::string& FrameOf(NodeId id) const { return frame_of_[static_cast<size_t>(id)]; }

  int Depth(const std::string& frame) const {
    auto it = frames_.find(frame);
    return it == frames_.end() ? 0 : it->second.depth;
  }

  // The frame that a node runs in: its inputs' frame, the Enter's own, or for an Exit the parent.
  // Iterates until nothing changes, because loops have cycles.
  absl::Status FindFrames() {
    const size_t n = static_cast<size_t>(draft_.end_id());
    frame_of_.assign(n, "");
    for (size_t i = 0; i < n; ++i) {
      const Node& node = draft_.node(static_cast<NodeId>(i));
      if (node.op != "Enter") continue;
      const std::string* name = node.attr<std::string>("frame_name");
      if (name == nullptr || name->empty() || node.inputs.size() != 1) {
        return InvalidArgument(NodeLabel(node), ": names no frame");
      }
      frame_of_[i] = *name;
      Frame& frame = frames_[*name];
      frame.name = *name;
      frame.depth = 1;
      frame.enters.push_back(node.id);
    }
    if (frames_.empty()) return absl::OkStatus();
    for (size_t round = 0, changed = 1; changed != 0; ++round) {
      if (round > n + 2) return InvalidArgument("frames contain each other");
      changed = 0;
      for (size_t i = 0; i < n; ++i) changed += Settle(static_cast<NodeId>(i)) ? 1 : 0;
    }
    for (NodeId id = 0; id < draft_.end_id(); ++id) {
      if (draft_.node(id).op != "LoopCond") continue;
      auto it = frames_.find(FrameOf(id));
      if (it != frames_.end()) it->second.loop_cond = id;
    }
    return absl::OkStatus();
  }

  // Returns true if something changed.
  bool Settle(NodeId id) {
    const Node& node = draft_.node(id);
    std::string deepest;
    auto see = [&](NodeId input) {
      std::string from = FrameOf(input);
      if (draft_.node(input).op == "Exit") from = ExitFrame(input);
      if (Depth(from) > Depth(deepest)) deepest = from;
    };
    for (const Endpoint& e : node.inputs) see(e.node);
    for (NodeId c : node.control_inputs) see(c);
    if (node.op == "Enter") {
      Frame& frame = frames_[FrameOf(id)];
      if (deepest == frame.name || Depth(deepest) < frame.depth) {
        if (deepest.empty() || deepest == frame.parent || deepest == frame.name) return false;
      }
      frame.parent = deepest;
      frame.depth = Depth(deepest) + 1;
      return true;
    }
    std::string& now = frame_of_[static_cast<size_t>(id)];
    if (deepest == now || Depth(deepest) < Depth(now)) return false;
    now = deepest;
    return true;
  }

  // Here an Exit is in its loop's frame; its readers are in the parent.
  std::string ExitFrame(NodeId exit) const {
    auto it = frames_.find(FrameOf(exit));
    return it == frames_.end() ? "" : it->second.parent;
  }

  absl::Status FindVariables(Frame& frame) {
    HashMap<NodeId, size_t> by_merge, by_branch;
    for (NodeId id = 0; id < draft_.end_id(); ++id) {
      const Node& n = draft_.node(id);
      if (n.op != "Merge" || FrameOf(id) != frame.name || n.inputs.size() != 2) continue;
      LoopVariable v{.merge = id};
      for (const Endpoint& e : n.inputs) {
        const std::string& op = draft_.node(e.node).op;
        if (op == "Enter" && FrameOf(e.node) == frame.name) v.enter = e.node;
        if (op == "NextIteration") v.next = e.node;
      }
      if (v.enter == kNoNode || v.next == kNoNode) continue;  // it belongs to a branch
      by_merge[id] = frame.variables.size();
      frame.variables.push_back(v);
    }
    for (NodeId id = 0; id < draft_.end_id(); ++id) {
      const Node& n = draft_.node(id);
      if (n.op != "Switch" || n.inputs.size() != 2) continue;
      auto it = by_merge.find(n.inputs[0].node);
      if (it == by_merge.end() || n.inputs[1].node != frame.loop_cond) continue;
      frame.variables[it->second].branch = id;
      by_branch[id] = it->second;
    }
    for (NodeId id = 0; id < draft_.end_id(); ++id) {
      const Node& n = draft_.node(id);
      if (n.op != "Exit" || n.inputs.size() != 1) continue;
      auto it = by_branch.find(n.inputs[0].node);
      if (it != by_branch.end()) frame.variables[it->second].exit = id;
    }
    if (frame.loop_cond == kNoNode || frame.variables.empty()) {
      return Unimplemented("has no LoopCond, or no variable");
    }
    return absl::OkStatus();
  }

  // The body for the condition, or for one iteration.
  absl::StatusOr<Draft> MakeBody(const Frame& frame, const std::vector<NodeId>& constants,
                                 bool condition) {
    Draft body(static_cast<size_t>(draft_.end_id()) * 4 + 64);
    Extraction extraction(draft_, body);
    std::vector<Endpoint> arguments;
    for (const LoopVariable& v : frame.variables) {
      const Endpoint e{v.merge, 0};
      TENON_ASSIGN_OR_RETURN(
          const Endpoint argument,
          extraction.AddArgument(draft_.node(v.enter).name, DTypeOf(draft_, {v.enter, 0})));
      arguments.push_back(argument);
      extraction.Map(e, argument);
      if (v.branch != kNoNode) {
        extraction.Map({v.branch, 1}, argument);
        extraction.Ignore(v.branch);
      }
      extraction.Ignore(v.merge);
      extraction.Ignore(v.enter);
    }
    for (NodeId enter : constants) {
      TENON_ASSIGN_OR_RETURN(
          const Endpoint argument,
          extraction.AddArgument(draft_.node(enter).name, DTypeOf(draft_, {enter, 0})));
      arguments.push_back(argument);
      extraction.Map({enter, 0}, argument);
      extraction.Ignore(enter);
    }
    extraction.Ignore(frame.loop_cond);
    // Constants without inputs are outside of all frames. op names: the frame's own ops.
    auto may_copy = [&](const Node& n) {
      return n.op == "Const" || (FrameOf(n.id) == frame.name && n.op != "Enter" &&
                                 n.op != "LoopCond" && n.op != "NextIteration");
    };
    if (condition) {
      TENON_ASSIGN_OR_RETURN(const Endpoint e,
                             extraction.Copy(draft_.node(frame.loop_cond).inputs[0], may_copy));
      body.outputs.push_back({"cond", e});
    } else {
      for (size_t i = 0; i < arguments.size(); ++i) {
        Endpoint e = arguments[i];
        if (i < frame.variables.size()) {
          const Node& next = draft_.node(frame.variables[i].next);
          TENON_ASSIGN_OR_RETURN(e, extraction.Copy(next.inputs[0], may_copy));
          for (const NodeId c : next.control_inputs) {  // each iteration runs it
            if (FrameOf(c) != frame.name || extraction.Ignores(c)) continue;
            TENON_ASSIGN_OR_RETURN(const Endpoint done, extraction.Copy({c, 0}, may_copy));
            body.targets.push_back(done.node);
          }
        }
        body.outputs.push_back({absl::StrCat("r", i), e});
      }
    }
    const HashMap<Endpoint, int> around = BranchesAround(frame);
    for (size_t i = 0; i < constants.size(); ++i) {
      const Node& enter = draft_.node(constants[i]);
      const auto it = around.find(draft_.SkipIdentities(enter.inputs[0]));
      if (it == around.end()) continue;
      const Endpoint predicate = arguments[frame.variables.size() + i];
      if (!HasOtherBranch(body, predicate, it->second)) PassSwitches(body, predicate);
    }
    TENON_RETURN_IF_ERROR(
        FunctionalizeConds(body, absl::StrCat(prefix_, frame.name, "/"), bodies_));
    PassSwitches(body, std::nullopt);
    return body;
  }

  // In gradients, Switches of conditions around the loop. Their branch is the one that the loop is
  // in. Those of `predicate`, or what is left.
  static void PassSwitches(Draft& body, std::optional<Endpoint> predicate) {
    HashMap<Endpoint, Endpoint> forward;
    for (NodeId id = 0; id < body.end_id(); ++id) {
      Node& n = body.node(id);
      if (n.op != "Switch" || n.inputs.size() != 2) continue;
      if (predicate.has_value() && body.SkipIdentities(n.inputs[1]) != *predicate) continue;
      n.op = "Identity";
      n.inputs = {n.inputs[0]};
      forward[{id, 1}] = {id, 0};
    }
    body.Forward(forward);
  }

  // The predicates of the branches that the frame is in, and which branch it is.
  HashMap<Endpoint, int> BranchesAround(const Frame& frame) const {
    HashMap<Endpoint, int> around;
    HashSet<NodeId> seen(frame.enters.begin(), frame.enters.end());
    std::vector<NodeId> stack = frame.enters;
    while (!stack.empty()) {
      const Node& n = draft_.node(stack.back());
      stack.pop_back();
      const auto see = [&](NodeId id) {
        // What a Merge gives is there whatever the condition.
        if (draft_.node(id).op != "Merge" && seen.insert(id).second) stack.push_back(id);
      };
      for (const Endpoint& e : n.inputs) {
        const Node& source = draft_.node(e.node);
        if (source.op == "Switch" && source.inputs.size() == 2) {
          around.emplace(draft_.SkipIdentities(source.inputs[1]), e.port);
        }
        see(e.node);
      }
      for (const NodeId c : n.control_inputs) see(c);
    }
    return around;
  }

  // Whether a branch in the body is another one than the loop's, so that the condition is within.
  static bool HasOtherBranch(const Draft& body, Endpoint predicate, int branch) {
    for (NodeId id = 0; id < body.end_id(); ++id) {
      for (const Endpoint& e : body.node(id).inputs) {
        const Node& n = body.node(e.node);
        if (n.op == "Switch" && n.inputs.size() == 2 && e.port != branch &&
            body.SkipIdentities(n.inputs[1]) == predicate) {
          return true;
        }
      }
    }
    return false;
  }

  absl::Status Functionalize(Frame& frame) {
    TENON_RETURN_IF_ERROR(FindVariables(frame));
    std::vector<NodeId> constants;
    for (NodeId enter : frame.enters) {
      const bool variable = std::any_of(frame.variables.begin(), frame.variables.end(),
                                        [&](const LoopVariable& v) { return v.enter == enter; });
      if (!variable) constants.push_back(enter);
    }
    Node loop;
    loop.name = absl::StrCat(frame.name, "/while");
    loop.op = "While";
    for (bool condition : {true, false}) {
      const std::string name = absl::StrCat(prefix_, frame.name, condition ? "_cond" : "_body");
      TENON_ASSIGN_OR_RETURN(Draft body, MakeBody(frame, constants, condition));
      bodies_.push_back({name, std::move(body)});
      loop.attrs[condition ? "cond" : "body"] = FuncRef{name, nullptr};
    }
    std::vector<DType> types;
    auto add_input = [&](NodeId enter) {
      const Node& n = draft_.node(enter);
      types.push_back(DTypeOf(draft_, {enter, 0}));
      loop.inputs.push_back(n.inputs[0]);
      loop.control_inputs.insert(loop.control_inputs.end(), n.control_inputs.begin(),
                                 n.control_inputs.end());
    };
    for (const LoopVariable& v : frame.variables) add_input(v.enter);
    for (NodeId enter : constants) add_input(enter);
    loop.attrs["T"] = std::move(types);
    TENON_ASSIGN_OR_RETURN(const NodeId id, draft_.Add(std::move(loop), /*effect=*/true));
    frame_of_.push_back(frame.parent);
    HashMap<Endpoint, Endpoint> forward;
    for (size_t i = 0; i < frame.variables.size(); ++i) {
      if (frame.variables[i].exit != kNoNode) {
        forward[{frame.variables[i].exit, 0}] = {id, static_cast<int>(i)};
      }
    }
    Redirect(draft_, forward);
    return absl::OkStatus();
  }

  Draft& draft_;
  const std::string prefix_;
  std::vector<FunctionalizedBody>& bodies_;
  std::vector<std::string> frame_of_;  // by node
  OrderedMap<std::string, Frame> frames_;
};

}  // namespace

absl::Status FunctionalizeLoops(Draft& draft, const std::string& prefix,
                                std::vector<FunctionalizedBody>& bodies) {
  return LoopFunctionalization(draft, prefix, bodies).Run();
}

}  // namespace tenon
