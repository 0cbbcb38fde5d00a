#include "tools/rewrite_args.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "env/containers.h"
#include "env/cpu.h"
#include "env/flags.h"
#include "env/status.h"
#include "graph_rewrite/explain.h"
#include "graph_rewrite/free_work.h"
#include "ops/op.h"
#include "runtime/explore/scopes.h"
#include "tools/table.h"

namespace tenon {
namespace {

int NodesOf(const OrderedMap<std::string, int>& ops) {
  int sum = 0;
  for (const auto& [op, count] : ops) sum += count;
  return sum;
}

int At(const OrderedMap<std::string, int>& ops, const std::string& op) {
  const auto it = ops.find(op);
  return it == ops.end() ? 0 : it->second;
}

// A table of the nodes that run reference kernels, by op and reason, and a line of counts.
std::string LeftText(const Graph& graph, bool markdown) {
  struct Group {
    int nodes = 0;
    std::string example;
  };
  const FreeWork free(graph);
  OrderedMap<std::pair<std::string, std::string>, Group> groups;  // op, reason
  const ShortNames shorten = ShortNamesOf(graph);
  int accelerated = 0, views = 0, planned = 0, left = 0;
  for (NodeId id : graph.NodeIds()) {
    const Node& node = graph.node(id);
    switch (free.KindOf(id)) {
      case FreeWork::Kind::kHolds:
        continue;
      case FreeWork::Kind::kAlias:
        ++views;
        continue;
      case FreeWork::Kind::kPlanning:
        ++planned;
        continue;
      case FreeWork::Kind::kRuns:
        break;
    }
    if (FindOp(node.op).native) {
      ++accelerated;
      continue;
    }
    ++left;
    Group& group = groups[{node.op, WhyNotAccelerated(node).Text()}];
    if (group.nodes++ == 0) group.example = shorten(node.name);
  }
  std::vector<std::pair<std::pair<std::string, std::string>, Group>> sorted(groups.begin(),
                                                                            groups.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.nodes > b.second.nodes; });
  Table rest({"op", "nodes", "why", "such as"});
  for (const auto& [key, group] : sorted) {
    rest.Add({key.first, absl::StrCat(group.nodes), key.second, group.example});
  }
  std::string out = absl::StrFormat(
      "%d nodes accelerated, %d only pass memory on, %d are computed while planning, "
      "%d left as they are%s\n",
      accelerated, views, planned, left, left > 0 ? ":" : "");
  if (left > 0) {
    absl::StrAppend(&out, markdown ? "\n" : "", markdown ? rest.Markdown() : rest.Text());
  }
  return out;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RewriteServices>> RewriteServices::Create() {
  auto services = std::make_unique<RewriteServices>();
  TENON_ASSIGN_OR_RETURN(services->flags_, Flags::FromEnvironment());
  services->services_.flags = &services->flags_;
  services->services_.threads = AvailableCpus();
  return services;
}

absl::StatusOr<Phase> PhaseFromName(const std::string& name) {
  std::vector<std::string> names;
  for (Phase phase : kPhases) {
    if (name == Name(phase)) return phase;
    names.push_back(Name(phase));
  }
  return InvalidArgument("there is no phase '", name, "'; phases are ", absl::StrJoin(names, ", "));
}

std::string StatsText(const Graph& graph, const RewriteReport& report, StatsFormat format) {
  const bool markdown = format == StatsFormat::kMarkdown;
  const auto text = [&](const Table& t) { return markdown ? t.Markdown() : t.Text(); };
  std::string out;
  if (!report.enabled) out += "TF_ENABLE_ONEDNN_OPTS is off: the graph is not rewritten.\n";
  Table rules({"phase", "rule", "fired"});
  for (const PhaseReport& phase : report.phases) {
    for (const auto& [rule, count] : phase.fired) {
      if (count > 0) rules.Add({Name(phase.phase), rule, absl::StrCat(count)});
    }
  }
  absl::StrAppend(&out, text(rules), "\n");

  Table ops({"op", "before", "after"});
  OrderedSet<std::string> names;
  for (const auto& [op, count] : report.ops_before) names.insert(op);
  for (const auto& [op, count] : report.ops_after) names.insert(op);
  for (const std::string& op : names) {
    ops.Add({op, absl::StrCat(At(report.ops_before, op)), absl::StrCat(At(report.ops_after, op))});
  }
  ops.Add({"all nodes", absl::StrCat(NodesOf(report.ops_before)),
           absl::StrCat(NodesOf(report.ops_after))});
  absl::StrAppend(&out, text(ops), "\n");

  absl::StrAppend(&out, LeftText(graph, markdown));
  if (report.enabled && !markdown)
    absl::StrAppendFormat(&out, "rewriting took %.1f ms\n", report.ms);
  return out;
}

}  // namespace tenon
