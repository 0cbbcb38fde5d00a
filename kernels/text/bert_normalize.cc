#include "kernels/text/bert_normalize.h"

#include <unicode/utf8.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "kernels/text/flat_buffer.h"
#include "kernels/text/model_input.h"
#include "kernels/text/rows.h"
#include "kernels/text/trie.h"

namespace tenon {
namespace {

// What a character becomes: bit 30 if it changes, then the place and size of its replacement.
class Normalizer final : public DerivedConstant {
 public:
  static absl::StatusOr<std::shared_ptr<const Normalizer>> Parse(absl::Span<const uint8_t> bytes) {
    TENON_ASSIGN_OR_RETURN(const FlatTable table, FlatTable::Root(bytes));
    TENON_ASSIGN_OR_RETURN(std::vector<uint32_t> units, table.Vector<uint32_t>(1));
    TENON_ASSIGN_OR_RETURN(std::string pool, table.String(3));
    if (units.empty()) return InvalidArgument("the normalizer's model has no trie");
    return std::make_shared<Normalizer>(Trie(std::move(units)), std::move(pool),
                                        table.Scalar<int32_t>(2, 0));
  }

  Normalizer(Trie trie, std::string pool, int32_t of_nul)
      : trie_(std::move(trie)), pool_(std::move(pool)) {
    ascii_[0] = of_nul;
    for (size_t c = 1; c < ascii_.size(); ++c) {
      const char byte = static_cast<char>(c);
      ascii_[c] = Find({&byte, 1});
    }
  }

  size_t bytes() const override { return trie_.size() * sizeof(uint32_t) + pool_.size(); }

  // Appends to `offsets` unless it is null.
  void Apply(const std::string& in, std::string& out, std::vector<int64_t>* offsets) const {
    out.clear();
    out.reserve(in.size());
    const int32_t size = static_cast<int32_t>(in.size());
    int32_t copied = 0;
    auto copy_to = [&](int32_t end) {
      out.append(in, static_cast<size_t>(copied), static_cast<size_t>(end - copied));
      for (int32_t i = copied; offsets != nullptr && i < end; ++i) offsets->push_back(i);
    };
    for (int32_t at = 0; at < size;) {
      const int32_t begin = at;
      const unsigned char lead = static_cast<unsigned char>(in[static_cast<size_t>(at)]);
      int32_t data;
      if (lead < 0x80) {
        data = ascii_[lead];
        ++at;
      } else {
        U8_FWD_1(in.data(), at, size);
        data = Find({in.data() + begin, static_cast<size_t>(at - begin)});
      }
      if ((data & kChanges) == 0) continue;
      copy_to(begin);
      const absl::string_view replacement = Replacement(data);
      out.append(replacement.data(), replacement.size());
      if (offsets != nullptr) offsets->insert(offsets->end(), replacement.size(), begin);
      copied = at;
    }
    copy_to(size);
    if (offsets != nullptr) offsets->push_back(size);
  }

 private:
  static constexpr int32_t kChanges = 1 << 30, kSizeBits = 6, kSizeMask = (1 << kSizeBits) - 1;

  int32_t Find(absl::string_view character) const {
    uint32_t node = Trie::kRoot;
    return trie_.Steps(node, character) ? std::max(0, trie_.Value(node)) : 0;
  }
  absl::string_view Replacement(int32_t data) const {
    const size_t size = static_cast<size_t>(data & kSizeMask);
    const size_t at = static_cast<size_t>((data & (kChanges - 1)) >> kSizeBits);
    if (at > pool_.size() || size > pool_.size() - at) return "";
    return absl::string_view(pool_).substr(at, size);
  }

  Trie trie_;
  std::string pool_;
  std::array<int32_t, 128> ascii_;
};

struct Offsets {
  std::vector<int64_t> offsets, counts;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> BertNormalizeKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const auto model, ModelInput<Normalizer>::Make(p, 1, "bert normalizer"));
  const size_t n = static_cast<size_t>(p.input_shape(0).num_elements());
  const int threads = p.services().threads;
  const bool with_offsets = p.attrs().Bool("get_offsets", false);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const Normalizer> normalizer, model.Get(run));
    const absl::Span<const std::string> texts(run.input<std::string>(0), n);
    TENON_ASSIGN_OR_RETURN(
        const std::vector<Offsets> parts,
        InParts<Offsets>(
            threads, std::ssize(texts), RowCost(texts, 2), [&](Offsets& part, int64_t i) {
              const int64_t before = std::ssize(part.offsets);
              normalizer->Apply(texts[static_cast<size_t>(i)], run.output<std::string>(0)[i],
                                with_offsets ? &part.offsets : nullptr);
              part.counts.push_back(std::ssize(part.offsets) - before);
              return absl::OkStatus();
            }));
    TENON_RETURN_IF_ERROR(WriteParts<int64_t>(run, 1, parts, &Offsets::offsets));
    WriteSplits(parts, &Offsets::counts, run.output<int64_t>(2));
    return absl::OkStatus();
  });
}

}  // namespace tenon
