#include "runtime/explore/comparison.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "env/containers.h"
#include "graph_rewrite/free_work.h"
#include "graph_rewrite/origins.h"

namespace tenon {
namespace {

constexpr double kDiffers = 0.1;      // of the slower one's time
constexpr double kWorthAMark = 0.01;  // of the time of the run
constexpr const char* kNative = "_MklNative";

// What one of the two knows of its nodes.
class Side {
 public:
  Side(const Exploration& e, const std::string& title)
      : e_(e), title_(title), shorten_(e.short_names()) {
    const FreeWork free(e.graph());
    const OriginMap origins(e.story.report);
    for (NodeId id : e.graph().NodeIds()) {
      if (free.IsFree(id)) continue;
      nodes_.push_back(id);
      by_name_.emplace(NameOf(id), id);
      for (NodeId source : origins.SourcesOf(id)) {
        if (!e.story.loaded().Has(source)) continue;
        if (e.story.loaded().node(source).op == "Const") continue;
        const std::string name = shorten_(e.story.loaded().node(source).name);
        sources_[id].push_back(name);
        by_source_[name].push_back(id);
      }
    }
    for (size_t i = 0; i < e.steps.size(); ++i) {
      if (e.steps[i].node == kNoNode) continue;
      ms_[e.steps[i].node] += e.steps[i].ms;
      step_[e.steps[i].node] = i;
    }
  }

  const std::string& title() const { return title_; }
  const std::vector<NodeId>& nodes() const { return nodes_; }
  const Node& node(NodeId id) const { return e_.graph().node(id); }
  std::string NameOf(NodeId id) const { return shorten_(node(id).name); }
  NodeId Named(const std::string& name) const {
    const auto it = by_name_.find(name);
    return it == by_name_.end() ? kNoNode : it->second;
  }
  // Names of the loaded nodes that it computes, without constants.
  const std::vector<std::string>& SourcesOf(NodeId id) const { return Or(sources_, id); }
  const std::vector<NodeId>& Computing(const std::string& source) const {
    return Or(by_source_, source);
  }
  bool measured() const { return e_.runs > 0; }
  double total_ms() const { return e_.total_ms; }
  double ms(NodeId id) const {
    const auto it = ms_.find(id);
    return it == ms_.end() ? 0 : it->second;
  }
  std::string Implementation(NodeId id) const {
    const auto it = step_.find(id);
    return it == step_.end() ? "" : e_.steps[it->second].info.implementation;
  }
  DType DTypeOf(NodeId id) const {
    const auto i = static_cast<size_t>(id);
    if (i >= e_.details.outputs.size() || e_.details.outputs[i].empty()) return DType::kInvalid;
    return e_.details.outputs[i][0].dtype;
  }

 private:
  template <typename Map>
  static const typename Map::mapped_type& Or(const Map& map, const typename Map::key_type& key) {
    static const auto* const none = new typename Map::mapped_type;
    const auto it = map.find(key);
    return it == map.end() ? *none : it->second;
  }

  const Exploration& e_;
  const std::string title_;
  const ShortNames shorten_;
  std::vector<NodeId> nodes_;
  HashMap<std::string, NodeId> by_name_;
  HashMap<NodeId, std::vector<std::string>> sources_;
  HashMap<std::string, std::vector<NodeId>> by_source_;
  HashMap<NodeId, double> ms_;
  HashMap<NodeId, size_t> step_;
};

std::string PlainOp(const std::string& op) {
  return absl::StartsWith(op, kNative) ? op.substr(absl::string_view(kNative).size()) : op;
}

class Comparer {
 public:
  Comparer(const Side& a, const Side& b) : a_(a), b_(b) {}

  Comparison Run() {
    Pair();
    for (const auto& [a, b] : out_.pairs) MarkPair(a, b);
    MarkFusion(a_, b_, out_.of_a, out_.of_b);
    MarkFusion(b_, a_, out_.of_b, out_.of_a);
    MarkNew(a_, b_, paired_a_, out_.of_a);
    MarkNew(b_, a_, paired_b_, out_.of_b);
    ListRows();
    Summarize();
    return std::move(out_);
  }

 private:
  using Marks = OrderedMap<NodeId, std::vector<Mark>>;

  static void Add(Marks& marks, NodeId id, Mark mark) {
    std::vector<Mark>& of = marks[id];
    if (std::find(of.begin(), of.end(), mark) == of.end()) of.push_back(mark);
  }

