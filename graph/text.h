// The one text form of a graph, for dumps, diffs and tests. ParseGraph(PrintGraph(g)) gives a graph
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
// Names of other characters than letters, digits and _ . / - > are quoted: %"a b". Attribute
// values:
//   3  1.5  inf  true  "text"  float (a dtype)  <2,?> (a shape; <*>: unknown rank)  @f{n=1}
//   (function) none  [1, 2] (list; an empty one of a kind other than int: [:string])
//   float<2,2>{...} (tensor: row-major elements; {= 0.5}: all the same; {random 7 -1 1}: seeded
//   uniform numbers, read only). An elided tensor float<1000>{...} is for people: it is not parsed.
// "#" starts a comment. Line breaks mean nothing.
#ifndef TENON_GRAPH_TEXT_H_
#define TENON_GRAPH_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/graph.h"

namespace tenon {

struct PrintOptions {
  // Tensors of more elements are elided; -1: never.
  int64_t max_elements = -1;
};

std::string PrintGraph(const Graph& graph, const PrintOptions& options = {});
// One node's line, without a line break.
std::string PrintNode(const Graph& graph, const Node& node, const PrintOptions& options = {});
std::string PrintAttr(const AttrValue& value, const PrintOptions& options = {});

struct ParseOptions {
  // For patterns: a name that nothing defines becomes a node of op "_Capture", a number that stands
  // as an operand a Const with a scalar float value.
  bool pattern = false;
  // Bytes that tensors written as {= v} or {random s} may take, all together.
  int64_t max_generated_bytes = int64_t{1} << 28;
};

// InvalidArgument "line 3: ..." on any text that is not as above.
absl::StatusOr<Graph> ParseGraph(absl::string_view text, const ParseOptions& options = {});

// The same nodes by name, signature and functions, whatever their ids. "" where equal, else what
// differs first.
std::string GraphDifference(const Graph& a, const Graph& b);

}  // namespace tenon

#endif  // TENON_GRAPH_TEXT_H_
