// Imports nodes of a GraphDef into a Draft: everything that the fetches need, with function calls
// inlined. Variables, functions of control-flow ops and the check for missing ops follow later
// (finish.h).
#ifndef TENON_PROTO_IMPORT_IMPORTER_H_
#define TENON_PROTO_IMPORT_IMPORTER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "env/containers.h"
#include "proto/import/draft.h"
#include "proto/messages/tensor_proto.h"

namespace tenon {

namespace tf {
class FunctionDef;
class GraphDef;
class NodeDef;
}  // namespace tf

// A tensor that callers feed: it becomes a Placeholder, whatever computes it in the file.
struct Feed {
  std::string tensor;             // "x:0" or "x"
  std::string name;               // of the graph's input
  DType dtype = DType::kInvalid;  // if the file states it outside the graph
  Shape shape = Shape::Unknown();
};

struct Fetch {
  std::string tensor;  // "y:0" or "y"
  std::string name;    // of the graph's output
};

// An index of nodes by name, for the graph itself and for the body of each function that is called.
struct BodyIndex {
  tf::FunctionDef* function = nullptr;  // null: the graph itself
  std::vector<tf::NodeDef*> nodes;
  HashMap<absl::string_view, int> by_name;  // the messages own the names
};

class Importer {
 public:
  ~Importer();
  // `graph` must outlive the importer, which moves large tensors out of it.
  static absl::StatusOr<std::unique_ptr<Importer>> Create(tf::GraphDef& graph);

  // `targets` are the names of nodes that must run.
  absl::StatusOr<Draft> ImportGraph(absl::Span<const Feed> feeds, absl::Span<const Fetch> fetches,
                                    absl::Span<const std::string> targets);

  // Imports a function's body. Its inputs become Placeholders, except that input i becomes a copy
  // of `captured[i]` (a variable's handle) if that is not null.
  absl::StatusOr<Draft> ImportFunction(const FuncRef& function,
                                       absl::Span<const Node* const> captured);

  // The value of a PlaceholderWithDefault that is not fed, if it is a constant; otherwise, and for
  // other tensors, invalid.
  absl::StatusOr<Tensor> DefaultOf(const std::string& tensor);

  bool HasFunction(const std::string& name) const { return functions_.contains(name); }
  // The function that an XlaCallModule's module becomes; written when it is first asked for.
  absl::StatusOr<FuncRef> CallModule(const tf::NodeDef* def, const Node& node);
  // The function that a For or a MapDefun becomes.
  absl::StatusOr<FuncRef> CallLoop(const Node& node);
  // The function that computes a function's gradient, as the model states it.
  absl::StatusOr<FuncRef> GradientOf(const FuncRef& function) const;
  const BodyIndex& top() const { return top_; }
  tf::GraphDef& graph() { return graph_; }
  TensorReader& tensors() { return tensors_; }

 private:
  explicit Importer(tf::GraphDef& graph) : graph_(graph) {}
  // InvalidArgument if the model does not have the function, or it has two nodes with one name.
  absl::StatusOr<const BodyIndex*> Function(const std::string& name);
  // A name for a written function that no other one has.
  std::string FreshName(const std::string& name) const;
  absl::Status AddFunctions(std::vector<std::unique_ptr<tf::FunctionDef>> written);

  tf::GraphDef& graph_;
  // Nested calls may multiply without end; no real model uses its nodes this many times.
  size_t max_nodes_ = 0;
  size_t calls_left_ = 0;
  BodyIndex top_;
  HashMap<std::string, std::unique_ptr<BodyIndex>> functions_;
  HashMap<std::string, std::string> for_cpus_;  // what is called instead (implementations.h)
  std::vector<std::unique_ptr<tf::FunctionDef>> written_functions_;
  HashMap<const tf::NodeDef*, std::string> modules_;  // and the main ones' names
  TensorReader tensors_;

  friend class BodyImport;
};

// Whether it is a node that callers must feed.
bool IsPlaceholder(const tf::NodeDef& def);

// The shape that callers must feed to a placeholder, by what the node states and what a signature
// does; for other nodes, the latter.
Shape FedShape(const tf::GraphDef& graph, const tf::NodeDef& def, const AttrMap& attrs,
               const Shape& signature);

// The op is a value or only reads variables: once variables are constants, nothing has to wait for
// it.
bool NeedsNoOrder(absl::string_view op);
// Whether an op has side effects, or must keep its order relative to ops that do. Reads of
// variables count as such until freezing has shown that nobody changes the variable. An op that
// Tenon does not know counts too.
bool HasSideEffects(absl::string_view op);

}  // namespace tenon

#endif  // TENON_PROTO_IMPORT_IMPORTER_H_
