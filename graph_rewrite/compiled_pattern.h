// Compiled patterns: rules of form 1 (graph_rewrite/rule.h) with pattern and replacement parsed.
#ifndef TENON_GRAPH_REWRITE_COMPILED_PATTERN_H_
#define TENON_GRAPH_REWRITE_COMPILED_PATTERN_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"

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
    bool shared = false;  // named by an "out" line: other nodes may read it, too
  };
  std::vector<PNode> nodes;
  std::vector<std::pair<std::string, std::pair<int, int>>> outs;  // name -> (pattern node, port)
  int root = -1;
  int size = 0;  // op nodes
  Graph replacement;
};
absl::StatusOr<std::vector<CompiledPattern>> CompilePatterns(const Rule& rule);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_COMPILED_PATTERN_H_
