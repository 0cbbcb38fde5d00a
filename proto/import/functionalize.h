// Functionalizes TensorFlow 1's control flow: Switch and Merge, frames and tensor arrays become If,
// While and tensor lists, which the rest of Tenon understands.
#ifndef TENON_PROTO_IMPORT_FUNCTIONALIZE_H_
#define TENON_PROTO_IMPORT_FUNCTIONALIZE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "env/containers.h"
#include "proto/import/draft.h"

namespace tenon {

// A function that functionalization created.
struct FunctionalizedBody {
  std::string name;
  Draft draft;
};

// Functionalizes everything. The names of new functions, inner ones first, begin with `prefix`.
// Unimplemented, naming a node, for a construct that TensorFlow 1 does not generate.
absl::Status FunctionalizeControlFlow(Draft& draft, const std::string& prefix,
                                      std::vector<FunctionalizedBody>& bodies);

// The Switches that are left, because no Merge joins what reads them, as when someone fetches a
// tensor of a branch: such a run must take the branch. The nodes' inputs must have been checked.
absl::Status EndBranches(Draft& draft);

// ---- its steps ----
// What TensorFlow lowers Case to becomes conditions one within another.
absl::Status FunctionalizeCases(Draft& draft);
// TensorArrayV3 and its ops become tensor lists, which replace the flow, unless gradients are asked
// for. What is pushed onto a stack that nobody reads is not.
absl::Status FunctionalizeTensorArrays(Draft& draft);
// Frames, innermost first; Switch and Merge inside them are functionalized too.
absl::Status FunctionalizeLoops(Draft& draft, const std::string& prefix,
                                std::vector<FunctionalizedBody>& bodies);
// Switch and Merge outside of loops.
absl::Status FunctionalizeConds(Draft& draft, const std::string& prefix,
                                std::vector<FunctionalizedBody>& bodies);
// Replaces nodes whose outputs another node now provides, in control edges too.
void Redirect(Draft& draft, const HashMap<Endpoint, Endpoint>& forward);
bool Uses(const Draft& draft, absl::string_view op);
// Whether the op is one of a stack's or a tensor array's.
bool IsTensorsOp(absl::string_view op);
// The dtype of a node's output; invalid if its op is not known.
DType DTypeOf(const Draft& draft, Endpoint e);

// Copies a part of a graph into a function's body.
class Extraction {
 public:
  Extraction(const Draft& from, Draft& to) : from_(from), to_(to) {}

  // A new argument, which represents `e`. Several endpoints may map to one argument.
  absl::StatusOr<Endpoint> AddArgument(const std::string& name, DType dtype);
  void Map(Endpoint from, Endpoint to) { mapped_[from] = to; }
  // Nodes that nothing in the body waits for.
  void Ignore(NodeId id) { ignored_.insert(id); }
  bool Ignores(NodeId id) const { return ignored_.contains(id); }

  // The endpoint in the body, copied with everything that it needs. `may_copy` tells which nodes
  // belong to the body; any other node is an error.
  template <typename MayCopy>
  absl::StatusOr<Endpoint> Copy(Endpoint e, MayCopy may_copy) {
    if (auto it = mapped_.find(e); it != mapped_.end()) return it->second;
    std::vector<NodeId> stack = {e.node};
    while (!stack.empty()) {
      const NodeId id = stack.back();
      if (copies_.contains(id)) {
        stack.pop_back();
        continue;
      }
      const Node& n = from_.node(id);
      if (!may_copy(n)) return Refuse(n);
      const size_t before = stack.size();
      for (const Endpoint& input : n.inputs) {
        if (!mapped_.contains(input) && !copies_.contains(input.node)) stack.push_back(input.node);
      }
      for (NodeId c : n.control_inputs) {
        if (!ignored_.contains(c) && !copies_.contains(c)) stack.push_back(c);
      }
      if (stack.size() > before) {
        if (stack.size() > kMaxDepth) return Refuse(n);
        continue;
      }
      stack.pop_back();
      absl::Status status = CopyOne(n);
      if (!status.ok()) return status;
    }
    return Endpoint{copies_[e.node], e.port};
  }

 private:
  static constexpr size_t kMaxDepth = 1 << 22;  // a cycle
  absl::Status CopyOne(const Node& n);
  static absl::Status Refuse(const Node& n);

  const Draft& from_;
  Draft& to_;
  HashMap<Endpoint, Endpoint> mapped_;
  HashSet<NodeId> ignored_;
  HashMap<NodeId, NodeId> copies_;
};

}  // namespace tenon

#endif  // TENON_PROTO_IMPORT_FUNCTIONALIZE_H_
