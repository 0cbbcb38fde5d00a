// Patterns and replacements: rules written as two little graphs (graph_rewrite/rule.h, form 1).
#ifndef TENON_GRAPH_REWRITE_PATTERN_H_
#define TENON_GRAPH_REWRITE_PATTERN_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph_rewrite/context.h"

namespace tenon {

struct Rule;

// A parsed rule of form 1, or one alternative of it.
struct CompiledPattern {
  struct PNode {
    enum Kind { kCapture, kConst, kLiteral, kOp } kind = kOp;
    std::string name;
    std::vector<std::string> ops;
    std::vector<std::pair<int, int>> inputs;  // (pattern node, port)
    AttrMap attrs;
    float literal = 0;
    bool shared = false;  // named by an "out" line: others may read it too
  };
  std::vector<PNode> nodes;
  std::vector<std::pair<std::string, std::pair<int, int>>> outs;  // name -> (pattern node, port)
  int root = -1;
  int size = 0;  // op nodes
  Graph replacement;
  std::vector<DType> dtypes;  // empty: any
};
absl::StatusOr<std::vector<CompiledPattern>> CompilePatterns(const Rule& rule);

// A pattern that matched: what its names stand for.
class Match {
 public:
  Match(RuleContext& context, const CompiledPattern& pattern)
      : context_(context), pattern_(pattern), bound_(pattern.nodes.size()) {}

  // Whether the alternative that matched has the name.
  bool has(absl::string_view name) const;
  // Of a captured or matched name; the names are the rule's own, so they must exist.
  Endpoint at(absl::string_view name) const;
  const Node& node(absl::string_view name) const { return context_.node(at(name)); }
  // Its value if it is a Const node, else null.
  const Tensor* constant(absl::string_view name) const { return context_.Constant(at(name)); }
  const Shape& shape(absl::string_view name) const { return context_.shapes.shape(at(name)); }
  DType dtype(absl::string_view name) const { return context_.shapes.dtype(at(name)); }
  bool SameShape(absl::string_view a, absl::string_view b) const {
    return context_.shapes.SameShape(at(a), at(b));
  }
  const Node& root() const { return context_.node(bound_[static_cast<size_t>(pattern_.root)]); }
  RuleContext& context() const { return context_; }

 private:
  friend class Matcher;
  RuleContext& context_;
  const CompiledPattern& pattern_;
  std::vector<Endpoint> bound_;
};

// What a `fold` hook fills in.
class Replacement {
 public:
  // Attribute of a node of the replacement.
  void SetAttr(absl::string_view node, absl::string_view attr, AttrValue value) {
    attrs_[std::string(node)].insert_or_assign(std::string(attr), std::move(value));
  }
  // The name stands for a new Const of this value.
  void SetConst(absl::string_view name, Tensor value) {
    consts_.insert_or_assign(std::string(name), std::move(value));
  }

 private:
  friend Outcome TryPattern(const Rule&, const CompiledPattern&, RuleContext&, NodeId);
  friend class Emitter;
  absl::flat_hash_map<std::string, AttrMap> attrs_;
  absl::flat_hash_map<std::string, Tensor> consts_;
};

Outcome TryPattern(const Rule& rule, const CompiledPattern& pattern, RuleContext& context,
                   NodeId root);

// One element of a floating tensor as a double. `t` must be floating.
double FloatElement(const Tensor& t, int64_t i);
void SetFloatElement(Tensor& t, int64_t i, double value);
// All elements are `value`, to a relative 1e-6 or as the dtype rounds it.
bool IsFilledWith(const Tensor& t, double value);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_PATTERN_H_
