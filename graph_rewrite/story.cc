#include "graph_rewrite/story.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
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

// Names of the functions in the graph's library and in theirs, as RewriteStep::function has them.
void AddFunctions(const Graph& graph, const std::string& outer, int depth,
                  std::vector<std::string>& out) {
  constexpr int kDeepest = 32;  // as rewriting has it
  if (depth == kDeepest) return;
  for (const auto& [name, body] : graph.functions()) {
    out.push_back(outer.empty() ? name : absl::StrCat(outer, "/", name));
    const std::string path = out.back();
    AddFunctions(*body, path, depth + 1, out);
  }
}

class Teller {
 public:
  Teller(Story& story, const RewriteOptions& quiet, const StoryOptions& wanted)
      : story_(story), quiet_(quiet), wanted_(wanted) {}

  absl::Status Run() {
    const size_t phases = story_.report.phases.size();
    for (size_t i = 0; i < phases; ++i) {
      const Phase phase = story_.report.phases[i].phase;
      const Graph& before = story_.snapshots[i].graph;
      const Graph& after = story_.snapshots[i + 1].graph;
      std::vector<std::string> functions = {""};
      AddFunctions(after, "", 0, functions);
      for (size_t f = 0; f < functions.size(); ++f) {
        const Graph* const body_before = FunctionOf(before, functions[f]);
        if (body_before == nullptr) continue;  // the phase made it
        const auto part = [&](double done) {
          return (static_cast<double>(i) +
                  (static_cast<double>(f) + done) / static_cast<double>(functions.size())) /
                 static_cast<double>(phases + 1);
        };
        TENON_RETURN_IF_ERROR(TellPhase(phase, functions[f], *body_before,
                                        *FunctionOf(after, functions[f]),
                                        LibraryOf(*body_before, before.functions()), part));
      }
    }
    return absl::OkStatus();
  }

 private:
  // `library`: the functions that nodes of the function call.
  template <typename Part>
  absl::Status TellPhase(Phase phase, const std::string& function, const Graph& before,
                         const Graph& after, const FunctionLibrary& library, Part part) {
    for (const TriedRules which : {TriedRules::kEarly, TriedRules::kLast}) {
      if (which == TriedRules::kLast && !HasLastRules(phase)) continue;
      Story::Tried tried{phase, function, after, {}};
      if (which == TriedRules::kEarly && HasLastRules(phase)) {
        TENON_ASSIGN_OR_RETURN(tried.graph, BeforeLast(before, phase, quiet_));
      }
      tried.tries = TryRules(phase, which, tried.graph, library, quiet_);
      if (wanted_.near_misses) {
        const auto progress = [&](double done) {
          if (wanted_.progress) wanted_.progress(part(done));
        };
        std::vector<NearMiss> misses =
            FindNearMisses(phase, tried.graph, tried.tries, quiet_, progress);
        for (NearMiss& miss : misses) miss.function = function;
        std::move(misses.begin(), misses.end(), std::back_inserter(story_.near_misses));
      }
      story_.tried.push_back(std::move(tried));
    }
    return absl::OkStatus();
  }

  Story& story_;
  const RewriteOptions& quiet_;
  const StoryOptions& wanted_;
};

}  // namespace

const Graph* FunctionOf(const Graph& graph, absl::string_view function) {
  if (function.empty()) return &graph;
  for (const auto& [name, body] : graph.functions()) {
    if (name == function) return body.get();
    absl::string_view inner = function;
    if (!absl::ConsumePrefix(&inner, name) || !absl::ConsumePrefix(&inner, "/")) continue;
    if (const Graph* const found = FunctionOf(*body, inner); found != nullptr) return found;
  }
  return nullptr;
}

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
  TENON_RETURN_IF_ERROR(Teller(story, quiet, wanted).Run());
  if (!wanted.near_misses) return story;
  TENON_ASSIGN_OR_RETURN(std::vector<NearMiss> more,
                         FindShapeMisses(graph, story.report, quiet, wanted.input_shapes));
  std::move(more.begin(), more.end(), std::back_inserter(story.near_misses));
  TENON_ASSIGN_OR_RETURN(more, FindDisabledMisses(graph, story.report, quiet));
  std::move(more.begin(), more.end(), std::back_inserter(story.near_misses));
  return story;
}

}  // namespace tenon
