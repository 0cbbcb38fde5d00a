#include "tools/rewrite_args.h"

#include "absl/container/btree_set.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "env/cpu.h"
#include "env/flags.h"
#include "env/status.h"
#include "ops/rename.h"
#include "tools/table.h"

namespace tenon {
namespace {

bool Computes(const std::string& op) {
  // op names: the nodes that only hold something.
  if (op == "Const" || op == "Placeholder" || op == "NoOp") return false;
  const OpLookup found = FindOp(op);
  return !found || (!found.info->row.alias && !found.info->row.shape_only);
}

int NodesOf(const absl::btree_map<std::string, int>& ops) {
  int sum = 0;
  for (const auto& [op, count] : ops) sum += count;
  return sum;
}

int At(const absl::btree_map<std::string, int>& ops, const std::string& op) {
  const auto it = ops.find(op);
  return it == ops.end() ? 0 : it->second;
}

std::string WhyNot(const Node& node) {
  const OpLookup op = FindOp(node.op);
  if (!op) return "op is not implemented";
  std::string why;
  if (NativeName(*op.info, node, &why) == nullptr) return why;
  return "not renamed";
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
  absl::btree_set<std::string> names;
  for (const auto& [op, count] : report.ops_before) names.insert(op);
  for (const auto& [op, count] : report.ops_after) names.insert(op);
  for (const std::string& op : names) {
    ops.Add({op, absl::StrCat(At(report.ops_before, op)), absl::StrCat(At(report.ops_after, op))});
  }
  ops.Add({"all nodes", absl::StrCat(NodesOf(report.ops_before)),
           absl::StrCat(NodesOf(report.ops_after))});
  absl::StrAppend(&out, text(ops), "\n");

  int accelerated = 0, views = 0;
  Table rest({"node", "op", "why"});
  int left = 0;
  for (NodeId id : graph.NodeIds()) {
    const Node& node = graph.node(id);
    const OpLookup op = FindOp(node.op);
    if (op && op.native) {
      ++accelerated;
    } else if (Computes(node.op)) {
      ++left;
      rest.Add({node.name, node.op, WhyNot(node)});
    } else if (op && op.info->row.alias) {
      ++views;
    }
  }
  absl::StrAppendFormat(&out,
                        "%d nodes accelerated, %d only pass memory on, %d left as they are%s\n",
                        accelerated, views, left, left > 0 ? ":" : "");
  if (left > 0) absl::StrAppend(&out, markdown ? "\n" : "", text(rest));
  if (report.enabled && !markdown)
    absl::StrAppendFormat(&out, "rewriting took %.1f ms\n", report.ms);
  return out;
}

}  // namespace tenon
