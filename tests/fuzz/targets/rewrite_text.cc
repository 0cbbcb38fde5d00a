// Graphs in text form (graph/text.h): parsed, printed and parsed again; then run rewritten and
// unrewritten. The corpus starts with the cases of tests/rewrite.
#include "graph/text.h"
#include "ops/op.h"
#include "tests/fuzz/targets/rewrite_check.h"
#include "tests/fuzz/targets/target.h"
#include "tests/support/interpreter.h"

namespace tenon {
namespace {

constexpr int64_t kMostElements = 1 << 14;
constexpr size_t kMostNodes = 64;

bool SmallPlaceholders(const Graph& graph) {
  for (const NodeId id : graph.NodeIds()) {
    const Shape* shape = graph.node(id).attr<Shape>("shape");
    if (shape == nullptr || !shape->has_rank()) continue;
    int64_t elements = 1;
    for (const int64_t d : shape->dims()) {
      elements *= d < 0 ? 2 : d;
      if (d > kMostElements || elements > kMostElements) return false;
    }
  }
  return true;
}

// Every result that nothing reads, if the text names no outputs.
void AddOutputs(Graph& graph) {
  if (!graph.outputs().empty()) return;
  const Rewriter rewriter(graph);
  for (const NodeId id : graph.NodeIds()) {
    if (!rewriter.uses(id).empty()) continue;
    const OpLookup op = FindOp(graph.node(id).op);
    if (!op) continue;
    const auto dtypes = OutputDTypes(*op.info, graph.node(id));
    if (dtypes.ok() && !dtypes->empty()) graph.AddOutput({graph.node(id).name, {id, 0}});
  }
}

int FuzzRewriteText(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  ParseOptions options;
  options.max_generated_bytes = 1 << 16;
  auto graph = ParseGraph(text, options);
  if (!graph.ok()) {
    if (graph.status().message().empty()) FuzzFailure("an error without a message");
    return 0;
  }
  if (!graph->TopologicalOrder().ok()) return 0;
  const std::string printed = PrintGraph(*graph);
  const auto again = ParseGraph(printed, options);
  if (!again.ok()) FuzzFailure(absl::StrCat(again.status().ToString(), "\n", printed));
  const std::string difference = GraphDifference(*graph, *again);
  if (!difference.empty()) FuzzFailure(absl::StrCat(difference, "\n", printed));

  if (graph->num_nodes() > kMostNodes || !SmallPlaceholders(*graph)) return 0;
  if (!testing::CompleteGraph(*graph).ok()) return 0;
  AddOutputs(*graph);
  std::map<std::string, Tensor> feeds;
  if (!testing::FeedRandomly(*graph, 17, 2, feeds).ok()) return 0;
  CheckRewrite(*graph, feeds);
  return 0;
}

const FuzzTarget kTarget("rewrite_text", FuzzRewriteText);

}  // namespace
}  // namespace tenon
