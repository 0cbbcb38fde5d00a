#include "graph_rewrite/compiled_pattern.h"

#include <algorithm>

#include "absl/strings/str_split.h"
#include "env/status.h"
#include "graph/text.h"
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

absl::StatusOr<CompiledPattern> CompilePattern(const Rule& rule, absl::string_view text,
                                               const Graph& replacement) {
  CompiledPattern out;
  TENON_ASSIGN_OR_RETURN(const Graph g, ParseGraph(text, {.pattern = true}));
  int last_op = -1;
  for (NodeId id : g.NodeIds()) {
    const Node& n = g.node(id);
    CompiledPattern::PNode p;
    p.name = n.name;
    for (const Endpoint& e : n.inputs) p.inputs.emplace_back(e.node, e.port);
    if (n.op == "_Capture") {
      p.kind = CompiledPattern::PNode::kCapture;
    } else if (n.op == "Const") {
      const Tensor* literal = n.attr<Tensor>("value");
      p.kind =
          literal == nullptr ? CompiledPattern::PNode::kConst : CompiledPattern::PNode::kLiteral;
      if (literal != nullptr) p.literal = literal->data<float>()[0];
    } else {
      p.kind = CompiledPattern::PNode::kOp;
      p.ops = absl::StrSplit(n.op, '|');
      p.attrs = n.attrs;
      ++out.size;
      last_op = id;
    }
    out.nodes.push_back(std::move(p));
  }
  if (last_op < 0) return InvalidArgument("a pattern needs an op");
  for (const GraphOutput& o : g.outputs()) {
    out.outs.emplace_back(o.name, std::make_pair(o.source.node, o.source.port));
    out.nodes[static_cast<size_t>(o.source.node)].shared = true;
  }
  // The match starts at the node that no other node reads. (Others may be outputs as well.)
  std::vector<bool> read(out.nodes.size(), false);
  for (const auto& p : out.nodes) {
    for (const auto& [node, port] : p.inputs) read[static_cast<size_t>(node)] = true;
  }
  for (size_t i = 0; i < read.size(); ++i) {
    if (read[i]) continue;
    if (out.root >= 0) return InvalidArgument("two nodes of the pattern are read by no other");
    out.root = static_cast<int>(i);
  }
  if (out.root < 0) return InvalidArgument("the pattern has a cycle");
  if (out.root != last_op) return InvalidArgument("the result must be the last op of the pattern");
  if (out.outs.empty()) out.outs.emplace_back("", std::make_pair(out.root, 0));
  out.nodes[static_cast<size_t>(out.root)].shared = true;

  out.replacement = replacement;
  if (out.replacement.outputs().empty()) {
    if (out.outs.size() != 1) return InvalidArgument("the replacement lacks out lines");
    NodeId last = kNoNode;
    for (NodeId id : out.replacement.NodeIds()) {
      const std::string& op = out.replacement.node(id).op;
      if (op != "_Capture" && op != "Const") last = id;
    }
    if (last == kNoNode) return InvalidArgument("the replacement has no node");
    out.replacement.AddOutput({out.outs[0].first, {last, 0}});
  }
  for (const auto& [name, at] : out.outs) {
    const auto& outputs = out.replacement.outputs();
    if (std::none_of(outputs.begin(), outputs.end(),
                     [&, n = name](const GraphOutput& o) { return o.name == n; })) {
      return InvalidArgument("the replacement lacks 'out ", name, "'");
    }
  }
  // The replacement may read only names of the pattern and constants of the fold hook.
  for (NodeId id : out.replacement.NodeIds()) {
    const Node& n = out.replacement.node(id);
    if (n.op != "_Capture" || rule.fold != nullptr) continue;
    if (std::none_of(out.nodes.begin(), out.nodes.end(),
                     [&](const auto& p) { return p.name == n.name; })) {
      return InvalidArgument("%", n.name, " appears only in the replacement");
    }
  }
  return out;
}

}  // namespace

absl::StatusOr<std::vector<CompiledPattern>> CompilePatterns(const Rule& rule) {
  if (rule.replacement == nullptr) return InvalidArgument("no replacement");
  TENON_ASSIGN_OR_RETURN(const Graph replacement, ParseGraph(rule.replacement, {.pattern = true}));
  std::vector<CompiledPattern> alternatives;
  for (absl::string_view text : absl::StrSplit(rule.pattern, "||")) {
    TENON_ASSIGN_OR_RETURN(CompiledPattern compiled, CompilePattern(rule, text, replacement));
    alternatives.push_back(std::move(compiled));
  }
  return alternatives;
}

}  // namespace tenon
