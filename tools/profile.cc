#include "tools/profile.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "env/containers.h"
#include "env/status.h"
#include "runtime/explore/scopes.h"

namespace tenon {
namespace {

std::string Implementation(const StepInfo& step) {
  if (step.dynamic && step.device.empty()) return "(prepared while running)";
  return step.implementation;
}

// The steps of one line.
struct Sum {
  double ms = 0, flops = 0, bytes = 0;
  int nodes = 0;
  bool reference = false;
};

std::string Line(const Sum& sum, double total_ms, const MachinePeak& peak,
                 const std::string& what) {
  const double seconds = sum.ms / 1000;
  const auto rate = [&](double amount, int digits) {
    return amount > 0 && seconds > 0 ? absl::StrFormat("%.*f", digits, amount / seconds / 1e9)
                                     : "-";
  };
  const std::string of_peak =
      sum.flops > 0 && seconds > 0 && peak.flops_per_s > 0
          ? absl::StrFormat("%.0f%%", 100 * sum.flops / seconds / peak.flops_per_s)
          : "-";
  return absl::StrFormat("%10.4f %5.1f%% %9s %6s %7s %-4s %s\n", sum.ms, 100 * sum.ms / total_ms,
                         rate(sum.flops, 1), of_peak, rate(sum.bytes, 1),
                         sum.reference ? "ref" : "", what);
}

}  // namespace

bool IsReference(const StepInfo& step) {
  return !step.dynamic && (!step.accelerated || absl::StartsWith(step.implementation, "ref"));
}

absl::StatusOr<ProfileBy> ProfileByFromName(const std::string& name) {
  if (name == "node") return ProfileBy::kNode;
  if (name == "op") return ProfileBy::kOp;
  if (name == "implementation") return ProfileBy::kImplementation;
  if (name == "scope") return ProfileBy::kScope;
  return InvalidArgument("a profile is by node, op, implementation or scope, not '", name, "'");
}

std::vector<double> Profile::FastestMilliseconds() const {
  std::vector<double> ms;
  for (int64_t ns : fastest_) ms.push_back(static_cast<double>(ns) / 1e6);
  return ms;
}

std::string Profile::Text(ProfileBy by, const MachinePeak& peak) const {
  std::vector<std::string> names;
  for (const StepInfo& s : steps_) names.push_back(s.node);
  const ShortNames shorten(names);

  OrderedMap<std::string, Sum> groups;
  Sum all;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const StepInfo& s = steps_[i];
    std::vector<std::string> lines;
    switch (by) {
      case ProfileBy::kNode:
        lines = {absl::StrCat(shorten(s.node), " (", s.op, ") ", Implementation(s))};
        break;
      case ProfileBy::kOp:
        lines = {s.op};
        break;
      case ProfileBy::kImplementation:
        lines = {Implementation(s)};
        break;
      case ProfileBy::kScope:
        lines = ScopesOf(shorten(s.node));
        break;
    }
    const double ms = static_cast<double>(nanoseconds_[i]) / 1e6 / std::max(runs_, 1);
    const auto add = [&](Sum& sum) {
      sum.ms += ms;
      sum.flops += s.flops;
      sum.bytes += static_cast<double>(s.bytes);
      sum.reference |= IsReference(s);
      ++sum.nodes;
    };
    add(all);
    for (const std::string& line : lines) add(groups[line]);
  }
  std::vector<std::pair<std::string, Sum>> sorted(groups.begin(), groups.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.ms > b.second.ms; });
  const double total = std::max(all.ms, 1e-9);
  const char* const what = by == ProfileBy::kNode             ? "node (op) implementation"
                           : by == ProfileBy::kOp             ? "op (nodes)"
                           : by == ProfileBy::kImplementation ? "implementation (nodes)"
                                                              : "scope (nodes)";
  std::string out = absl::StrCat("        ms  share   GFLOP/s   peak    GB/s      ", what, "\n");
  for (const auto& [name, sum] : sorted) {
    out += Line(sum, total, peak,
                by == ProfileBy::kNode ? name : absl::StrCat(name, " (", sum.nodes, ")"));
  }
  all.reference = false;
  out += Line(all, total, peak,
              absl::StrCat("in ", steps_.size(), " steps, mean of ", runs_, " runs"));
  if (peak.flops_per_s > 0) {
    absl::StrAppendFormat(&out, "peak: %.0f GFLOP/s (a large matrix product), %.1f GB/s\n",
                          peak.flops_per_s / 1e9, peak.bytes_per_s / 1e9);
  }
  if (by != ProfileBy::kOp && !shorten.prefix().empty()) {
    absl::StrAppend(&out, "names are shown without ", shorten.prefix(), "\n");
  }
  return out;
}

}  // namespace tenon