  void Pair() {
    for (NodeId a : a_.nodes()) {
      const NodeId b = b_.Named(a_.NameOf(a));
      if (b != kNoNode) PairUp(a, b);
    }
    for (NodeId a : a_.nodes()) {
      if (paired_a_.contains(a)) continue;
      for (const std::string& source : a_.SourcesOf(a)) {
        if (paired_a_.contains(a)) break;
        for (NodeId b : b_.Computing(source)) {
          if (paired_b_.contains(b) || b_.node(b).op != a_.node(a).op) continue;
          PairUp(a, b);
          break;
        }
      }
    }
    std::sort(out_.pairs.begin(), out_.pairs.end());
  }
  void PairUp(NodeId a, NodeId b) {
    out_.pairs.emplace_back(a, b);
    paired_a_.emplace(a, b);
    paired_b_.emplace(b, a);
  }

  bool Differs(double a_ms, double b_ms) const {
    if (!a_.measured() || !b_.measured()) return false;
    const double difference = std::abs(a_ms - b_ms);
    return difference > kDiffers * std::max(a_ms, b_ms) &&
           difference > kWorthAMark * std::max(a_.total_ms(), b_.total_ms());
  }

  void MarkPair(NodeId a, NodeId b) {
    const auto both = [&](Mark mark) {
      Add(out_.of_a, a, mark);
      Add(out_.of_b, b, mark);
    };
    if (Differs(a_.ms(a), b_.ms(b))) {
      const bool b_slower = b_.ms(b) > a_.ms(a);
      Add(out_.of_a, a, b_slower ? Mark::kFaster : Mark::kSlower);
      Add(out_.of_b, b, b_slower ? Mark::kSlower : Mark::kFaster);
    }
    if (PlainOp(a_.node(a).op) != PlainOp(b_.node(b).op)) {
      both(Mark::kOtherOp);
    } else if (a_.Implementation(a) != b_.Implementation(b)) {
      both(Mark::kOtherImplementation);
    }
    if (a_.DTypeOf(a) != b_.DTypeOf(b)) both(Mark::kOtherDType);
  }

  // Nodes of `one` that compute what several nodes of `other` do.
  static void MarkFusion(const Side& one, const Side& other, Marks& of_one, Marks& of_other) {
    for (NodeId id : one.nodes()) {
      const std::vector<std::string>& sources = one.SourcesOf(id);
      if (sources.size() < 2) continue;
      HashSet<NodeId> parts;
      for (const std::string& source : sources) {
        const std::vector<NodeId>& computing = other.Computing(source);
        if (computing.size() == 1) parts.insert(computing[0]);
      }
      // Each of them computes nothing else.
      const bool inside = std::all_of(parts.begin(), parts.end(), [&](NodeId part) {
        const std::vector<std::string>& of = other.SourcesOf(part);
        return std::all_of(of.begin(), of.end(), [&](const std::string& name) {
          return std::find(sources.begin(), sources.end(), name) != sources.end();
        });
      });
      if (parts.size() < 2 || !inside) continue;
      Add(of_one, id, Mark::kFused);
      for (NodeId part : parts) Add(of_other, part, Mark::kUnfused);
    }
  }

  static void MarkNew(const Side& one, const Side& other, const HashMap<NodeId, NodeId>& paired,
                      Marks& marks) {
    for (NodeId id : one.nodes()) {
      if (paired.contains(id)) continue;
      const std::vector<std::string>& sources = one.SourcesOf(id);
      const bool there = std::any_of(sources.begin(), sources.end(), [&](const std::string& name) {
        return !other.Computing(name).empty();
      });
      if (!there) Add(marks, id, Mark::kNew);
    }
  }

  void ListRows() {
    for (const auto& [a, marks] : out_.of_a) {
      const auto it = paired_a_.find(a);
      AddRow(a, it == paired_a_.end() ? kNoNode : it->second);
    }
    for (const auto& [b, marks] : out_.of_b) {
      if (!paired_b_.contains(b)) AddRow(kNoNode, b);
    }
    for (const auto& [a, b] : out_.pairs) {  // marked on the second alone
      if (!out_.of_a.contains(a) && out_.of_b.contains(b)) AddRow(a, b);
    }
    std::stable_sort(out_.rows.begin(), out_.rows.end(), [](const auto& x, const auto& y) {
      return std::abs(x.a_ms - x.b_ms) > std::abs(y.a_ms - y.b_ms);
    });
  }

