// SentencePiece models (Kudo and Richardson, 2018): unigram, BPE, words and characters. Debian's
// library is not used because it exports another version of protobuf, which cannot be in one
// process with ours.
#ifndef TENON_KERNELS_TEXT_SENTENCEPIECE_MODEL_H_
#define TENON_KERNELS_TEXT_SENTENCEPIECE_MODEL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "env/containers.h"
#include "kernels/interface/constant.h"
#include "kernels/text/piece_trie.h"
#include "kernels/text/sentencepiece_normalizer.h"

namespace tenon {

// A piece of a text, and the bytes of the text that it stands for.
struct SentencePiece {
  std::string piece;
  int32_t id;
  int64_t begin, end;
};

struct SentencePieceOptions {
  bool add_begin, add_end, reverse;
};

class SentencePieceModel final : public DerivedConstant {
 public:
  // A serialized ModelProto. InvalidArgument if it is damaged or contradicts itself.
  static absl::StatusOr<std::shared_ptr<const SentencePieceModel>> Parse(absl::string_view bytes);

  int32_t size() const { return static_cast<int32_t>(pieces_.size()); }
  // The unknown id for other pieces.
  int32_t IdOf(absl::string_view piece) const;
  const std::string& PieceOf(int32_t id) const { return pieces_[static_cast<size_t>(id)].text; }

  // Appends the pieces of a text.
  absl::Status Encode(absl::string_view text, const SentencePieceOptions& options,
                      std::vector<SentencePiece>& to) const;
  // Appends the pieces of its best splits, at most `count` and 1,024, the best first. Internal if
  // the model is no unigram model.
  absl::Status EncodeBest(absl::string_view text, int count, const SentencePieceOptions& options,
                          std::vector<std::vector<SentencePiece>>& to) const;
  absl::StatusOr<std::string> Decode(std::vector<std::string> pieces,
                                     const SentencePieceOptions& options) const;

  size_t bytes() const override;

 private:
  enum class Algorithm { kUnigram = 1, kBpe = 2, kWord = 3, kCharacter = 4 };
  enum class Type { kNormal = 1, kUnknown = 2, kControl = 3, kUser = 4, kUnused = 5, kByte = 6 };
  struct Piece {
    std::string text;
    float score = 0;
    Type type = Type::kNormal;
  };
  // A piece of the normalized text.
  struct Part {
    absl::string_view text;
    int32_t id;
  };

  absl::Status ParseTrainer(absl::string_view spec);
  absl::Status Index();
  Type TypeOf(int32_t id) const { return pieces_[static_cast<size_t>(id)].type; }
  // The size of the user's piece or character at the beginning; `frozen`: it is a user's piece.
  size_t FirstSize(absl::string_view text, bool& frozen) const;

  std::vector<Part> Split(absl::string_view text) const;
  std::vector<Part> SplitUnigram(absl::string_view text) const;
  std::vector<Part> SplitBpe(absl::string_view text) const;
  absl::StatusOr<std::vector<std::vector<Part>>> BestSplits(absl::string_view text,
                                                            int count) const;
  // `places`: of the normalized text's bytes in the text.
  void AddPieces(absl::Span<const Part> parts, absl::Span<const int32_t> places,
                 const SentencePieceOptions& options, std::vector<SentencePiece>& to) const;
  absl::Status CheckOptions(const SentencePieceOptions& options) const;
  std::string ByteText(absl::Span<const unsigned char> bytes) const;

  Algorithm algorithm_ = Algorithm::kUnigram;
  bool byte_fallback_ = false, marks_ends_ = false;
  std::string begin_ = "<s>", end_ = "</s>", unknown_surface_ = " \xE2\x81\x87 ";
  std::vector<Piece> pieces_;
  PieceNormalizer normalizer_;
  std::unique_ptr<const PieceNormalizer> denormalizer_;

  int32_t unknown_ = -1;
  float lowest_ = 0, highest_ = 0;  // scores of normal pieces
  PieceTrie trie_, users_;
  bool has_users_ = false;
  HashMap<absl::string_view, int32_t> ids_, reserved_;
  std::vector<int32_t> byte_ids_;  // by byte
};

}  // namespace tenon

#endif  // TENON_KERNELS_TEXT_SENTENCEPIECE_MODEL_H_
