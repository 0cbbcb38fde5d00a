#include "tools/explain_screen.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "env/containers.h"
#include "env/cpu.h"
#include "graph_rewrite/free_work.h"
#include "tools/profile.h"

namespace tenon {
namespace {

constexpr size_t kGroups = 6, kCostliest = 10, kAlmost = 5, kAdvice = 3;
constexpr double kWorthALine = 1e-3;  // of the time, for a near miss

// Names come from files: control characters must not reach the terminal.
std::string Clean(absl::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return out;
}

class Screen {
 public:
  explicit Screen(const ScreenStyle& style) : style_(style) {}

  void Title(absl::string_view text) {
    out_ += style_.colors ? absl::StrCat("\n\033[1m", text, "\033[0m\n")
                          : absl::StrCat("\n", text, "\n");
  }
  void Line(absl::string_view text) { absl::StrAppend(&out_, Clip(Clean(text)), "\n"); }
  void Good(absl::string_view text) { Colored("\033[32m", text); }
  void Bad(absl::string_view text) { Colored("\033[33m", text); }
  // Long texts go on in the next line.
  void Wrapped(absl::string_view indent, absl::string_view text) {
    std::string line(indent);
    for (absl::string_view word : absl::StrSplit(Clean(text), ' ')) {
      const bool full = line.size() + 1 + word.size() > static_cast<size_t>(style_.width);
      if (full && line.size() > indent.size() + 2) {
        absl::StrAppend(&out_, line, "\n");
        line = absl::StrCat(std::string(indent.size(), ' '), "  ");
      }
      absl::StrAppend(&line, line.size() > indent.size() && line.back() != ' ' ? " " : "", word);
    }
    absl::StrAppend(&out_, line, "\n");
  }
  std::string Take() { return std::move(out_); }

 private:
  void Colored(const char* color, absl::string_view text) {
    const std::string line = Clip(Clean(text));
    out_ += style_.colors ? absl::StrCat(color, line, "\033[0m\n") : absl::StrCat(line, "\n");
  }
  std::string Clip(std::string text) const {
    const auto width = static_cast<size_t>(std::max(style_.width, 40));
    if (text.size() <= width) return text;
    size_t end = width - 3;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // UTF-8
    return text.substr(0, end) + "...";
  }

  const ScreenStyle style_;
  std::string out_;
};

std::string PlainOp(absl::string_view op) {
  absl::ConsumePrefix(&op, "_MklNative");
  return std::string(op);
}

std::string ShareText(double part, double whole) {
  return whole > 0 ? absl::StrFormat("%5.1f%%", 100 * part / whole) : "      ";
}

std::string RateText(double flops, double ms) {
  return flops > 0 && ms > 0 ? absl::StrFormat("%.1f", flops / ms / 1e6) : "-";
}

// Where the time of the step goes, as far as one can tell.
std::string WhyAsItIs(const Exploration& e, const ExploredStep& s, const Machine& machine) {
  if (IsReference(s.info)) {
    if (!e.graph().Has(s.node)) return "reference kernel";
    return absl::StrCat("reference kernel: ", e.WhyReference(s).Text());
  }
  const double seconds = s.ms / 1000;
  const double of_peak = seconds > 0 && machine.peak.flops_per_s > 0
                             ? s.info.flops / seconds / machine.peak.flops_per_s
                             : 0;
  switch (LimitOf(e, s, machine)) {
    case Limit::kSequence:
      return "its steps wait for each other";
    case Limit::kWeights:
      return seconds > 0 ? absl::StrFormat("waits for weights: %.1f GB/s",
                                           static_cast<double>(s.info.bytes) / seconds / 1e9)
                         : "waits for weights";
    case Limit::kCompute:
      if (of_peak <= 0) return "multiply-adds";
      // Winograd's algorithm needs fewer products than are counted.
      return absl::StrFormat("%.0f %% of the peak", 100 * of_peak);
    case Limit::kMoves:
      break;
  }
  return seconds > 0 ? absl::StrFormat("moves data: %.1f GB/s",
                                       static_cast<double>(s.info.bytes) / seconds / 1e9)
                     : "moves data";
}

void WriteWhere(const Exploration& e, const Machine& machine, Screen& out) {
  struct Sum {
    int steps = 0;
    double ms = 0, flops = 0;
    bool reference = false;
  };
  OrderedMap<std::pair<std::string, std::string>, Sum> groups;
  Sum all, reference;
  for (const ExploredStep& s : e.steps) {
    Sum& sum = groups[{PlainOp(s.info.op), s.info.implementation}];
    sum.reference = IsReference(s.info);
    for (Sum* to : {&sum, &all, sum.reference ? &reference : nullptr}) {
      if (to == nullptr) continue;
      ++to->steps;
      to->ms += s.ms;
      to->flops += s.info.flops;
    }
  }
  std::vector<std::pair<std::pair<std::string, std::string>, Sum>> sorted(groups.begin(),
                                                                          groups.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::tie(a.second.ms, a.second.flops) > std::tie(b.second.ms, b.second.flops);
  });
  out.Title("What runs where");
  out.Line("        ms    time    FLOP  GFLOP/s  peak  nodes  op, implementation");
  const auto line = [&](const Sum& sum, const std::string& what) {
    const double rate = sum.ms > 0 ? sum.flops / (sum.ms / 1000) : 0;
    const std::string peak = machine.peak.flops_per_s > 0 && rate > 0
                                 ? absl::StrFormat("%.0f%%", 100 * rate / machine.peak.flops_per_s)
                                 : "-";
    const std::string text = absl::StrFormat(
        "%10.3f  %s  %s %8s %5s  %5d  %s", sum.ms, ShareText(sum.ms, all.ms),
        ShareText(sum.flops, all.flops), RateText(sum.flops, sum.ms), peak, sum.steps, what);
    sum.reference ? out.Bad(text) : out.Line(text);
  };
  Sum rest;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const auto& [key, sum] = sorted[i];
    if (i < kGroups || sorted.size() == kGroups + 1) {
      const std::string how = sum.reference ? "reference kernel" : key.second;
      line(sum, absl::StrCat(key.first, how.empty() ? "" : ", ", how));
    } else {
      rest.steps += sum.steps;
      rest.ms += sum.ms;
      rest.flops += sum.flops;
    }
  }
  if (rest.steps > 0) line(rest, "others");
  line(all, reference.steps == 0
                ? "all, accelerated"
                : absl::StrFormat("all; %.1f %% of the time in %d reference kernels",
                                  all.ms > 0 ? 100 * reference.ms / all.ms : 0, reference.steps));
}

