// How SentencePiece models split a normalized text into pieces.
#include <algorithm>
#include <queue>

#include "absl/strings/match.h"
#include "env/containers.h"
#include "kernels/text/sentencepiece_model.h"

namespace tenon {

size_t SentencePieceModel::FirstSize(absl::string_view text, bool& frozen) const {
  size_t size = 0;
  if (has_users_) users_.ForEachPrefix(text, [&](size_t bytes, int32_t) { size = bytes; });
  frozen = size > 0;
  return frozen ? size : std::min(text.size(), AnnouncedBytes(text[0]));
}

std::vector<SentencePieceModel::Part> SentencePieceModel::Split(absl::string_view text) const {
  if (algorithm_ == Algorithm::kUnigram) return SplitUnigram(text);
  if (algorithm_ == Algorithm::kBpe) return SplitBpe(text);
  std::vector<Part> parts;
  while (!text.empty()) {
    bool frozen;
    size_t size = FirstSize(text, frozen);
    if (algorithm_ == Algorithm::kWord) {  // up to the next space, or behind it
      size = text.find(kPieceSpace, marks_ends_ ? 0 : size);
      if (size == absl::string_view::npos) {
        size = text.size();
      } else if (marks_ends_) {
        size += kPieceSpace.size();
      }
    }
    parts.push_back({text.substr(0, size), IdOf(text.substr(0, size))});
    text.remove_prefix(size);
  }
  return parts;
}

// The sequence of pieces with the largest sum of scores, by Viterbi's algorithm.
std::vector<SentencePieceModel::Part> SentencePieceModel::SplitUnigram(
    absl::string_view text) const {
  struct Best {  // of the sequences that end at a byte
    int32_t id = -1, begin = -1;
    float score = 0;
  };
  std::vector<Best> best(text.size() + 1);
  const auto offer = [&best](size_t begin, size_t end, int32_t id, double score) {
    Best& at = best[end];
    if (at.begin >= 0 && !(score > static_cast<double>(at.score))) return;
    at = {id, static_cast<int32_t>(begin), static_cast<float>(score)};
  };
  const float unknown_score = lowest_ - 10;
  for (size_t begin = 0; begin < text.size();) {
    const size_t character = std::min(AnnouncedBytes(text[begin]), text.size() - begin);
    const float before = best[begin].score;
    bool known = false;
    trie_.ForEachPrefix(text.substr(begin), [&](size_t size, int32_t id) {
      const Type type = TypeOf(id);
      if (type == Type::kUnused) return;
      // A user's piece wins over all others. In SentencePiece only its score is a double.
      if (type == Type::kUser) {
        offer(begin, begin + size, id,
              static_cast<double>(static_cast<float>(size) * highest_) - 0.1 +
                  static_cast<double>(before));
      } else {
        offer(begin, begin + size, id,
              static_cast<double>(pieces_[static_cast<size_t>(id)].score) +
                  static_cast<double>(before));
      }
      known = known || size == character;
    });
    if (!known) {
      offer(begin, begin + character, unknown_, static_cast<double>(unknown_score + before));
    }
    begin += character;
  }
  std::vector<Part> parts;
  for (size_t end = text.size(); end > 0;) {
    const Best& at = best[end];
    const size_t begin = static_cast<size_t>(std::max(0, at.begin));
    parts.push_back({text.substr(begin, end - begin), at.id < 0 ? unknown_ : at.id});
    end = begin;
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

namespace {

struct Symbol {
  absl::string_view text;  // empty: merged into one before
  int32_t before, after;
  bool frozen;
};

struct Merge {
  float score;
  int32_t left, right;
  size_t size;

  // The best first, then the leftmost.
  bool operator<(const Merge& other) const {
    return score < other.score || (score == other.score && left > other.left);
  }
};

}  // namespace

// Merges the two neighbors that make the best piece, until none do.
std::vector<SentencePieceModel::Part> SentencePieceModel::SplitBpe(absl::string_view text) const {
  std::vector<Symbol> symbols;
  for (absl::string_view rest = text; !rest.empty();) {
    Symbol s;
    s.text = rest.substr(0, FirstSize(rest, s.frozen));
    rest.remove_prefix(s.text.size());
    s.before = static_cast<int32_t>(symbols.size()) - 1;
    s.after = rest.empty() ? -1 : static_cast<int32_t>(symbols.size()) + 1;
    symbols.push_back(s);
  }
  std::priority_queue<Merge> merges;
  // What unused pieces were made of.
  HashMap<absl::string_view, std::pair<absl::string_view, absl::string_view>> halves;
  auto offer = [&](int32_t left, int32_t right) {
    if (left < 0 || right < 0) return;
    const Symbol &a = symbols[static_cast<size_t>(left)], &b = symbols[static_cast<size_t>(right)];
    if (a.frozen || b.frozen) return;
    const absl::string_view piece(a.text.data(), a.text.size() + b.text.size());
    const auto it = ids_.find(piece);
    if (it == ids_.end()) return;
    merges.push({pieces_[static_cast<size_t>(it->second)].score, left, right, piece.size()});
    if (TypeOf(it->second) == Type::kUnused) halves[piece] = {a.text, b.text};
  };
  for (size_t i = 1; i < symbols.size(); ++i) {
    offer(static_cast<int32_t>(i) - 1, static_cast<int32_t>(i));
  }
  while (!merges.empty()) {
    const Merge merge = merges.top();
    merges.pop();
    Symbol &left = symbols[static_cast<size_t>(merge.left)],
           &right = symbols[static_cast<size_t>(merge.right)];
    if (left.text.empty() || right.text.empty() ||
        left.text.size() + right.text.size() != merge.size) {
      continue;
    }
    left.text = absl::string_view(left.text.data(), merge.size);
    left.after = right.after;
    if (left.after >= 0) symbols[static_cast<size_t>(left.after)].before = merge.left;
    right.text = "";
    offer(left.before, merge.left);
    offer(merge.left, left.after);
  }
  std::vector<Part> parts;
  std::vector<absl::string_view> open;  // a stack: unused pieces are split again
  for (int32_t i = symbols.empty() ? -1 : 0; i >= 0; i = symbols[static_cast<size_t>(i)].after) {
    open.push_back(symbols[static_cast<size_t>(i)].text);
    while (!open.empty()) {
      const absl::string_view piece = open.back();
      open.pop_back();
      const int32_t id = IdOf(piece);
      const auto it = halves.find(piece);
      if (TypeOf(id) != Type::kUnused || it == halves.end()) {
        parts.push_back({piece, id});
        continue;
      }
      open.push_back(it->second.second);
      open.push_back(it->second.first);
    }
  }
  return parts;
}

}  // namespace tenon
