#include "tools/dot.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "ops/op.h"

namespace tenon {
namespace {

std::string Quoted(absl::string_view text) {
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\"", "\\\""}}), "\"");
}

std::string Label(const Node& node) {
  std::string label = absl::StrCat(node.op, "\n", node.name);
  if (const auto* fused = node.attr<std::vector<std::string>>("fused_ops")) {
    absl::StrAppend(&label, "\n+ ", absl::StrJoin(*fused, ", "));
  }
  // Quoting must keep the line break.
  return absl::StrReplaceAll(Quoted(label), {{"\n", "\\n"}});
}

}  // namespace

std::string DotText(const Graph& graph) {
  std::string out = "digraph model {\n  node [shape=box, fontname=Helvetica];\n";
  for (NodeId id : graph.NodeIds()) {
    const Node& node = graph.node(id);
    if (node.op == "Const") continue;
    const OpLookup op = FindOp(node.op);
    absl::StrAppend(&out, "  n", id, " [label=", Label(node),
                    op && op.native ? ", style=filled, fillcolor=lightblue" : "", "];\n");
    for (const Endpoint& e : node.inputs) {
      if (!graph.Has(e.node) || graph.node(e.node).op == "Const") continue;
      absl::StrAppend(&out, "  n", e.node, " -> n", id, ";\n");
    }
    for (NodeId control : node.control_inputs) {
      if (!graph.Has(control) || graph.node(control).op == "Const") continue;
      absl::StrAppend(&out, "  n", control, " -> n", id, " [style=dotted];\n");
    }
  }
  for (const GraphOutput& output : graph.outputs()) {
    absl::StrAppend(&out, "  ", Quoted(absl::StrCat("output ", output.name)),
                    " [shape=ellipse];\n  n", output.source.node, " -> ",
                    Quoted(absl::StrCat("output ", output.name)), ";\n");
  }
  return out + "}\n";
}

}  // namespace tenon