void WriteCostliest(const Exploration& e, const Machine& machine, const ShortNames& shorten,
                    Screen& out) {
  std::vector<size_t> order(e.steps.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto cost = [&](size_t i) { return e.runs > 0 ? e.steps[i].ms : e.steps[i].info.flops; };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return cost(a) > cost(b); });
  order.resize(std::min(order.size(), kCostliest));
  out.Title("Costliest nodes");
  size_t longest = 0;
  for (size_t i : order) longest = std::max(longest, shorten(e.steps[i].info.node).size());
  longest = std::min<size_t>(longest, 34);
  for (size_t i : order) {
    const ExploredStep& s = e.steps[i];
    std::string name = shorten(s.info.node);
    if (name.size() > longest) name = "..." + name.substr(name.size() - longest + 3);
    name.resize(longest, ' ');
    const std::string text =
        absl::StrFormat("%10.3f  %s  %s  %s: %s", s.ms, ShareText(s.ms, e.total_ms), name,
                        PlainOp(s.info.op), WhyAsItIs(e, s, machine));
    IsReference(s.info) ? out.Bad(text) : out.Line(text);
  }
}

// Names in the text without the common prefix.
std::string Shortened(const std::string& text, const ShortNames& shorten) {
  if (shorten.prefix().empty()) return text;
  return absl::StrReplaceAll(text, {{absl::StrCat("'", shorten.prefix()), "'"}});
}

void WriteAlmost(const Exploration& e, const ShortNames& shorten, Screen& out) {
  const std::vector<MissGroup> groups = GroupMisses(e);
  out.Title("Almost fused");
  size_t shown = 0;
  for (const MissGroup& group : groups) {
    const NearMiss& miss = group.misses.front()->miss;
    const bool in_function = !miss.function.empty();  // what it saves is not known
    if (shown == kAlmost) break;
    if (!in_function && group.saves_ms < kWorthALine * e.total_ms) continue;
    ++shown;
    const std::string saves = e.runs == 0   ? std::string("  ")
                              : in_function ? std::string("         ?  ")
                                            : absl::StrFormat("%10.3f  ", group.saves_ms);
    const std::string at =
        absl::StrCat(miss.reason.node.empty() ? absl::StrCat(" at '", miss.at, "'") : "",
                     in_function ? absl::StrCat(" in function '", miss.function, "'") : "");
    const size_t more = group.misses.size() - 1;
    out.Wrapped(saves, Shortened(absl::StrCat(miss.rule, at, ": ", miss.reason.Text(),
                                              more > 0 ? absl::StrCat(" (and ", more, " more)")
                                                       : std::string()),
                                 shorten));
  }
  if (groups.empty()) {
    out.Line("  nothing: no single change would let a rule fire");
  } else if (shown == 0) {
    out.Line("  nothing that would save 0.1 % of the time (--json lists all)");
  } else if (shown < groups.size()) {
    out.Line("            and what would save less (--json lists all)");
  }
}

