#include "kernels/text/fast_sentencepiece.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "kernels/interface/types.h"
#include "kernels/ragged/nested_splits.h"
#include "kernels/text/flat_buffer.h"
#include "kernels/text/model_input.h"
#include "kernels/text/rows.h"
#include "kernels/text/sentencepiece_normalizer.h"
#include "kernels/text/trie.h"

namespace tenon {
namespace {

absl::Status ExpectVersion(const FlatTable& table) {
  const int version = table.Scalar<int8_t>(0, 0);
  if (version == 0) return absl::OkStatus();
  return InvalidArgument("the sentencepiece model has the unknown version ", version);
}

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

struct Encoder final : DerivedConstant {
  Encoder(Trie p, Trie n) : pieces(std::move(p)), normalized(std::move(n)) {}

  static absl::StatusOr<std::shared_ptr<const Encoder>> Parse(absl::Span<const uint8_t> bytes) {
    TENON_ASSIGN_OR_RETURN(const FlatTable table, FlatTable::Root(bytes));
    TENON_RETURN_IF_ERROR(ExpectVersion(table));
    // Fields by their place in the schema.
    TENON_ASSIGN_OR_RETURN(const FlatTable pieces, table.Table(6));
    TENON_ASSIGN_OR_RETURN(std::vector<uint32_t> piece_units, pieces.Vector<uint32_t>(0));
    std::vector<uint32_t> normalized_units;
    if (absl::StatusOr<FlatTable> normalized = table.Table(11); normalized.ok()) {
      TENON_ASSIGN_OR_RETURN(normalized_units, normalized->Vector<uint32_t>(0));
    }
    auto model =
        std::make_shared<Encoder>(Trie(std::move(piece_units)), Trie(std::move(normalized_units)));
    model->begin = table.Scalar<int32_t>(1, 0);
    model->end = table.Scalar<int32_t>(2, 0);
    model->unknown = table.Scalar<int32_t>(3, -1);
    model->unknown_score = table.Scalar<float>(4, 0);
    model->first_code = table.Scalar<int32_t>(5, 0);
    TENON_ASSIGN_OR_RETURN(model->scores, table.Vector<float>(7));
    constexpr int64_t kCodes = int64_t{1} << 31;
    if (model->first_code + static_cast<int64_t>(model->scores.size()) > kCodes) {
      return InvalidArgument("the codes of the sentencepiece model's ", model->scores.size(),
                             " pieces begin at ", model->first_code, ": they are no int32");
    }
    model->joins_blanks = table.Scalar<uint8_t>(8, 0) != 0;
    model->adds_blank = table.Scalar<uint8_t>(9, 0) != 0;
    model->marks_blanks = table.Scalar<uint8_t>(10, 0) != 0;
    TENON_ASSIGN_OR_RETURN(model->replacements, table.String(12));
    return model;
  }

  std::string Normalize(const std::string& text) const;
  void AddCodes(absl::string_view text, std::vector<int32_t>& to) const;

  size_t bytes() const override {
    return (pieces.size() + normalized.size() + scores.size()) * 4 + replacements.size();
  }

  Trie pieces, normalized;  // values: places in `scores` and in `replacements`
  std::vector<float> scores;
  std::string replacements;  // each ends with a NUL
  int32_t begin, end, unknown, first_code;
  float unknown_score;  // of a byte
  bool joins_blanks, adds_blank, marks_blanks;
};

std::string Encoder::Normalize(const std::string& text) const {
  if (text.empty()) return text;
  const std::string input = absl::StrCat(adds_blank ? " " : "", text);
  std::string replaced;
  for (size_t at = 0; at < input.size();) {
    size_t size = 0;
    int32_t place = -1;
    normalized.ForEachPrefix(absl::string_view(input).substr(at), [&](size_t bytes, int32_t value) {
      size = bytes;
      place = value;
    });
    if (size == 0 || static_cast<size_t>(place) >= replacements.size()) {
      replaced.push_back(input[at++]);
      continue;
    }
    const absl::string_view rest =
        absl::string_view(replacements).substr(static_cast<size_t>(place));
    replaced.append(rest.data(), std::min(rest.size(), rest.find('\0')));
    at += size;
  }
  if (joins_blanks) {
    std::string joined;
    for (size_t at = 0; at < replaced.size();) {
      size_t end = at;
      while (end < replaced.size() && IsBlank(replaced[end])) ++end;
      // A single one stays as it is.
      joined.push_back(end - at > 1 ? ' ' : replaced[at]);
      at = std::max(end, at + 1);
    }
    if (!joined.empty() && IsBlank(joined.back())) joined.pop_back();
    replaced = std::move(joined);
  }
  if (!marks_blanks) return replaced;
  std::string marked;
  for (const char c : replaced) {
    if (IsBlank(c)) {
      marked.append(kPieceSpace.data(), kPieceSpace.size());
    } else {
      marked.push_back(c);
    }
  }
  return marked;
}

// The codes of the sequence with the largest sum of scores, in reverse order. Neighboring unknown
// bytes share one code.
void Encoder::AddCodes(absl::string_view text, std::vector<int32_t>& to) const {
  struct Best {  // of the sequences that end at a byte
    float score = 0;
    int32_t code = -1, begin = -1;
  };
  std::vector<Best> best(text.size() + 1);
  for (size_t i = 0; i < text.size(); ++i) {
    const Best from = best[i];
    if (i > 0 && from.begin < 0) continue;
    if (unknown >= 0) {
      const float score = from.score + unknown_score;
      Best& at = best[i + 1];
      if (at.begin < 0 || at.score < score) {
        at = {score, unknown, from.code == unknown ? from.begin : static_cast<int32_t>(i)};
      }
    }
    pieces.ForEachPrefix(text.substr(i), [&](size_t size, int32_t id) {
      if (static_cast<size_t>(id) >= scores.size()) return;
      const float score = from.score + scores[static_cast<size_t>(id)];
      Best& at = best[i + size];
      if (at.begin < 0 || at.score < score) at = {score, id, static_cast<int32_t>(i)};
    });
  }
  if (best.back().begin < 0) return;
  for (size_t end = text.size(); end > 0; end = static_cast<size_t>(best[end].begin)) {
    const int32_t code = best[end].code;
    to.push_back(code == unknown ? code : code + first_code);
  }
}

struct Decoder final : DerivedConstant {
  static absl::StatusOr<std::shared_ptr<const Decoder>> Parse(absl::Span<const uint8_t> bytes) {
    TENON_ASSIGN_OR_RETURN(const FlatTable table, FlatTable::Root(bytes));
    TENON_RETURN_IF_ERROR(ExpectVersion(table));
    auto model = std::make_shared<Decoder>();
    model->first_code = table.Scalar<int32_t>(1, 0);
    TENON_ASSIGN_OR_RETURN(model->pieces, table.Strings(2));
    for (std::string& piece : model->pieces) piece.resize(std::min(piece.size(), piece.find('\0')));
    model->drops_blank = table.Scalar<uint8_t>(5, 0) != 0;
    return model;
  }

