// Changes a loop: gives it further variables and changes its body, so that work can leave it.
#ifndef TENON_GRAPH_REWRITE_LOOP_EDITOR_H_
#define TENON_GRAPH_REWRITE_LOOP_EDITOR_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph_rewrite/context.h"

namespace tenon {

// The body of a loop as it will be: a copy, until Commit puts it in the loop's place.
class LoopEditor {
 public:
  LoopEditor(RuleContext& context, NodeId loop) : context_(context), loop_(loop) {}

  // To be called first. FailedPrecondition with the reason if the loop's functions cannot be
  // changed, or if the body takes no items of lists, which all work that leaves loops depends on.
  absl::Status Open();

  const Graph& cond() const { return *cond_; }
  Graph& body() { return body_; }
  Rewriter& rw() { return *rw_; }
  ShapeInfo& shapes() { return *shapes_; }
  int num_variables() const { return static_cast<int>(body_.inputs().size()); }
  // What an iteration gets for the variable, and what it makes of it, without Identities.
  Endpoint argument(int variable) const {
    return {body_.inputs()[static_cast<size_t>(variable)].node, 0};
  }
  Endpoint result(int variable) const;
  bool IsInvariant(int variable) const { return result(variable) == argument(variable); }
  // The variable that the endpoint is the argument of; -1: none.
  int VariableOf(Endpoint e) const;
  // Whether the loop's condition reads the variable.
  bool DecidesEnd(int variable) const;

  // Adds a variable that begins as `initial`, of the loop's graph. Returns its number. Iterations
  // pass it on, unless SetNext says what they make of it.
  int AddVariable(absl::string_view name, Endpoint initial, DType dtype);
  void SetNext(int variable, Endpoint e);

  // Replaces what the body reads of `from`, and removes what nobody reads any more.
  void Replace(Endpoint from, Endpoint to);
  // Makes the loop one with this body. The editor is of no use afterwards.
  void Commit();

  static Endpoint WithoutIdentities(const Graph& graph, Endpoint e);

 private:
  RuleContext& context_;
  const NodeId loop_;
  std::shared_ptr<const Graph> cond_;
  Graph body_;
  std::optional<Rewriter> rw_;
  std::optional<ShapeInfo> shapes_;

  size_t num_outputs_ = 0;  // of the body as it was
  struct Added {
    std::string name;
    Endpoint initial;
    DType dtype;
    Endpoint next;
  };
  std::vector<Added> added_;
};

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_LOOP_EDITOR_H_