std::string SavesText(double ms) {
  if (ms <= 0) return "";
  return ms < 100 ? absl::StrFormat(", about -%.2g ms", ms)
                  : absl::StrFormat(", about -%.0f ms", ms);
}

std::string Head(const Model& model, const Exploration& e) {
  const FreeWork free(e.graph());
  const std::vector<NodeId> ids = e.graph().NodeIds();
  const auto runs =
      std::count_if(ids.begin(), ids.end(), [&](NodeId id) { return !free.IsFree(id); });
  return absl::StrCat(model.source, ": ", e.story.loaded().num_nodes(), " nodes, ", ids.size(),
                      " after rewriting, ", e.plan != nullptr ? e.steps.size() : runs,
                      " of them run");
}

std::string InputsText(const Exploration& e) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < e.inputs.size() && i < e.session->inputs().size(); ++i) {
    if (e.inputs[i].dtype == DType::kInvalid) continue;
    parts.push_back(absl::StrCat(e.session->inputs()[i].name, "=", e.inputs[i].shape.ToString()));
  }
  return absl::StrJoin(parts, " ");
}

}  // namespace

std::string ExplainScreen(const Model& model, const Exploration& e, const Machine& machine,
                          const std::string& note, const ScreenStyle& style) {
  const ShortNames shorten = e.short_names();
  Screen out(style);
  out.Wrapped("", Head(model, e));
  if (e.plan == nullptr) {
    out.Bad(absl::StrCat("no plan, so no times: ", e.planning.message()));
  } else {
    out.Line(absl::StrFormat("%s, %d %s, %s; %s", CpuName(), e.threads,
                             e.threads == 1 ? "thread" : "threads",
                             e.precision == Precision::kBfloat16 ? "bf16" : "fp32", InputsText(e)));
    if (!note.empty()) out.Wrapped("", note);
    if (!shorten.prefix().empty()) {
      out.Line(absl::StrCat("names are shown without ", shorten.prefix()));
    }
    WriteWhere(e, machine, out);
    WriteCostliest(e, machine, shorten, out);
  }
  WriteAlmost(e, shorten, out);
  out.Title("What to try first");
  const std::vector<Advice> advice = Advise(e, machine);
  for (size_t i = 0; i < std::min(advice.size(), kAdvice); ++i) {
    const Advice& a = advice[i];
    out.Good(absl::StrCat(i + 1, ". ", a.what, SavesText(a.saves_ms)));
    out.Wrapped("   ", Shortened(a.why, shorten));
  }
  if (advice.empty()) out.Line("  nothing that this profile shows");
  return out.Take();
}

std::string NodeStories(const std::vector<NodeExplanation>& nodes, const Exploration& e,
                        const ScreenStyle& style) {
  const ShortNames shorten = e.short_names();
  Screen out(style);
  for (const NodeExplanation& n : nodes) {
    out.Title(absl::StrCat(Clean(n.node), " (", n.op, ")",
                           n.function.empty() ? "" : " in function ", Clean(n.function)));
    std::string now = n.now.empty() ? "no longer computed: removed, or folded into a constant"
                                    : absl::StrCat("is now ", shorten(n.now), " (", n.now_op, ")");
    if (n.accelerated) now += ", accelerated";
    out.Wrapped("  ", now);
    std::string phase;
    for (const RuleVerdict& v : n.rules) {
      if (phase != Name(v.phase)) {
        phase = Name(v.phase);
        out.Line(absl::StrCat("  ", phase));
      }
      const char* const verdict = v.fired ? "fired: " : v.near_miss ? "almost: " : "no: ";
      out.Wrapped("    ",
                  absl::StrFormat("%-22s %s%s", v.rule, verdict, Shortened(v.reason, shorten)));
      if (!v.fired && v.near_miss && !v.why.change.empty()) {
        out.Wrapped("    ", absl::StrFormat("%-22s to change: %s", "", v.why.change));
      }
    }
  }
  return out.Take();
}

}  // namespace tenon
