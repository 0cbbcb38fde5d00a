// The normalization that a SentencePiece model prescribes: replacements of characters, spaces.
#ifndef TENON_KERNELS_TEXT_SENTENCEPIECE_NORMALIZER_H_
#define TENON_KERNELS_TEXT_SENTENCEPIECE_NORMALIZER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernels/text/piece_trie.h"
#include "kernels/text/trie.h"

namespace tenon {

constexpr absl::string_view kPieceSpace = "\xe2\x96\x81";  // U+2581, how pieces spell a space

// The bytes of a character by its first byte: 1 to 4.
size_t AnnouncedBytes(char lead);

class PieceNormalizer {
 public:
  // A serialized NormalizerSpec. InvalidArgument if it is damaged.
  static absl::StatusOr<PieceNormalizer> Parse(absl::string_view spec);

  bool adds_prefix() const { return add_prefix_; }
  bool removes_spaces() const { return remove_spaces_; }
  bool changes_characters() const { return rules_.has_value(); }

  // Spaces are marked at the end of a word, not at its beginning.
  void MarkEnds() { mark_ends_ = true; }
  // Pieces that are never changed (values are ignored).
  void Keep(const PieceTrie* pieces) { kept_ = pieces; }

  // `places` gets, for each byte of `out` and its end, the byte of `in` that it comes from.
  void Apply(absl::string_view in, std::string& out, std::vector<int32_t>& places) const;

 private:
  struct Prefix {
    absl::string_view text;
    size_t consumed;
  };
  Prefix Next(absl::string_view in) const;

  bool add_prefix_ = true, remove_spaces_ = true, escape_spaces_ = true, mark_ends_ = false;
  std::optional<Trie> rules_;  // to places in `replacements_`, where each ends with a NUL
  std::string replacements_;
  const PieceTrie* kept_ = nullptr;
};

}  // namespace tenon

#endif  // TENON_KERNELS_TEXT_SENTENCEPIECE_NORMALIZER_H_