  size_t bytes() const override { return pieces.size() * sizeof(std::string); }

  std::vector<std::string> pieces;
  int32_t first_code;
  bool drops_blank;  // at the beginning of a text
};

struct Codes {
  std::vector<int32_t> codes;
  std::vector<int64_t> counts;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> FastSentencepieceTokenizeKernel(PrepareContext& p) {
  if (p.output_dtype(0) != DType::kInt32 || p.output_dtype(1) != DType::kInt32) {
    return InvalidArgument("out_type and Tsplits must be int32, as in TensorFlow Text");
  }
  TENON_ASSIGN_OR_RETURN(const auto input,
                         ModelInput<Encoder>::Make(p, 0, "fast_sentencepiece_encoder"));
  const size_t n = static_cast<size_t>(p.input_shape(1).num_elements());
  const int threads = p.services().threads;
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const Encoder> model, input.Get(run));
    const bool add_begin = *run.input<bool>(4), add_end = *run.input<bool>(5);
    const bool reverse = *run.input<bool>(6);
    const absl::Span<const std::string> texts(run.input<std::string>(1), n);
    TENON_ASSIGN_OR_RETURN(
        const std::vector<Codes> parts,
        InParts<Codes>(threads, std::ssize(texts), RowCost(texts, 40), [&](Codes& part, int64_t i) {
          const std::ptrdiff_t before = std::ssize(part.codes);
          if (add_end) part.codes.push_back(model->end);
          model->AddCodes(model->Normalize(texts[static_cast<size_t>(i)]), part.codes);
          if (add_begin) part.codes.push_back(model->begin);
          if (!reverse) std::reverse(part.codes.begin() + before, part.codes.end());
          part.counts.push_back(std::ssize(part.codes) - before);
          return absl::OkStatus();
        }));
    WriteSplits(parts, &Codes::counts, run.output<int32_t>(1));
    return WriteParts<int32_t>(run, 0, parts, &Codes::codes);
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> FastSentencepieceDetokenizeKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const auto input,
                         ModelInput<Decoder>::Make(p, 0, "fast_sentencepiece_decoder"));
  const int64_t n = p.input_shape(1).num_elements(), splits = p.input_shape(2).num_elements();
  const DType splits_type = p.input_dtype(2);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const Decoder> model, input.Get(run));
    TENON_ASSIGN_OR_RETURN(const NestedSplits nested,
                           ReadSplits(run, splits_type, {splits}, n, false, 2));
    const std::vector<int64_t>& rows = nested[0];
    for (size_t r = 0; r + 1 < rows.size(); ++r) {
      std::string& text = run.output<std::string>(0)[r];
      for (int64_t i = rows[r]; i < rows[r + 1]; ++i) {
        // As in TensorFlow Text, the first row begins with the first code.
        const int64_t code = run.input<int32_t>(1)[i - rows[0]];
        const int64_t id = code - model->first_code;
        if (id < 0 || id >= std::ssize(model->pieces)) {
          return InvalidArgument("code ", code, " is not among the ", model->pieces.size(),
                                 " pieces of the model");
        }
        absl::string_view piece = model->pieces[static_cast<size_t>(id)];
        if (i == rows[r] && model->drops_blank) absl::ConsumePrefix(&piece, " ");
        text.append(piece.data(), piece.size());
      }
    }
    return absl::OkStatus();
  });
}

}  // namespace tenon
