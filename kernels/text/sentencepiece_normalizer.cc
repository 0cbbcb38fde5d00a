#include "kernels/text/sentencepiece_normalizer.h"

#include <unicode/utf8.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "env/status.h"
#include "kernels/example_proto/wire.h"

namespace tenon {

size_t AnnouncedBytes(char lead) {
  const unsigned char c = static_cast<unsigned char>(lead);
  return c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
}

absl::StatusOr<PieceNormalizer> PieceNormalizer::Parse(absl::string_view spec) {
  PieceNormalizer normalizer;
  absl::string_view rules;
  WireReader reader(spec);
  for (WireField f; reader.Next(f);) {
    if (f.number == 2 && f.is_bytes()) rules = f.bytes;
    if (f.number == 3) normalizer.add_prefix_ = f.value != 0;
    if (f.number == 4) normalizer.remove_spaces_ = f.value != 0;
    if (f.number == 5) normalizer.escape_spaces_ = f.value != 0;
  }
  if (!reader.ok()) return InvalidArgument("the model's normalizer is damaged");
  if (rules.empty()) return normalizer;
  // The size of a trie, the trie, and the replacements.
  uint32_t size = 0;
  if (rules.size() >= 4) std::memcpy(&size, rules.data(), 4);
  if (size == 0 || size % 4 != 0 || size > rules.size() - 4) {
    return InvalidArgument("the model's character map is damaged");
  }
  std::vector<uint32_t> units(size / 4);
  std::memcpy(units.data(), rules.data() + 4, size);
  normalizer.rules_.emplace(std::move(units));
  normalizer.replacements_ = std::string(rules.substr(4 + size));
  return normalizer;
}

PieceNormalizer::Prefix PieceNormalizer::Next(absl::string_view in) const {
  if (kept_ != nullptr) {
    size_t longest = 0;
    kept_->ForEachPrefix(in, [&](size_t size, int32_t) { longest = size; });
    if (longest > 0) return {in.substr(0, longest), longest};
  }
  if (rules_.has_value()) {
    size_t longest = 0, place = 0;
    rules_->ForEachPrefix(in, [&](size_t size, int32_t value) {
      longest = size;
      place = static_cast<size_t>(value);
    });
    if (longest > 0) {
      return {place < replacements_.size() ? absl::string_view(&replacements_[place]) : "",
              longest};
    }
  }
  int32_t size = 0, character;
  U8_NEXT(in.data(), size, static_cast<int32_t>(std::min<size_t>(in.size(), 4)), character);
  if (character < 0) return {"\xEF\xBF\xBD", 1};
  return {in.substr(0, static_cast<size_t>(size)), static_cast<size_t>(size)};
}

void PieceNormalizer::Apply(absl::string_view in, std::string& out,
                            std::vector<int32_t>& places) const {
  out.clear();
  places.clear();
  size_t done = 0;
  if (remove_spaces_) {
    while (done < in.size()) {
      const Prefix next = Next(in.substr(done));
      if (next.text != " ") break;
      done += next.consumed;
    }
  }
  if (done == in.size()) {
    places.push_back(static_cast<int32_t>(in.empty() ? 0 : done));
    return;
  }
  const absl::string_view space = escape_spaces_ ? kPieceSpace : " ";
  auto add = [&](absl::string_view text) {
    out.append(text.data(), text.size());
    places.insert(places.end(), text.size(), static_cast<int32_t>(done));
  };
  if (!mark_ends_ && add_prefix_) add(space);
  bool after_space = remove_spaces_;
  while (done < in.size()) {
    const Prefix next = Next(in.substr(done));
    absl::string_view text = next.text;
    while (after_space && absl::StartsWith(text, " ")) text.remove_prefix(1);
    if (!text.empty()) {
      for (size_t i = 0; i < text.size(); ++i) add(text[i] == ' ' ? space : text.substr(i, 1));
      after_space = text.back() == ' ';
    }
    done += next.consumed;
    if (!remove_spaces_) after_space = false;
  }
  if (remove_spaces_) {
    while (absl::EndsWith(out, space)) {
      const size_t size = out.size() - space.size();
      done = static_cast<size_t>(places[size]);
      out.erase(size);
      places.resize(size);
    }
  }
  if (mark_ends_ && add_prefix_) add(space);
  places.push_back(static_cast<int32_t>(done));
}

}  // namespace tenon
