// Writes the graphs that TensorFlow has optimized to text files in TENON_DUMP_DIR:
// tensorflow_0003_loaded.graph, _clean, _fold, _fuse, and _rules.txt with the rules that fired.
#ifndef TENON_TF_PLUGIN_DUMP_H_
#define TENON_TF_PLUGIN_DUMP_H_

#include <string>

#include "absl/strings/string_view.h"
#include "graph_rewrite/pipeline.h"

namespace tenon::plugin {

// The files of one graph; files that cannot be written are skipped.
class GraphDump {
 public:
  explicit GraphDump(const std::string& folder);
  bool wanted() const { return !prefix_.empty(); }
  void Write(absl::string_view phase, const Graph& graph) const;
  void WriteReport(const RewriteReport& report) const;

 private:
  std::string prefix_;
};

}  // namespace tenon::plugin

#endif  // TENON_TF_PLUGIN_DUMP_H_
