#include "tf_plugin/dump.h"

#include <atomic>
#include <fstream>

#include "absl/strings/str_format.h"
#include "graph/rewriter.h"
#include "graph/text.h"
#include "tf_plugin/names.h"

namespace tenon::plugin {
namespace {

constexpr int64_t kMaxElements = 16;

}  // namespace

GraphDump::GraphDump(const std::string& folder) {
  static std::atomic<int> graphs = 0;
  if (!folder.empty()) prefix_ = absl::StrFormat("%s/tensorflow_%04d_", folder, graphs++);
}

void GraphDump::Write(absl::string_view phase, const Graph& given) const {
  Graph graph = given;
  Rewriter rewriter(graph);
  for (const NodeId id : graph.NodeIds()) {  // its graph has files of its own
    if (graph.node(id).op == kSubgraphOp) rewriter.EraseAttr(id, "graph");
  }
  std::ofstream(absl::StrCat(prefix_, phase, ".graph"))
      << PrintGraph(graph, {.max_elements = kMaxElements});
}

void GraphDump::WriteReport(const RewriteReport& report) const {
  std::ofstream file(absl::StrCat(prefix_, "rules.txt"));
  for (const PhaseReport& phase : report.phases) {
    for (const auto& [rule, count] : phase.fired) {
      file << Name(phase.phase) << " " << rule << " " << count << "\n";
    }
  }
}

}  // namespace tenon::plugin
