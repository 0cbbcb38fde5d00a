#include "tools/coverage.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "env/containers.h"
#include "env/cpu.h"
#include "env/status.h"
#include "graph/npz/npz.h"
#include "ops/op.h"
#include "ops/rename.h"
#include "tools/model_args.h"
#include "tools/profile.h"
#include "tools/random_inputs.h"
#include "tools/table.h"

namespace tenon {
namespace {

enum class Kind { kAccelerated, kReference, kMissing };

const char* Name(Kind kind) {
  switch (kind) {
    case Kind::kAccelerated:
      return "accelerated";
    case Kind::kReference:
      return "reference kernel";
    case Kind::kMissing:
      return "missing";
  }
  return "";
}

struct OpUse {
  int nodes = 0;
  double ms = 0;
};

struct Coverage {
  std::string model;
  // One op may run on both, for different dtypes and shapes.
  OrderedMap<std::pair<Kind, std::string>, OpUse> ops;
  int free_nodes = 0;  // computed while planning, or aliases
  OrderedMap<std::string, std::vector<std::string>> missing;
  double ms = 0;
  absl::Status status;

  OpUse Sum(Kind kind) const {
    OpUse sum;
    for (const auto& [key, use] : ops) {
      if (key.first != kind) continue;
      sum.nodes += use.nodes;
      sum.ms += use.ms;
    }
    return sum;
  }
};

// "resnet50" for ".../resnet50/saved_model", "graph" for "graph.pb".
std::string ModelName(const std::string& path) {
  std::filesystem::path p(path);
  if (p.filename().empty()) p = p.parent_path();
  if (p.filename() == "saved_model" && p.has_parent_path()) p = p.parent_path();
  return p.filename().string();
}

// The inputs in an inputs.npz next to the model's folder, or random ones.
absl::StatusOr<std::vector<Tensor>> InputsFor(const std::string& path, const Session& session) {
  const std::filesystem::path beside = std::filesystem::path(path).parent_path() / "inputs.npz";
  std::error_code error;
  if (std::filesystem::exists(beside, error)) {
    TENON_ASSIGN_OR_RETURN(const std::vector<NamedTensor> named, ReadNpz(beside.string()));
    absl::StatusOr<std::vector<Tensor>> arranged = session.Arrange(named);
    if (arranged.ok()) return arranged;  // otherwise they are for another model or signature
  }
  return RandomInputs(session.inputs(), InputShapes());
}

Kind KindOf(const StepInfo& step) {
  if (!step.dynamic) return step.accelerated ? Kind::kAccelerated : Kind::kReference;
  return FindOp(step.op).native ? Kind::kAccelerated : Kind::kReference;
}

// For a model that cannot run: what its nodes would run on, without rewriting.
void CountNodes(const Model& model, Coverage& coverage) {
  for (const NodeId id : model.graph.NodeIds()) {
    const Node& node = model.graph.node(id);
    const OpLookup op = FindOp(node.op);
    Kind kind = Kind::kReference;
    if (!op) {
      kind = Kind::kMissing;
    } else if (NativeName(*op.info, node) != nullptr) {
      kind = Kind::kAccelerated;
    }
    ++coverage.ops[{kind, node.op}].nodes;
  }
}

absl::Status Measure(const std::string& path, const CoverageOptions& options, Coverage& coverage) {
  ModelArgs args;
  args.path = path;
  args.threads = options.threads;
  TENON_ASSIGN_OR_RETURN(OpenedSession opened, OpenSession(args));
  Session& session = *opened.session;
  TENON_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, InputsFor(path, session));
  TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const Plan> plan, session.PlanFor(inputs));
  const std::vector<StepInfo> steps = plan->Describe();
  Profile profile(*plan);
  if (options.seconds > 0) {
    TENON_RETURN_IF_ERROR(session.Run(inputs).status());  // lets caches and threads settle
    const double end = NowMs() + options.seconds * 1000;
    do {
      TENON_RETURN_IF_ERROR(session.Run(inputs, {.observer = &profile}).status());
      profile.EndRun();
    } while (NowMs() < end);
  }
  const std::vector<double> ms = profile.FastestMilliseconds();
  for (size_t i = 0; i < steps.size(); ++i) {
    OpUse& use = coverage.ops[{KindOf(steps[i]), steps[i].op}];
    ++use.nodes;
    use.ms += ms[i];
    coverage.ms += ms[i];
  }
  coverage.free_nodes = plan->stats().evaluated + plan->stats().aliased;
  return absl::OkStatus();
}

