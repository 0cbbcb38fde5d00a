// Imports one body (the graph itself, or a function that is called) into a Draft. Private to
// importer.cc and body_import.cc.
#ifndef TENON_PROTO_IMPORT_BODY_IMPORT_H_
#define TENON_PROTO_IMPORT_BODY_IMPORT_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "env/containers.h"
#include "proto/import/importer.h"

namespace tenon {

class BodyImport {
 public:
  using Controls = absl::InlinedVector<NodeId, 1>;

  BodyImport(Importer& importer, const BodyIndex& body, Draft& draft);

  // A prefix for the names of imported nodes ("call/").
  std::string prefix;
  // The endpoints that a function's arguments are bound to, by name; one endpoint per tensor.
  HashMap<std::string, std::vector<Endpoint>> args;
  // The values of a polymorphic function's attributes.
  AttrMap attrs;
  // The nodes that every node with side effects waits for.
  Controls entry;
  // Tensors ("x:0") that the caller provides.
  HashMap<std::pair<std::string, int>, Endpoint> feeds;
  // The calls that led to this body, outermost first.
  std::vector<std::string> calls;

  // The endpoint that a reference denotes ("x", "x:1", in functions "x:out:1"). Imports it with
  // everything that it needs.
  absl::StatusOr<Endpoint> Import(const std::string& reference);
  // Imports a node and returns the nodes to wait for in its place.
  absl::StatusOr<Controls> ImportControl(const std::string& node);
  // Binds a function's arguments to the inputs of a call.
  absl::Status Bind(absl::Span<const Endpoint> inputs);
  // A function's outputs in order, and the nodes with side effects that a call must run.
  absl::StatusOr<std::vector<Endpoint>> ImportReturns();
  absl::StatusOr<Controls> ImportSideEffects();

 private:
  struct Reference {
    bool control = false;
    std::string name;
    std::string arg;  // of a function's node; may be empty
    int port = 0;
  };
  // The counterpart of an imported node in the draft.
  struct Value {
    bool inlined = false;
    NodeId node = kNoNode;
    std::vector<Endpoint> outputs;  // if inlined
    int num_outputs = -1;           // -1: the op is not known
    std::vector<std::pair<std::string, int>> output_args;
    Controls controls;
  };
  enum class State : char { kNew, kOpen, kDone };

  absl::StatusOr<Reference> Parse(const std::string& text) const;
  absl::StatusOr<int> Find(const std::string& node) const;
  absl::StatusOr<Endpoint> Resolve(const Reference& reference);
  absl::Status Visit(int root);
  absl::Status VisitOne(int root);
  // A loop's back edge is followed only after its target has been imported.
  bool IsBackEdge(int node, int input) const;
  absl::Status Emit(int index);
  absl::Status EmitNode(Node node, Value& value);
  absl::Status EmitCall(const Node& node, const FuncRef& function, bool by_name, Value& value);
  const std::vector<Endpoint>* FindArg(const std::string& name) const;
  std::string Where(int index) const;

  Importer& importer_;
  const BodyIndex& body_;
  Draft& draft_;
  struct BackEdge {
    NodeId merge = kNoNode;
    size_t input = 0;
    int source = 0;  // the NextIteration
  };
  std::vector<BackEdge> back_edges_;  // still to be imported
  std::vector<State> states_;
  std::vector<Value> values_;
};

// The number of tensors that an argument of a function's signature stands for.
absl::StatusOr<int> ArgTensors(const std::string& number_attr, const std::string& type_list_attr,
                               const AttrMap& attrs);

}  // namespace tenon

#endif  // TENON_PROTO_IMPORT_BODY_IMPORT_H_
