#include "kernels/text/phrases.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kernels/ragged/nested_splits.h"
#include "kernels/text/flat_buffer.h"
#include "kernels/text/model_input.h"
#include "kernels/text/rows.h"
#include "kernels/text/split_characters.h"
#include "kernels/text/trie.h"

namespace tenon {
namespace {

// What a model may split from the ends of words.
constexpr std::array<absl::string_view, 11> kEndings = {"'t", "'s",  ".",   ",",  "!",  "?",
                                                        "'m", "'re", "'ll", "'d", "'ve"};

struct Phrases {
  std::vector<std::string> phrases;
  std::vector<int32_t> ids;
  std::vector<int64_t> counts;
};

struct PhraseModel final : DerivedConstant {
  explicit PhraseModel(Trie t) : trie(std::move(t)) {}

  static absl::StatusOr<std::shared_ptr<const PhraseModel>> Parse(absl::Span<const uint8_t> bytes) {
    TENON_ASSIGN_OR_RETURN(const FlatTable table, FlatTable::Root(bytes));
    // Fields by their place in the schema.
    TENON_ASSIGN_OR_RETURN(const FlatTable of_trie, table.Table(5));
    TENON_ASSIGN_OR_RETURN(std::vector<uint32_t> units, of_trie.Vector<uint32_t>(0));
    auto model = std::make_shared<PhraseModel>(Trie(std::move(units)));
    model->percent_short = table.Scalar<int32_t>(0, 0);
    TENON_ASSIGN_OR_RETURN(model->unknown, table.String(1));
    model->unknown_id = table.Scalar<int32_t>(2, 0);
    model->can_detokenize = table.Scalar<uint8_t>(3, 0) != 0;
    TENON_ASSIGN_OR_RETURN(model->vocabulary, table.Strings(4));
    TENON_ASSIGN_OR_RETURN(model->blanks, table.String(6));
    model->splits_endings = table.Scalar<uint8_t>(7, 0) != 0;
    return model;
  }

  // The words, with one space between them.
  std::string Spaced(absl::string_view text) const;
  void AddPhrases(absl::string_view text, Phrases& to) const;

  size_t bytes() const override {
    return trie.size() * sizeof(uint32_t) + vocabulary.size() * sizeof(std::string);
  }

  Trie trie;
  int32_t percent_short, unknown_id;
  std::string unknown, blanks;  // bits of the characters between words
  bool can_detokenize, splits_endings;
  std::vector<std::string> vocabulary;
};

std::string PhraseModel::Spaced(absl::string_view text) const {
  Words words;
  AddWords(text, blanks, words);
  std::string spaced;
  for (size_t i = 0; i < words.words.size(); ++i) {
    const absl::string_view word = words.words[i];
    if (word.empty()) continue;
    const auto* ending =
        std::find_if(kEndings.begin(), kEndings.end(),
                     [&](absl::string_view candidate) { return absl::EndsWith(word, candidate); });
    if (splits_endings && ending != kEndings.end()) {
      absl::StrAppend(&spaced, word.substr(0, word.size() - ending->size()), " ", *ending);
    } else {
      absl::StrAppend(&spaced, word);
    }
    if (i + 1 < words.words.size()) spaced.push_back(' ');
  }
  return spaced;
}

void PhraseModel::AddPhrases(absl::string_view text, Phrases& to) const {
  const size_t before = to.ids.size();
  const std::string spaced = Spaced(text);
  for (absl::string_view rest = spaced; !rest.empty();) {
    size_t size = 0;
    int32_t id = unknown_id;
    trie.ForEachPrefix(rest, [&](size_t bytes, int32_t value) {
      if (bytes < rest.size() && rest[bytes] != ' ') return;
      if (size > 0 && percent_short > 0) return;
      size = bytes;
      id = value;
    });
    to.phrases.emplace_back(size > 0 ? rest.substr(0, size) : absl::string_view(unknown));
    to.ids.push_back(id);
    if (size == 0) size = std::min(rest.size(), rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), size + 1));
  }
  to.counts.push_back(static_cast<int64_t>(to.ids.size() - before));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> PhraseTokenizeKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const auto input, ModelInput<PhraseModel>::Make(p, 1, "phrases"));
  const size_t n = static_cast<size_t>(p.input_shape(0).num_elements());
  const int threads = p.services().threads;
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const PhraseModel> model, input.Get(run));
    if (model->percent_short > 0 && model->percent_short != 100) {
      return InvalidArgument("the model chooses between phrases at random (with probability ",
                             model->percent_short, " %), which is not supported");
    }
    const absl::Span<const std::string> texts(run.input<std::string>(0), n);
    TENON_ASSIGN_OR_RETURN(const std::vector<Phrases> parts,
                           InParts<Phrases>(threads, std::ssize(texts), RowCost(texts, 10),
                                            [&](Phrases& part, int64_t i) {
                                              model->AddPhrases(texts[static_cast<size_t>(i)],
                                                                part);
                                              return absl::OkStatus();
                                            }));
    TENON_RETURN_IF_ERROR(WriteParts<std::string>(run, 0, parts, &Phrases::phrases));
    TENON_RETURN_IF_ERROR(WriteParts<int64_t>(run, 1, parts, &Phrases::ids));
    WriteSplits(parts, &Phrases::counts, run.output<int64_t>(2));
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> PhraseDetokenizeKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const auto input, ModelInput<PhraseModel>::Make(p, 2, "phrases"));
  const int64_t n = p.input_shape(0).num_elements(), splits = p.input_shape(1).num_elements();
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const PhraseModel> model, input.Get(run));
    TENON_ASSIGN_OR_RETURN(const NestedSplits nested,
                           ReadSplits(run, DType::kInt64, {splits}, n, false, 1));
    const std::vector<int64_t>& rows = nested[0];
    if (rows.size() > 1 && !model->can_detokenize) {
      return InvalidArgument("the phrase model was built without support_detokenization");
    }
    for (size_t r = 0; r + 1 < rows.size(); ++r) {
      std::string& text = run.output<std::string>(0)[r];
      for (int64_t i = rows[r]; i < rows[r + 1]; ++i) {
        const int32_t id = run.input<int32_t>(0)[i];
        if (id < 0 || id >= std::ssize(model->vocabulary)) {
          return InvalidArgument("id ", id, " is not among the ", model->vocabulary.size(),
                                 " phrases of the model");
        }
        const std::string& phrase = model->vocabulary[static_cast<size_t>(id)];
        // Endings follow their word without a space.
        const bool joins = model->splits_endings
                               ? text.empty() || std::find(kEndings.begin(), kEndings.end(),
                                                           phrase) != kEndings.end()
                               : i == rows[r];
        absl::StrAppend(&text, joins ? "" : " ", phrase);
      }
    }
    return absl::OkStatus();
  });
}

}  // namespace tenon