Coverage Cover(const std::string& path, const CoverageOptions& options) {
  Coverage coverage;
  coverage.model = ModelName(path);
  ModelArgs args;
  args.path = path;
  const absl::StatusOr<Model> model = OpenModel(args, /*allow_missing_ops=*/true);
  if (!model.ok()) {
    coverage.status = model.status();
    return coverage;
  }
  coverage.missing = model->missing_ops;
  if (coverage.missing.empty()) {
    coverage.status = Measure(path, options, coverage);
    if (coverage.status.ok()) return coverage;
    coverage.ops.clear();
  }
  CountNodes(*model, coverage);
  return coverage;
}

std::string Share(double part, double whole) {
  return whole > 0 ? absl::StrFormat("%.1f %%", 100 * part / whole) : "-";
}

Table ModelTable(const std::vector<Coverage>& models, const CoverageOptions& options) {
  const bool times = options.seconds > 0;
  std::vector<std::string> header = {"model",   "steps", "accelerated", "reference kernel",
                                     "missing", "free",  "note"};
  if (times) header.insert(header.end() - 1, {"ms", "time accelerated"});
  Table table(header);
  for (const Coverage& c : models) {
    const OpUse accelerated = c.Sum(Kind::kAccelerated);
    const OpUse reference = c.Sum(Kind::kReference);
    const int missing = c.Sum(Kind::kMissing).nodes;
    std::string note = c.status.ok() ? "" : std::string(c.status.message());
    if (missing > 0) note = "does not run: nodes as they stand in the file";
    std::vector<std::string> row = {c.model,
                                    absl::StrCat(accelerated.nodes + reference.nodes + missing),
                                    absl::StrCat(accelerated.nodes),
                                    absl::StrCat(reference.nodes),
                                    absl::StrCat(missing),
                                    absl::StrCat(c.free_nodes)};
    if (times) {
      row.push_back(c.ms > 0 ? absl::StrFormat("%.3f", c.ms) : "-");
      row.push_back(Share(accelerated.ms, c.ms));
    }
    row.push_back(note);
    table.Add(row);
  }
  return table;
}

Table OpTable(const Coverage& coverage, const CoverageOptions& options) {
  const bool times = options.seconds > 0;
  using Row = std::pair<std::pair<Kind, std::string>, OpUse>;
  std::vector<Row> rows(coverage.ops.begin(), coverage.ops.end());
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::pair(a.second.ms, a.second.nodes) > std::pair(b.second.ms, b.second.nodes);
  });
  std::vector<std::string> header = {"op", "runs on", "nodes"};
  if (times) header.emplace_back("time");
  Table table(header);
  for (const auto& [key, use] : rows) {
    std::vector<std::string> row = {key.second, Name(key.first), absl::StrCat(use.nodes)};
    if (times) row.push_back(Share(use.ms, coverage.ms));
    table.Add(row);
  }
  return table;
}

}  // namespace

absl::StatusOr<std::string> CoverageText(const std::vector<std::string>& models,
                                         const CoverageOptions& options) {
  std::vector<Coverage> all;
  for (const std::string& path : models) all.push_back(Cover(path, options));
  const auto text = [&](const Table& table) {
    return options.markdown ? table.Markdown() : table.Text();
  };
  std::string out = text(ModelTable(all, options));
  if (options.seconds > 0) absl::StrAppend(&out, "\nTimes on ", CpuName(), ".\n");
  for (const Coverage& c : all) {
    if (c.ops.empty()) continue;
    absl::StrAppend(&out, "\n", options.markdown ? "### " : "", c.model, "\n\n",
                    text(OpTable(c, options)));
    for (const auto& [op, nodes] : c.missing) {
      absl::StrAppend(&out, "\nmissing ", op, ": ", absl::StrJoin(nodes, ", "), "\n");
    }
  }
  return out;
}

}  // namespace tenon
