#include "kernels/text/fast_wordpiece.h"

#include <unicode/utf8.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/text/characters.h"
#include "kernels/text/fast_wordpiece_model.h"
#include "kernels/text/model_input.h"
#include "kernels/text/rows.h"

namespace tenon {
namespace {

using Model = FastWordpieceModel;

struct Token {
  absl::string_view text;
  bool continues;  // has the indicator before its text
  int32_t id;
  int64_t begin, end;
};

struct Tokens {
  std::vector<Token> tokens;
  std::vector<int64_t> counts;
};

absl::Status NoProgress() {
  return Internal("Failed to make any progress in tokenizing the input text.");
}

// Tokenizes one text. `word` is where the current word begins, `kept_` how many tokens the words
// before it have: the current word's are replaced if it turns out to be unknown.
class Tokenizer {
 public:
  Tokenizer(const Model& model, absl::string_view text, std::vector<Token>& tokens)
      : model_(model), text_(text), tokens_(tokens), kept_(tokens.size()) {}

  absl::Status Word() {
    if (text_.empty()) return absl::OkStatus();
    if (std::ssize(text_) > model_.most_bytes) {
      MakeUnknown(text_.size());
      return absl::OkStatus();
    }
    Begin(0);
    for (const char c : text_) {
      while (!model_.trie.Step(node_, c)) {
        TENON_ASSIGN_OR_RETURN(const bool found, Fail());
        if (found) continue;
        MakeUnknown(text_.size());
        return absl::OkStatus();
      }
    }
    return Finish(text_.size());
  }

  absl::Status Text() {
    const int32_t size = static_cast<int32_t>(text_.size());
    int32_t at = 0, next = 0, c = 0, before = 0;
    for (int32_t last = -1; at < size;) {
      if (at == last) return NoProgress();
      last = at;
      Begin(static_cast<size_t>(at));
      TENON_RETURN_IF_ERROR(Follow(at, next, c, before));
      const size_t end = static_cast<size_t>(at);
      if (at >= size) return Finish(text_.size());
      const bool space = IsSpace(c);
      if (space || IsWordOfItsOwn(c) || (at > 0 && IsWordOfItsOwn(before))) {
        TENON_RETURN_IF_ERROR(Finish(end));
        if (space) {
          at = next;
        } else if (end == word_) {  // a separator that the vocabulary lacks
          at = next;
          MakeUnknown(static_cast<size_t>(at));
        }
        continue;
      }
      at = next;
      MakeUnknown(SkipWord(at));
    }
    return absl::OkStatus();
  }

 private:
  void Begin(size_t word) {
    word_ = word;
    done_ = 0;
    node_ = Trie::kRoot;
    failures_ = 0;
  }

  // Matches characters of the current word until one does not continue it. `c` is then that
  // character, at `at`, `next` the one after, `before` the one that was read before.
  absl::Status Follow(int32_t& at, int32_t& next, int32_t& c, int32_t& before) {
    const int32_t size = static_cast<int32_t>(text_.size());
    while (at < size) {
      before = c;
      next = at;
      U8_NEXT(text_.data(), next, size, c);
      if (next - static_cast<int32_t>(word_) > model_.most_bytes) return absl::OkStatus();
      const absl::string_view character =
          text_.substr(static_cast<size_t>(at), static_cast<size_t>(next - at));
      while (!model_.trie.Steps(node_, character)) {
        TENON_ASSIGN_OR_RETURN(const bool found, Fail());
        if (!found) return absl::OkStatus();
      }
      at = next;
    }
    return absl::OkStatus();
  }

  // Moves `at` behind a word whose tokens are unknown, and a space after it. Returns its end.
  size_t SkipWord(int32_t& at) const {
    const int32_t size = static_cast<int32_t>(text_.size());
    int32_t end = at;
    while (at < size) {
      int32_t next = at, c;
      U8_NEXT(text_.data(), next, size, c);
      if (IsSpace(c)) {
        at = next;
        break;
      }
      if (IsWordOfItsOwn(c)) break;
      end = at = next;
    }
    return static_cast<size_t>(end);
  }

  // Splits pieces off the path to the node, and goes where the rest of the path leads. False if the
  // path is no sequence of pieces.
  absl::StatusOr<bool> Fail() {
    // A word of n bytes has at most n pieces; a damaged model might lead in circles.
    if (++failures_ > 2 * text_.size() + 4) return NoProgress();
    const int32_t value = model_.trie.Value(node_);
    const Model::Failure& failure = model_.failures[node_];
    if (value >= 0) {
      TENON_RETURN_IF_ERROR(Add({value}));
    } else if (failure.link != Model::kNone && failure.pieces != Model::kNone) {
      for (size_t i = 0; i < failure.count(); ++i) {
        TENON_RETURN_IF_ERROR(Add(model_.pool[failure.first() + i]));
      }
    }
    if (failure.link == Model::kNone) {
      if (value >= 0) return InvalidArgument("the wordpiece model lacks a failure link");
      return false;
    }
    node_ = failure.link;
    return true;
  }

  absl::Status Add(Model::Piece piece) {
    size_t bytes = static_cast<size_t>(piece.bytes());
    // A word may begin with the indicator itself.
    if (done_ == 0 && piece.continues()) bytes += model_.indicator.size();
    const size_t begin = word_ + done_;
    if (bytes > text_.size() - begin) {
      return InvalidArgument("the wordpiece model has pieces longer than what they match");
    }
    tokens_.push_back({piece.id() == model_.unknown_id ? absl::string_view(model_.unknown)
                                                       : text_.substr(begin, bytes),
                       done_ > 0, piece.id(), static_cast<int64_t>(begin),
                       static_cast<int64_t>(begin + bytes)});
    done_ += bytes;
    return absl::OkStatus();
  }

