// The text form of a graph, for dumps, diffs and tests. ParseGraph(PrintGraph(g)) returns a graph
// with the same nodes, in a topological order.
//
//   in image = %x                                      # signature inputs
//   %x = Placeholder() {dtype=float, shape=<?,8,8,3>}
//   %w = Const() {dtype=float, value=float<2,2>{1, 2.5, -inf, 4}}
//   %conv = Conv2D(%x, %w) {T=float, padding="SAME", strides=[1, 2, 2, 1]} on "/cpu:0" ^%ctrl
//   %s = Split(%axis, %conv) {num_split=2}
//   out probs = %s:1                                   # port 1
//   target %init
//   function "body" { ... }                            # a graph of its own
//
// Names that contain other characters than letters, digits and _ . / - > are quoted: %"a b".
// Attribute values:
//   3  1.5  inf  true  "text"  float (a dtype)  <2,?> (a shape; <*>: unknown rank)  @f{n=1}
//   (function) none  [1, 2] (list; an empty one of a type other than int: [:string])
//   float<2,2>{...} (tensor: row-major elements; {= 0.5}: all the same; {random 7 -1 1}: seeded
//   uniform numbers, for reading only). An elided tensor float<1000>{...} cannot be parsed.
// "#" starts a comment. Line breaks have no meaning.
#ifndef TENON_GRAPH_TEXT_H_
#define TENON_GRAPH_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/graph.h"

namespace tenon {

struct PrintOptions {
  // Tensors with more elements are elided; -1: none are.
  int64_t max_elements = -1;
};

std::string PrintGraph(const Graph& graph, const PrintOptions& options = {});
// One node's line, without a line break.
std::string PrintNode(const Graph& graph, const Node& node, const PrintOptions& options = {});
std::string PrintAttr(const AttrValue& value, const PrintOptions& options = {});

struct ParseOptions {
  // For patterns: an undefined name becomes a node of op "_Capture", and a number as an operand
  // becomes a Const with a scalar float value.
  bool pattern = false;
  // A limit on the bytes of all tensors written as {= v} or {random s}.
  int64_t max_generated_bytes = int64_t{1} << 28;
};

// InvalidArgument "line 3: ..." for text that is not in the form above.
absl::StatusOr<Graph> ParseGraph(absl::string_view text, const ParseOptions& options = {});

// Compares two graphs: nodes by name (ids do not matter), signature and functions. Returns "" if
// they are equal, otherwise the first difference.
std::string GraphDifference(const Graph& a, const Graph& b);

}  // namespace tenon

#endif  // TENON_GRAPH_TEXT_H_