  void AddRow(NodeId a, NodeId b) {
    Comparison::Row row;
    row.a = a;
    row.b = b;
    row.a_ms = a == kNoNode ? 0 : a_.ms(a);
    row.b_ms = b == kNoNode ? 0 : b_.ms(b);
    for (const auto& [marks, id] : {std::pair(&out_.of_a, a), std::pair(&out_.of_b, b)}) {
      const auto it = id == kNoNode ? marks->end() : marks->find(id);
      if (it == marks->end()) continue;
      // "slower" and "faster" are meant of the second, as in the sentence.
      for (Mark mark : it->second) {
        const bool time = mark == Mark::kSlower || mark == Mark::kFaster;
        if (time && marks == &out_.of_a) continue;
        if (std::find(row.marks.begin(), row.marks.end(), mark) == row.marks.end()) {
          row.marks.push_back(mark);
        }
      }
    }
    row.text = Sentence(row);
    out_.rows.push_back(std::move(row));
  }

  std::string Sentence(const Comparison::Row& row) const {
    const auto time = [&](const Side& side, double ms) {
      return side.measured() ? absl::StrFormat(", %.3f ms", ms) : std::string();
    };
    const auto what = [&](const Side& side, NodeId id, double ms) {
      const std::string how = side.Implementation(id);
      return absl::StrCat(PlainOp(side.node(id).op), how.empty() ? "" : ", ", how, time(side, ms),
                          " in ", side.title());
    };
    if (row.a == kNoNode || row.b == kNoNode) {
      const bool first = row.b == kNoNode;
      const Side& side = first ? a_ : b_;
      const NodeId id = first ? row.a : row.b;
      const double ms = first ? row.a_ms : row.b_ms;
      return absl::StrCat("'", side.NameOf(id), "' is only in ", side.title(), ": ",
                          PlainOp(side.node(id).op), time(side, ms));
    }
    return absl::StrCat("'", a_.NameOf(row.a), "': ", what(a_, row.a, row.a_ms), "; ",
                        what(b_, row.b, row.b_ms));
  }

  void Summarize() {
    if (a_.measured() && b_.measured()) {
      out_.summary.push_back(absl::StrFormat("%s takes %.3f ms, %s %.3f ms", a_.title(),
                                             a_.total_ms(), b_.title(), b_.total_ms()));
    }
    out_.summary.push_back(absl::StrFormat("%s runs %d nodes, %s %d; %d of them compute the same",
                                           a_.title(), a_.nodes().size(), b_.title(),
                                           b_.nodes().size(), out_.pairs.size()));
    const auto count = [](const Marks& marks, Mark mark) {
      return std::count_if(marks.begin(), marks.end(), [mark](const auto& of) {
        return std::find(of.second.begin(), of.second.end(), mark) != of.second.end();
      });
    };
    for (const auto& [mark, text] :
         {std::pair(Mark::kSlower, "slower"), std::pair(Mark::kFaster, "faster"),
          std::pair(Mark::kUnfused, "unfused"), std::pair(Mark::kNew, "new"),
          std::pair(Mark::kOtherDType, "in another dtype")}) {
      const auto n = count(out_.of_b, mark);
      if (n == 0) continue;
      out_.summary.push_back(absl::StrCat(n, n == 1 ? " node" : " nodes", " of ", b_.title(),
                                          n == 1 ? " is " : " are ", text));
    }
  }

  const Side& a_;
  const Side& b_;
  HashMap<NodeId, NodeId> paired_a_, paired_b_;
  Comparison out_;
};

}  // namespace

const char* Name(Mark mark) {
  switch (mark) {
    case Mark::kSlower:
      return "slower";
    case Mark::kFaster:
      return "faster";
    case Mark::kUnfused:
      return "unfused";
    case Mark::kFused:
      return "fused";
    case Mark::kNew:
      return "new";
    case Mark::kOtherOp:
      return "other_op";
    case Mark::kOtherImplementation:
      return "other_implementation";
    case Mark::kOtherDType:
      return "other_dtype";
  }
  return "";
}

Comparison Compare(const Exploration& a, const std::string& a_title, const Exploration& b,
                   const std::string& b_title) {
  const Side side_a(a, a_title), side_b(b, b_title);
  return Comparer(side_a, side_b).Run();
}

}  // namespace tenon
