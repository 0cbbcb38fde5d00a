#include "runtime/explore/layout/layout.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/strip.h"
#include "runtime/explore/layout/layers.h"
#include "runtime/explore/layout/scope_tree.h"
#include "runtime/explore/layout/slots.h"

namespace tenon {
namespace {

constexpr int kMostRounds = 24;  // of dissolving scopes

// Slots are the items 0..n-1, and scope number k is item n + k.
class Placer {
 public:
  Placer(const Story& story, const std::string& prefix)
      : prefix_(prefix), slots_(AssignSlots(story)) {
    num_slots_ = static_cast<int>(slots_.slots.size());
    FindReaders();
    MakeScopes();
  }

  Layout Run() {
    for (int round = 0; round < kMostRounds && Dissolve(); ++round) {
    }
    FindGroups();
    layer_.resize(parent_.size());
    order_.resize(parent_.size());
    for (Group& group : groups_) PlaceGroup(group);
    return Take();
  }

 private:
  struct Group {  // the children of a scope
    std::vector<int> items;
    std::vector<Edge> edges;  // between positions in `items`
  };

  size_t ScopeItem(int scope) const { return static_cast<size_t>(num_slots_ + scope); }
  int& ParentOf(int item) { return parent_[static_cast<size_t>(item)]; }

  void FindReaders() {
    first_reader_.assign(slots_.slots.size(), -1);
    for (const Edge& e : slots_.edges) {
      int& first = first_reader_[static_cast<size_t>(e.first)];
      if (first < 0 || Rank(e.second) < Rank(first)) first = e.second;
    }
  }
  double Rank(int slot) const { return slots_.slots[static_cast<size_t>(slot)].rank; }

  // Constants are in the scopes of their readers, whatever their names.
  void MakeScopes() {
    std::vector<std::string> names;
    for (size_t s = 0; s < slots_.slots.size(); ++s) {
      const int reader = first_reader_[s];
      const bool constant = slots_.slots[s].is_constant && reader >= 0;
      const std::string& name = slots_.slots[constant ? static_cast<size_t>(reader) : s].name;
      names.emplace_back(absl::StripPrefix(name, prefix_));
    }
    tree_ = ScopesByName(names);
    parent_ = tree_.scope_of;
    for (const ScopeTree::Scope& scope : tree_.scopes) {
      parent_.push_back(scope.parent);
      depth_.push_back(tree_.DepthOf(static_cast<int>(depth_.size())));
    }
    dissolved_.resize(tree_.scopes.size());
    // Where several scopes read a constant: in the one that holds them all.
    for (const Edge& e : slots_.edges) {
      if (!slots_.slots[static_cast<size_t>(e.first)].is_constant) continue;
      const auto [scope, from, to] = Meet(e.first, e.second);
      ParentOf(e.first) = scope;
    }
  }

  struct Meeting {
    int scope, from, to;  // the innermost scope that holds both, and its children that do
  };
  Meeting Meet(int a, int b) const {
    int from = a, to = b;
    int of_a = parent_[static_cast<size_t>(a)], of_b = parent_[static_cast<size_t>(b)];
    const auto depth = [this](int scope) {
      return scope < 0 ? 0 : depth_[static_cast<size_t>(scope)];
    };
    while (of_a != of_b) {
      if (depth(of_a) >= depth(of_b)) {
        from = num_slots_ + of_a;
        of_a = parent_[ScopeItem(of_a)];
      } else {
        to = num_slots_ + of_b;
        of_b = parent_[ScopeItem(of_b)];
      }
    }
    return {of_a, from, to};
  }

  void FindGroups() {
    groups_.assign(tree_.scopes.size() + 1, {});
    rank_.assign(parent_.size(), std::numeric_limits<double>::max());
    size_.assign(parent_.size(), 1);
    floating_.assign(parent_.size(), true);
    for (int s = 0; s < num_slots_; ++s) {
      const auto i = static_cast<size_t>(s);
      rank_[i] = Rank(s);
      floating_[i] = slots_.slots[i].is_floating;
      for (int scope = parent_[i]; scope >= 0; scope = parent_[ScopeItem(scope)]) {
        double& rank = rank_[ScopeItem(scope)];
        rank = std::min(rank, rank_[i]);
        ++size_[ScopeItem(scope)];
        if (!floating_[i]) floating_[ScopeItem(scope)] = false;
      }
    }
    position_.assign(parent_.size(), 0);
    for (size_t item = 0; item < parent_.size(); ++item) {
      const int scope = static_cast<int>(item) - num_slots_;
      if (scope >= 0 && dissolved_[static_cast<size_t>(scope)]) continue;
      groups_[static_cast<size_t>(parent_[item] + 1)].items.push_back(static_cast<int>(item));
    }
    for (Group& group : groups_) {
      std::stable_sort(group.items.begin(), group.items.end(), [this](int a, int b) {
        return rank_[static_cast<size_t>(a)] < rank_[static_cast<size_t>(b)];
      });
      for (size_t i = 0; i < group.items.size(); ++i) {
        position_[static_cast<size_t>(group.items[i])] = static_cast<int>(i);
      }
    }
    for (const Edge& e : slots_.edges) {
      const Meeting m = Meet(e.first, e.second);
      groups_[static_cast<size_t>(m.scope + 1)].edges.emplace_back(
          position_[static_cast<size_t>(m.from)], position_[static_cast<size_t>(m.to)]);
    }
    visits_ += num_slots_ + static_cast<int64_t>(slots_.edges.size());
  }

