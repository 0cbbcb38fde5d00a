#include "graph_rewrite/story.h"

#include <algorithm>

#include "env/status.h"
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

bool HasLastRules(Phase phase) {
  return std::any_of(AllRules().begin(), AllRules().end(),
                     [&](const Rule& r) { return r.phase == phase && r.last; });
}

// The graph in the phase when no rule fires any more but those that run last. Edits are the same
// as in the whole run up to there, ids too.
absl::StatusOr<Graph> BeforeLast(const Graph& before, Phase phase, const RewriteOptions& options) {
  Graph graph = before;
  RewriteOptions step = options;
  step.first = phase;
  step.last = phase;
  step.skip_last_rules = true;
  TENON_RETURN_IF_ERROR(Rewrite(graph, step).status());
  return graph;
}

}  // namespace

absl::StatusOr<Story> TellStory(const Graph& graph, const RewriteOptions& options,
                                const StoryOptions& wanted) {
  Story story;
  RewriteOptions whole = options;
  whole.record_edits = true;
  whole.dump = [&](absl::string_view name, const Graph& g) {
    story.snapshots.push_back({std::string(name), g});
  };
  Graph copy = graph;
  TENON_ASSIGN_OR_RETURN(story.report, Rewrite(copy, whole));
  if (!story.report.enabled) return story;

  RewriteOptions quiet = options;
  quiet.dump = nullptr;
  const size_t phases = story.report.phases.size();
  for (size_t i = 0; i < phases; ++i) {
    const Phase phase = story.report.phases[i].phase;
    const Graph& before = story.snapshots[i].graph;
    const Graph& after = story.snapshots[i + 1].graph;
    for (const TriedRules which : {TriedRules::kEarly, TriedRules::kLast}) {
      if (which == TriedRules::kLast && !HasLastRules(phase)) continue;
      Story::Tried tried{phase, after, {}};
      if (which == TriedRules::kEarly && HasLastRules(phase)) {
        TENON_ASSIGN_OR_RETURN(tried.graph, BeforeLast(before, phase, quiet));
      }
      tried.tries = TryRules(phase, which, tried.graph, before.functions(), quiet);
      if (wanted.near_misses) {
        const auto progress = [&](double part) {
          if (!wanted.progress) return;
          wanted.progress((static_cast<double>(i) + part) / static_cast<double>(phases + 1));
        };
        std::vector<NearMiss> misses =
            FindNearMisses(phase, tried.graph, tried.tries, quiet, progress);
        std::move(misses.begin(), misses.end(), std::back_inserter(story.near_misses));
      }
      story.tried.push_back(std::move(tried));
    }
  }
  if (!wanted.near_misses) return story;
  TENON_ASSIGN_OR_RETURN(std::vector<NearMiss> more,
                         FindShapeMisses(graph, story.report, quiet, wanted.input_shapes));
  std::move(more.begin(), more.end(), std::back_inserter(story.near_misses));
  TENON_ASSIGN_OR_RETURN(more, FindDisabledMisses(graph, story.report, quiet));
  std::move(more.begin(), more.end(), std::back_inserter(story.near_misses));
  return story;
}

}  // namespace tenon
