#include "kernels/text/sentencepiece_model.h"

#include <unicode/utf8.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "env/status.h"
#include "kernels/example_proto/wire.h"

namespace tenon {
namespace {

absl::Status Damaged() { return InvalidArgument("the SentencePiece model is damaged"); }

float FloatOf(const WireField& f) { return std::bit_cast<float>(static_cast<uint32_t>(f.value)); }

}  // namespace

absl::Status SentencePieceModel::ParseTrainer(absl::string_view spec) {
  WireReader reader(spec);
  for (WireField f; reader.Next(f);) {
    if (f.number == 3) algorithm_ = static_cast<Algorithm>(f.value);
    if (f.number == 24) marks_ends_ = f.value != 0;
    if (f.number == 35) byte_fallback_ = f.value != 0;
    if (f.number == 44 && f.is_bytes()) unknown_surface_ = std::string(f.bytes);
    if (f.number == 46 && f.is_bytes()) begin_ = std::string(f.bytes);
    if (f.number == 47 && f.is_bytes()) end_ = std::string(f.bytes);
  }
  if (!reader.ok()) return Damaged();
  if (algorithm_ < Algorithm::kUnigram || algorithm_ > Algorithm::kCharacter) {
    return InvalidArgument("a SentencePiece model of type ", static_cast<int>(algorithm_));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const SentencePieceModel>> SentencePieceModel::Parse(
    absl::string_view bytes) {
  if (bytes.empty()) return InvalidArgument("Model argument must be specified.");
  auto model = std::make_shared<SentencePieceModel>();
  absl::string_view normalizer, denormalizer;
  WireReader reader(bytes);
  for (WireField f; reader.Next(f);) {
    if (!f.is_bytes()) continue;
    if (f.number == 1) {
      Piece piece;
      WireReader fields(f.bytes);
      for (WireField g; fields.Next(g);) {
        if (g.number == 1 && g.is_bytes()) piece.text = std::string(g.bytes);
        if (g.number == 2) piece.score = FloatOf(g);
        if (g.number == 3) piece.type = static_cast<Type>(g.value);
      }
      if (!fields.ok()) return Damaged();
      model->pieces_.push_back(std::move(piece));
    }
    if (f.number == 2) TENON_RETURN_IF_ERROR(model->ParseTrainer(f.bytes));
    if (f.number == 3) normalizer = f.bytes;
    if (f.number == 5) denormalizer = f.bytes;
  }
  if (!reader.ok()) return Damaged();
  TENON_ASSIGN_OR_RETURN(model->normalizer_, PieceNormalizer::Parse(normalizer));
  TENON_ASSIGN_OR_RETURN(PieceNormalizer back, PieceNormalizer::Parse(denormalizer));
  if (back.changes_characters()) {
    model->denormalizer_ = std::make_unique<const PieceNormalizer>(std::move(back));
  }
  TENON_RETURN_IF_ERROR(model->Index());
  if (model->marks_ends_) model->normalizer_.MarkEnds();
  if (model->has_users_) model->normalizer_.Keep(&model->users_);
  return model;
}

absl::Status SentencePieceModel::Index() {
  std::vector<std::pair<absl::string_view, int32_t>> in_texts, users;
  byte_ids_.assign(256, -1);
  lowest_ = std::numeric_limits<float>::max();
  highest_ = std::numeric_limits<float>::min();  // the smallest above 0, as in SentencePiece
  for (int32_t id = 0; id < size(); ++id) {
    const Piece& piece = pieces_[static_cast<size_t>(id)];
    const Type type = piece.type;
    if (piece.text.empty()) return InvalidArgument("piece must not be empty.");
    const bool in_text = type == Type::kNormal || type == Type::kUser || type == Type::kUnused;
    if (!(in_text ? ids_ : reserved_).emplace(piece.text, id).second) {
      return InvalidArgument(piece.text, " is already defined.");
    }
    if (in_text) in_texts.push_back({piece.text, id});
    if (type == Type::kUser) users.push_back({piece.text, id});
    if (type == Type::kNormal) {
      lowest_ = std::min(lowest_, piece.score);
      highest_ = std::max(highest_, piece.score);
    }
    if (type == Type::kUnknown) {
      if (unknown_ >= 0) return InvalidArgument("unk is already defined.");
      unknown_ = id;
    }
  }
  if (unknown_ < 0) return InvalidArgument("unk is not defined.");
  for (int b = 0; b < 256; ++b) {
    char piece[8];
    absl::SNPrintF(piece, sizeof piece, "<0x%02X>", b);
    const auto it = reserved_.find(piece);
    const bool found = it != reserved_.end() && TypeOf(it->second) == Type::kByte;
    if (found) byte_ids_[static_cast<size_t>(b)] = it->second;
    if (byte_fallback_ && !found) {
      return InvalidArgument("there are not 256 byte pieces although `byte_fallback` is true.");
    }
  }
  has_users_ = !users.empty();
  trie_ = PieceTrie(std::move(in_texts));
  users_ = PieceTrie(std::move(users));
  return absl::OkStatus();
}

size_t SentencePieceModel::bytes() const {
  return trie_.bytes() + pieces_.size() * (sizeof(Piece) + 2 * sizeof(absl::string_view));
}

int32_t SentencePieceModel::IdOf(absl::string_view piece) const {
  if (const auto it = reserved_.find(piece); it != reserved_.end()) return it->second;
  const auto it = ids_.find(piece);
  return it == ids_.end() ? unknown_ : it->second;
}

absl::Status SentencePieceModel::CheckOptions(const SentencePieceOptions& options) const {
  if (options.add_begin && IdOf(begin_) == unknown_) {
    return Internal("id for `", begin_, "` is not defined.");
  }
  if (options.add_end && IdOf(end_) == unknown_) {
    return Internal("id for `", end_, "` is not defined.");
  }
  return absl::OkStatus();
}

absl::Status SentencePieceModel::Encode(absl::string_view text, const SentencePieceOptions& options,
                                        std::vector<SentencePiece>& to) const {
  TENON_RETURN_IF_ERROR(CheckOptions(options));
  std::string normal;
  std::vector<int32_t> places;
  normalizer_.Apply(text, normal, places);
  AddPieces(Split(normal), places, options, to);
  return absl::OkStatus();
}

absl::Status SentencePieceModel::EncodeBest(absl::string_view text, int count,
                                            const SentencePieceOptions& options,
                                            std::vector<std::vector<SentencePiece>>& to) const {
  if (algorithm_ != Algorithm::kUnigram) {
    return Internal("NBestEncode is not available for the current model.");
  }
  TENON_RETURN_IF_ERROR(CheckOptions(options));
  std::string normal;
  std::vector<int32_t> places;
  normalizer_.Apply(text, normal, places);
  TENON_ASSIGN_OR_RETURN(const std::vector<std::vector<Part>> splits, BestSplits(normal, count));
  for (const std::vector<Part>& parts : splits) {
    AddPieces(parts, places, options, to.emplace_back());
  }
  return absl::OkStatus();
}

void SentencePieceModel::AddPieces(absl::Span<const Part> parts, absl::Span<const int32_t> places,
                                   const SentencePieceOptions& options,
                                   std::vector<SentencePiece>& to) const {
  const size_t first = to.size();
  if (options.add_begin) to.push_back({begin_, IdOf(begin_), 0, 0});
  size_t done = 0;
  bool after_unknown = false;
  for (const Part& part : parts) {
    const bool unknown = part.id == unknown_;
    const int64_t begin = places[done], end = places[done + part.text.size()];
    if (TypeOf(part.id) == Type::kControl) {
      to.push_back({std::string(part.text), part.id, begin, begin});
      after_unknown = false;
      continue;
    }
    if (unknown && byte_fallback_) {
      // The last byte stands for the whole character.
      for (size_t i = 0; i < part.text.size(); ++i) {
        const int32_t id = byte_ids_[static_cast<unsigned char>(part.text[i])];
        to.push_back({PieceOf(id), id, begin, i + 1 == part.text.size() ? end : begin});
      }
    } else if (unknown && after_unknown) {
      to.back().piece.append(part.text.data(), part.text.size());
      to.back().end = end;
    } else {
      to.push_back({std::string(part.text), part.id, begin, end});
    }
    done += part.text.size();
    after_unknown = unknown;
  }
  // SentencePiece gives both ends of a text the place 0.
  if (options.add_end) to.push_back({end_, IdOf(end_), 0, 0});
  if (options.reverse) std::reverse(to.begin() + static_cast<std::ptrdiff_t>(first), to.end());
}

std::string SentencePieceModel::ByteText(absl::Span<const unsigned char> bytes) const {
  std::string text;
  const int32_t size = static_cast<int32_t>(bytes.size());
  for (int32_t at = 0; at < size;) {
    const int32_t begin = at;
    UChar32 c;
    U8_NEXT(bytes.data(), at, size, c);
    if (c < 0) {  // one byte at a time
      text += "\xEF\xBF\xBD";
      at = begin + 1;
    } else {
      text.append(bytes.begin() + begin, bytes.begin() + at);
    }
  }
  return text;
}

absl::StatusOr<std::string> SentencePieceModel::Decode(std::vector<std::string> pieces,
                                                       const SentencePieceOptions& options) const {
  TENON_RETURN_IF_ERROR(CheckOptions(options));
  if (options.add_begin) pieces.insert(pieces.begin(), begin_);
  if (options.add_end) pieces.push_back(end_);
  if (options.reverse) std::reverse(pieces.begin(), pieces.end());
  std::string text;
  std::vector<unsigned char> bytes;
  bool at_begin = true, saw_space = false;
  auto flush = [&] {
    text += ByteText(bytes);
    bytes.clear();
  };
  for (const std::string& piece : pieces) {
    const int32_t id = IdOf(piece);
    const Type type = TypeOf(id);
    if (type == Type::kByte) {
      const auto it = std::find(byte_ids_.begin(), byte_ids_.end(), id);
      if (it == byte_ids_.end()) return InvalidArgument("the byte piece ", piece, " is no byte");
      bytes.push_back(static_cast<unsigned char>(it - byte_ids_.begin()));
      continue;
    }
    flush();
    if (saw_space || !text.empty()) at_begin = false;
    saw_space = false;
    if (type == Type::kControl) continue;
    if (type == Type::kUnknown) {
      text += piece == PieceOf(id) ? unknown_surface_ : piece;
      continue;
    }
    absl::string_view rest = piece;
    if (at_begin && (normalizer_.adds_prefix() || normalizer_.removes_spaces())) {
      // Where spaces are removed, all at the beginning are.
      saw_space = absl::ConsumePrefix(&rest, kPieceSpace) && !normalizer_.removes_spaces();
    }
    text += absl::StrReplaceAll(rest, {{kPieceSpace, " "}});
  }
  flush();
  if (denormalizer_ == nullptr) return text;
  std::string normal;
  std::vector<int32_t> places;
  denormalizer_->Apply(text, normal, places);
  return normal;
}

}  // namespace tenon