  // Dissolves scopes until the children of a scope are in no cycle, but for the largest one of each
  // cycle with several. Returns whether there were any.
  bool Dissolve() {
    FindGroups();
    bool changed = false;
    for (const Group& group : groups_) {
      const int n = static_cast<int>(group.items.size());
      const std::vector<int> component = StrongComponents(n, group.edges);
      struct Knot {
        int items = 0, scopes = 0, largest = -1;
      };
      std::vector<Knot> knots(static_cast<size_t>(n));
      const auto knot_of = [&](size_t i) -> Knot& {
        return knots[static_cast<size_t>(component[i])];
      };
      for (size_t i = 0; i < group.items.size(); ++i) {
        Knot& knot = knot_of(i);
        ++knot.items;
        const int item = group.items[i];
        if (item < num_slots_) continue;
        ++knot.scopes;
        const bool larger = knot.largest < 0 || size_[static_cast<size_t>(item)] >
                                                    size_[static_cast<size_t>(knot.largest)];
        if (larger) knot.largest = item;
      }
      for (size_t i = 0; i < group.items.size(); ++i) {
        const Knot& knot = knot_of(i);
        const int item = group.items[i];
        if (item < num_slots_ || knot.items == 1) continue;
        if (knot.scopes > 1 && item == knot.largest) continue;
        dissolved_[static_cast<size_t>(item - num_slots_)] = true;
        changed = true;
      }
    }
    if (!changed) return false;
    for (int& parent : parent_) {
      while (parent >= 0 && dissolved_[static_cast<size_t>(parent)]) {
        parent = parent_[ScopeItem(parent)];
      }
    }
    return true;
  }

  void PlaceGroup(Group& group) {
    std::vector<bool> floating;
    for (int item : group.items) floating.push_back(floating_[static_cast<size_t>(item)]);
    const Layering layers =
        LayOutLayers(static_cast<int>(group.items.size()), group.edges, floating);
    for (size_t i = 0; i < group.items.size(); ++i) {
      layer_[static_cast<size_t>(group.items[i])] = layers.layer[i];
      order_[static_cast<size_t>(group.items[i])] = layers.order[i];
    }
    visits_ += layers.visits;
  }

  Layout Take() {
    Layout out;
    out.visits = visits_;
    std::vector<int> now(tree_.scopes.size(), -1);  // scopes without the dissolved ones
    for (size_t k = 0; k < tree_.scopes.size(); ++k) {
      if (dissolved_[k]) continue;
      now[k] = static_cast<int>(out.scopes.size());
      const size_t item = ScopeItem(static_cast<int>(k));
      const int parent = parent_[item];
      const int parent_now = parent < 0 ? -1 : now[static_cast<size_t>(parent)];
      std::string label = tree_.scopes[k].label;
      if (parent != tree_.scopes[k].parent) {  // the label of a child of a dissolved scope
        label = tree_.scopes[k].name;
        if (parent >= 0) label.erase(0, tree_.scopes[static_cast<size_t>(parent)].name.size() + 1);
      }
      out.scopes.push_back(
          {tree_.scopes[k].name, std::move(label), parent_now, layer_[item], order_[item]});
    }
    for (size_t id = 0; id < slots_.of.size(); ++id) {
      if (slots_.of[id] < 0) continue;
      const auto s = static_cast<size_t>(slots_.of[id]);
      const int scope = parent_[s] < 0 ? -1 : now[static_cast<size_t>(parent_[s])];
      out.nodes.push_back({static_cast<NodeId>(id), scope, layer_[s], order_[s]});
    }
    return out;
  }

  const std::string& prefix_;
  const Slots slots_;
  int num_slots_ = 0;
  std::vector<int> first_reader_;  // by slot; -1: none
  ScopeTree tree_;
  std::vector<int> depth_;       // by scope, as in the tree
  std::vector<bool> dissolved_;  // by scope
  std::vector<int> parent_;      // by item: a scope, or -1
  std::vector<Group> groups_;    // by scope + 1
  std::vector<double> rank_;     // by item: the least of its slots
  std::vector<int> size_;        // by item: slots
  std::vector<bool> floating_;   // by item
  std::vector<int> position_;    // by item: in its group
  std::vector<int> layer_, order_;
  int64_t visits_ = 0;
};

}  // namespace

Layout LayOut(const Story& story, const std::string& prefix) { return Placer(story, prefix).Run(); }

}  // namespace tenon