  // Splits the rest of the path, at the end of a word.
  absl::Status Finish(size_t end) {
    if (node_ == Trie::kRoot) return absl::OkStatus();
    if (node_ == model_.indicator_node && tokens_.size() == kept_) {  // the word is the indicator
      if (model_.of_indicator.size() == 1 && model_.of_indicator[0].id() == model_.unknown_id) {
        MakeUnknown(end);
        return absl::OkStatus();
      }
      for (const Model::Piece piece : model_.of_indicator) TENON_RETURN_IF_ERROR(Add(piece));
      kept_ = tokens_.size();
      return absl::OkStatus();
    }
    while (node_ != model_.indicator_node && node_ != model_.punctuation_node) {
      TENON_ASSIGN_OR_RETURN(const bool found, Fail());
      if (found) continue;
      MakeUnknown(end);
      return absl::OkStatus();
    }
    kept_ = tokens_.size();
    return absl::OkStatus();
  }

  void MakeUnknown(size_t end) {
    tokens_.resize(kept_);
    tokens_.push_back({model_.unknown, false, model_.unknown_id, static_cast<int64_t>(word_),
                       static_cast<int64_t>(end)});
    ++kept_;
  }

  const Model& model_;
  const absl::string_view text_;
  std::vector<Token>& tokens_;
  size_t kept_;
  size_t word_ = 0, done_ = 0;  // bytes of the word that have become pieces
  uint32_t node_ = Trie::kRoot;
  size_t failures_ = 0;
};

absl::Status Write(RunContext& run, const std::vector<Tokens>& parts, const Model& model) {
  int64_t count = 0;
  for (const Tokens& part : parts) count += std::ssize(part.tokens);
  int64_t* numbers[5] = {};
  TENON_ASSIGN_OR_RETURN(void* memory, run.AllocateOutput(0, Shape({count})));
  std::string* text = static_cast<std::string*>(memory);
  for (const int o : {1, 3, 4}) {
    TENON_ASSIGN_OR_RETURN(memory, run.AllocateOutput(o, Shape({count})));
    numbers[o] = static_cast<int64_t*>(memory);
  }
  for (const Tokens& part : parts) {
    for (const Token& token : part.tokens) {
      text->assign(token.continues ? model.indicator : "");
      (text++)->append(token.text.data(), token.text.size());
      *numbers[1]++ = token.id;
      *numbers[3]++ = token.begin;
      *numbers[4]++ = token.end;
    }
  }
  WriteSplits(parts, &Tokens::counts, run.output<int64_t>(2));
  return absl::OkStatus();
}

// A row's words, separated by spaces.
absl::Status Detokenize(const Model& model, absl::Span<const int32_t> ids, std::string& out) {
  if (!model.can_detokenize) {
    return absl::FailedPreconditionError(
        "the wordpiece model does not support detokenization (support_detokenization)");
  }
  out.clear();
  for (const int32_t& id : ids) {
    const size_t i = static_cast<size_t>(id);
    if (id < 0 || i >= model.vocabulary.size() || i >= model.continues.size()) {
      return absl::OutOfRangeError(absl::StrCat("Token ID out of bounds: ", id));
    }
    const bool continues = model.continues[i] != 0, first = &id == ids.data();
    if (!first && !continues) out += ' ';
    if (first && continues) out += model.indicator;
    out += model.vocabulary[i];
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> FastWordpieceKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const auto input, ModelInput<Model>::Make(p, 1, "fast wordpiece"));
  const size_t n = static_cast<size_t>(p.input_shape(0).num_elements());
  const int threads = p.services().threads;
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const Model> model, input.Get(run));
    const absl::Span<const std::string> texts(run.input<std::string>(0), n);
    TENON_ASSIGN_OR_RETURN(
        const std::vector<Tokens> parts,
        InParts<Tokens>(
            threads, std::ssize(texts), RowCost(texts, 10), [&](Tokens& part, int64_t i) {
              const int64_t before = std::ssize(part.tokens);
              Tokenizer tokenizer(*model, texts[static_cast<size_t>(i)], part.tokens);
              const absl::Status status = model->splits_words ? tokenizer.Text() : tokenizer.Word();
              part.counts.push_back(std::ssize(part.tokens) - before);
              return status;
            }));
    return Write(run, parts, *model);
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> FastWordpieceDetokenizeKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const auto input, ModelInput<Model>::Make(p, 2, "fast wordpiece"));
  const int64_t n = p.input_shape(0).num_elements(), rows = p.input_shape(1).num_elements() - 1;
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const Model> model, input.Get(run));
    const int64_t* splits = run.input<int64_t>(1);
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t begin = splits[row], end = splits[row + 1];
      if (begin < 0 || end < begin || end > n) {
        return InvalidArgument("row splits must rise from 0 to the ", n, " ids");
      }
      TENON_RETURN_IF_ERROR(
          Detokenize(*model, {run.input<int32_t>(0) + begin, static_cast<size_t>(end - begin)},
                     run.output<std::string>(0)[row]));
    }
    return absl::OkStatus();
  });
}

}  // namespace tenon
