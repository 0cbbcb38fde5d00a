#include "kernels/text/wordpiece.h"

#include <unicode/utf8.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/strip.h"
#include "env/containers.h"
#include "kernels/text/rows.h"

namespace tenon {
namespace {

// The pieces that begin a word, and those that continue one, without their indicator.
class Vocabulary final : public DerivedConstant {
 public:
  static std::shared_ptr<const Vocabulary> Make(absl::Span<const std::string> keys,
                                                const int64_t* values,
                                                const std::string& indicator) {
    auto vocabulary = std::make_shared<Vocabulary>();
    for (size_t i = 0; i < keys.size(); ++i) {
      if (values[i] == -1) continue;
      vocabulary->begins_.Add(keys[i]);
      absl::string_view rest = keys[i];
      if (absl::ConsumePrefix(&rest, indicator)) vocabulary->continues_.Add(rest);
    }
    return vocabulary;
  }

  bool Contains(absl::string_view piece, bool begins) const {
    const Pieces& pieces = begins ? begins_ : continues_;
    return piece.size() <= pieces.longest && pieces.all.contains(piece);
  }
  size_t bytes() const override {
    return (begins_.all.capacity() + continues_.all.capacity()) * sizeof(std::string);
  }

 private:
  struct Pieces {
    HashSet<std::string> all;
    size_t longest = 0;

    void Add(absl::string_view piece) {
      all.emplace(piece);
      longest = std::max(longest, piece.size());
    }
  };
  Pieces begins_, continues_;
};

struct Options {
  std::string indicator, unknown;
  int64_t most_bytes, most_characters;
  bool use_unknown, split_unknown, lengths;
};

struct Piece {
  absl::string_view text;
  bool continues;  // has the indicator before its text
  int64_t begin, end;
};

struct Pieces {
  std::vector<Piece> pieces;
  std::vector<int64_t> counts;
  std::vector<size_t> ends;  // of the word's characters
};

void AddWord(const Vocabulary& vocabulary, const Options& options, const std::string& word,
             Pieces& to) {
  const int64_t size = std::ssize(word);
  const absl::string_view text = word;
  const size_t before = to.pieces.size();
  // TensorFlow Text gives the unknown token of a long word its own length, not the word's.
  if (size > options.most_bytes) {
    const absl::string_view whole = options.use_unknown ? options.unknown : text;
    to.pieces.push_back({whole, false, 0, std::ssize(whole)});
    to.counts.push_back(1);
    return;
  }
  to.ends.clear();
  for (int32_t at = 0; at < size;) {
    UChar32 c;
    U8_NEXT(word.data(), at, static_cast<int32_t>(size), c);
    to.ends.push_back(static_cast<size_t>(at));
  }
  for (size_t first = 0, begin = 0; first < to.ends.size();) {
    size_t last = to.ends.size();
    if (options.most_characters > 0) {
      last = std::min(last, first + static_cast<size_t>(options.most_characters));
    }
    while (last > first &&
           !vocabulary.Contains(text.substr(begin, to.ends[last - 1] - begin), begin == 0)) {
      --last;
    }
    const bool found = last > first;
    if (!found && !options.split_unknown) {
      to.pieces.resize(before);
      to.pieces.push_back({options.use_unknown ? options.unknown : text, false, 0, size});
      break;
    }
    if (!found) last = first + 1;
    const size_t end = to.ends[last - 1];
    to.pieces.push_back({!found && options.use_unknown ? absl::string_view(options.unknown)
                                                       : text.substr(begin, end - begin),
                         begin > 0, static_cast<int64_t>(begin), static_cast<int64_t>(end)});
    begin = end;
    first = last;
  }
  to.counts.push_back(std::ssize(to.pieces) - static_cast<int64_t>(before));
}

absl::Status Write(RunContext& run, const std::vector<Pieces>& parts, const Options& options) {
  int64_t count = 0;
  for (const Pieces& part : parts) count += std::ssize(part.pieces);
  TENON_ASSIGN_OR_RETURN(void* pieces, run.AllocateOutput(0, Shape({count})));
  TENON_ASSIGN_OR_RETURN(void* starts, run.AllocateOutput(2, Shape({count})));
  TENON_ASSIGN_OR_RETURN(void* limits, run.AllocateOutput(3, Shape({count})));
  std::string* text = static_cast<std::string*>(pieces);
  int64_t *start = static_cast<int64_t*>(starts), *limit = static_cast<int64_t*>(limits);
  for (const Pieces& part : parts) {
    for (const Piece& piece : part.pieces) {
      text->assign(piece.continues ? options.indicator : "");
      (text++)->append(piece.text.data(), piece.text.size());
      *start++ = piece.begin;
      *limit++ = piece.end;
    }
  }
  int64_t* rows = run.output<int64_t>(1);
  if (!options.lengths) {
    WriteSplits(parts, &Pieces::counts, rows);
    return absl::OkStatus();
  }
  for (const Pieces& part : parts) rows = std::copy(part.counts.begin(), part.counts.end(), rows);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> WordpieceKernel(PrepareContext& p) {
  Options options;
  TENON_ASSIGN_OR_RETURN(options.indicator, p.attrs().String("suffix_indicator"));
  TENON_ASSIGN_OR_RETURN(options.unknown, p.attrs().String("unknown_token"));
  TENON_ASSIGN_OR_RETURN(options.most_bytes, p.attrs().Int("max_bytes_per_word"));
  TENON_ASSIGN_OR_RETURN(options.use_unknown, p.attrs().Bool("use_unknown_token"));
  options.most_characters = p.attrs().Int("max_chars_per_token", 0);
  options.split_unknown = p.attrs().Bool("split_unknown_characters", false);
  options.lengths = p.attrs().String("output_row_partition_type", "row_lengths") == "row_lengths";
  const size_t n = static_cast<size_t>(p.input_shape(0).num_elements());
  const size_t size = static_cast<size_t>(p.input_shape(1).num_elements());
  std::shared_ptr<const Vocabulary> shared;
  Constant *keys = p.constant(1), *values = p.constant(2);
  if (keys != nullptr && values != nullptr) {
    TENON_ASSIGN_OR_RETURN(const Tensor plain, values->Plain());
    TENON_ASSIGN_OR_RETURN(
        std::shared_ptr<const DerivedConstant> form,
        keys->Derive(
            "wordpieces " + options.indicator,
            [&](const Tensor& t) -> absl::StatusOr<std::shared_ptr<const DerivedConstant>> {
              return Vocabulary::Make(t.flat<std::string>(), plain.data<int64_t>(),
                                      options.indicator);
            }));
    shared = std::static_pointer_cast<const Vocabulary>(std::move(form));
    p.InputNotRead(1);
    p.InputNotRead(2);
  }
  const int threads = p.services().threads;
  return MakeKernel([=, options = std::move(options)](RunContext& run) -> absl::Status {
    std::shared_ptr<const Vocabulary> vocabulary = shared;
    if (vocabulary == nullptr) {
      vocabulary = Vocabulary::Make({run.input<std::string>(1), size}, run.input<int64_t>(2),
                                    options.indicator);
    }
    const absl::Span<const std::string> words(run.input<std::string>(0), n);
    TENON_ASSIGN_OR_RETURN(const std::vector<Pieces> parts,
                           InParts<Pieces>(threads, std::ssize(words), RowCost(words, 10),
                                           [&](Pieces& part, int64_t i) {
                                             AddWord(*vocabulary, options,
                                                     words[static_cast<size_t>(i)], part);
                                             return absl::OkStatus();
                                           }));
    return Write(run, parts, options);
  });
}

}  // namespace tenon
