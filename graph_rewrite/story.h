// The whole story of one rewriting, for people: the graph after each phase, every edit, why rules
// stopped, and what one change to the model would have given.
#ifndef TENON_GRAPH_REWRITE_STORY_H_
#define TENON_GRAPH_REWRITE_STORY_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "env/containers.h"
#include "graph/graph.h"
#include "graph_rewrite/near_miss.h"
#include "graph_rewrite/pipeline.h"
#include "graph_rewrite/tries.h"

namespace tenon {

struct StoryOptions {
  bool near_misses = true;
  // Complete shapes of inputs (Placeholder nodes, by name). What only these would allow is a near
  // miss, too.
  OrderedMap<std::string, Shape> input_shapes;
  // Called now and then with the part that is done, in 0..1.
  std::function<void(double)> progress = nullptr;
};

struct Story {
  struct Snapshot {
    std::string name;  // "loaded", "clean" ...
    Graph graph;       // shares its tensors
  };
  // What stopped each rule, in a graph in which it does not fire any more. Rules that run last
  // (Rule::last) are tried after the others.
  struct Tried {
    Phase phase = Phase::kClean;
    std::string function;  // as RewriteStep::function names it; empty: the graph itself
    Graph graph;
    std::vector<Try> tries;
  };
  std::vector<Snapshot> snapshots;
  RewriteReport report;  // with edits
  std::vector<Tried> tried;
  std::vector<NearMiss> near_misses;

  const Graph& loaded() const { return snapshots.front().graph; }
  const Graph& rewritten() const { return snapshots.back().graph; }
};

// A function of the graph's library, or of its functions' libraries, by RewriteStep::function; the
// graph itself for "". Null if there is none (any more).
const Graph* FunctionOf(const Graph& graph, absl::string_view function);

// Rewrites a copy of the graph. Errors as Rewrite.
absl::StatusOr<Story> TellStory(const Graph& graph, const RewriteOptions& options,
                                const StoryOptions& wanted);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_STORY_H_
