// The best sequences of pieces of a unigram model: A* over the lattice of pieces, from the end of
// the text to its beginning (Nagata 1994; SentencePiece's NBestEncode). The best score of what lies
// before a piece, which a pass forward finds, is the exact rest, so sequences come out in order.
#include <algorithm>
#include <limits>
#include <queue>

#include "env/status.h"
#include "kernels/text/sentencepiece_model.h"

namespace tenon {
namespace {

// As SentencePiece limits them; it decides what is found in long texts.
constexpr int kMostResults = 1024;
constexpr size_t kMostOpen = 100000, kFewestOpen = 512;
constexpr size_t kMostHypotheses = size_t{1} << 28;

struct LatticeNode {
  size_t begin, end;
  int32_t id;
  float score;  // its own
  float best;   // of the best sequence from the text's beginning that ends with it
};

struct Open {
  float total;  // of the best whole sequence that ends like this
  int32_t hypothesis;
};
struct Worse {
  bool operator()(const Open& a, const Open& b) const { return a.total < b.total; }
};
using Agenda = std::priority_queue<Open, std::vector<Open>, Worse>;

// The end of a sequence: a node, and what follows it.
struct Hypothesis {
  int32_t node;  // kBegin: the sequence is whole
  int32_t next;
  float score;  // of this end
};
constexpr int32_t kBegin = -1, kNone = -1;

}  // namespace

absl::StatusOr<std::vector<std::vector<SentencePieceModel::Part>>> SentencePieceModel::BestSplits(
    absl::string_view text, int count) const {
  count = std::clamp(count, 1, kMostResults);
  if (count == 1 || text.empty()) return std::vector<std::vector<Part>>{Split(text)};

  std::vector<LatticeNode> nodes;
  std::vector<std::vector<int32_t>> ending(text.size() + 1);  // nodes by the byte where they end
  std::vector<float> best(text.size() + 1, -std::numeric_limits<float>::infinity());
  best[0] = 0;
  const auto add = [&](size_t begin, size_t end, int32_t id, float score) {
    ending[end].push_back(static_cast<int32_t>(nodes.size()));
    nodes.push_back({begin, end, id, score, best[begin] + score});
    best[end] = std::max(best[end], nodes.back().best);
  };
  for (size_t begin = 0; begin < text.size();) {
    const size_t character = std::min(AnnouncedBytes(text[begin]), text.size() - begin);
    bool known = false;
    trie_.ForEachPrefix(text.substr(begin), [&](size_t size, int32_t id) {
      if (TypeOf(id) == Type::kUnused) return;
      float score = pieces_[static_cast<size_t>(id)].score;
      if (TypeOf(id) == Type::kUser) {
        int characters = 0;
        for (size_t at = 0; at < size; at += AnnouncedBytes(text[begin + at])) ++characters;
        score = static_cast<float>(static_cast<double>(static_cast<float>(characters) * highest_) -
                                   0.1);
      }
      add(begin, begin + size, id, score);
      known = known || size == character;
    });
    if (!known) add(begin, begin + character, unknown_, lowest_ - 10);
    begin += character;
  }

  std::vector<std::vector<Part>> results;
  std::vector<Hypothesis> hypotheses;
  Agenda agenda;
  const auto open = [&](int32_t node, int32_t next, float score, float total) {
    agenda.push({total, static_cast<int32_t>(hypotheses.size())});
    hypotheses.push_back({node, next, score});
  };
  // Adds what may stand before a place.
  const auto expand = [&](size_t place, int32_t next, float score) {
    if (place == 0) open(kBegin, next, score, score);
    for (const int32_t n : ending[place]) {
      const LatticeNode& node = nodes[static_cast<size_t>(n)];
      open(n, next, node.score + score, node.best + score);
    }
  };
  expand(text.size(), kNone, 0);
  while (!agenda.empty()) {
    if (hypotheses.size() > kMostHypotheses) {
      return absl::ResourceExhaustedError("too many segmentations of a text");
    }
    const int32_t top = agenda.top().hypothesis;
    agenda.pop();
    const Hypothesis end = hypotheses[static_cast<size_t>(top)];
    if (end.node == kBegin) {
      std::vector<Part>& parts = results.emplace_back();
      for (int32_t h = end.next; h != kNone; h = hypotheses[static_cast<size_t>(h)].next) {
        const LatticeNode& node =
            nodes[static_cast<size_t>(hypotheses[static_cast<size_t>(h)].node)];
        parts.push_back({text.substr(node.begin, node.end - node.begin), node.id});
      }
      if (std::ssize(results) == count) break;
      continue;
    }
    expand(nodes[static_cast<size_t>(end.node)].begin, top, end.score);
    if (agenda.size() < kMostOpen) continue;
    Agenda few;
    for (size_t i = 0; i < std::min(kFewestOpen, static_cast<size_t>(count) * 10); ++i) {
      few.push(agenda.top());
      agenda.pop();
    }
    agenda = std::move(few);
  }
  return results;
}

}  // namespace tenon
