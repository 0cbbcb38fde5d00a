// The alternatives of a rule of form 1. The ops that they need are extracted from their text; they
// are compiled when the rule is first tried, because most graphs need few of the rules.
#ifndef TENON_GRAPH_REWRITE_PATTERN_SET_H_
#define TENON_GRAPH_REWRITE_PATTERN_SET_H_

#include <string>
#include <vector>

#include "absl/base/call_once.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph_rewrite/compiled_pattern.h"
#include "graph_rewrite/rule.h"

namespace tenon {

class PatternSet {
 public:
  explicit PatternSet(const Rule& rule);

  // Op nodes of the largest alternative.
  int size() const { return size_; }
  // The possible ops of the result, where matches start.
  const std::vector<std::string>& anchors() const { return anchors_; }
  // False if each alternative needs some op that is not in the graph.
  bool CanMatch(absl::FunctionRef<bool(absl::string_view)> has_op) const;
  // Any thread may call it.
  const absl::StatusOr<std::vector<CompiledPattern>>& Compiled() const;

 private:
  using Ops = std::vector<std::string>;  // any one of these

  const Rule rule_;
  int size_ = 0;
  std::vector<std::string> anchors_;
  std::vector<std::vector<Ops>> needs_;  // per alternative, per node
  mutable absl::once_flag once_;
  mutable absl::StatusOr<std::vector<CompiledPattern>> compiled_;
};

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_PATTERN_SET_H_
