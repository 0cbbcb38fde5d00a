// The model of TensorFlow Text's fast wordpiece tokenizer: the vocabulary as a trie, with links
// that say how a path which does not continue is split into pieces (Song and others, "Fast
// WordPiece Tokenization", 2021).
#ifndef TENON_KERNELS_TEXT_FAST_WORDPIECE_MODEL_H_
#define TENON_KERNELS_TEXT_FAST_WORDPIECE_MODEL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernels/interface/constant.h"
#include "kernels/text/trie.h"

namespace tenon {

struct FastWordpieceModel final : DerivedConstant {
  static constexpr uint32_t kNone = 0xFFFFFFFF;

  // Where to go on from a node, and the pieces that the way there gives.
  struct Failure {
    uint32_t link;    // a node, or kNone
    uint32_t pieces;  // place in `pool`, and in the low 8 bits the number minus 1
    size_t first() const { return pieces >> 8; }
    size_t count() const { return (pieces & 0xFF) + 1; }
  };

  // A piece, as the trie and the pool hold it.
  struct Piece {
    int32_t bits;
    bool continues() const { return (bits >> 30) != 0; }
    int32_t id() const { return (bits >> 8) & 0x3FFFFF; }
    int32_t bytes() const { return (bits & 0xFF) + 1; }  // without the indicator
  };

  explicit FastWordpieceModel(Trie t) : trie(std::move(t)) {}

  // InvalidArgument if it is damaged. Links and places are then within bounds.
  static absl::StatusOr<std::shared_ptr<const FastWordpieceModel>> Parse(
      absl::Span<const uint8_t> bytes);

  size_t bytes() const override;

  Trie trie;
  std::vector<Failure> failures;  // one per node
  std::vector<Piece> pool;
  uint32_t indicator_node, punctuation_node;
  int32_t most_bytes;  // of a word
  std::string indicator, unknown;
  int32_t unknown_id;
  std::vector<Piece> of_indicator;  // the pieces of the word that is the indicator
  bool splits_words;                // takes texts, not words
  bool can_detokenize;
  std::vector<std::string> vocabulary;  // without indicators
  std::vector<uint8_t> continues;
};

}  // namespace tenon

#endif  // TENON_KERNELS_TEXT_FAST_WORDPIECE_MODEL_H_
