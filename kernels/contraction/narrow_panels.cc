#include "kernels/contraction/narrow_panels.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

template <typename T>
class NarrowPanelLayout final : public PackedLayout {
 public:
  NarrowPanelLayout(const NarrowMatrix& matrix, int threads)
      : m_(matrix),
        threads_(threads),
        key_(absl::StrCat("panels of ", sizeof(T), "-byte words ", m_.groups, "x", m_.terms, "x",
                          m_.columns, "/", m_.width, ",", m_.word_terms, " strides ",
                          m_.term_stride, ",", m_.column_stride)) {}
  const std::string& key() const override { return key_; }
  size_t bytes() const override {
    return m_.sums_at() + (kSums ? m_.groups * m_.panels() * m_.width * sizeof(int32_t) : 0);
  }

  absl::Status Pack(const void* plain, void* packed) const override {
    auto* const panels = static_cast<T*>(packed);
    auto* const all_sums = reinterpret_cast<int32_t*>(static_cast<char*>(packed) + m_.sums_at());
    std::memset(packed, 0, bytes());
    ForPanels([&, from = static_cast<const T*>(plain)](size_t panel, size_t first, size_t columns) {
      int32_t* const sums = all_sums + panel * m_.width;
      ForElements(panel, first, columns, [&](size_t at, size_t packed_at, size_t c) {
        panels[packed_at] = from[at];
        if constexpr (kSums) sums[c] = WrapAdd(sums[c], int32_t{from[at]});
      });
    });
    return absl::OkStatus();
  }
  absl::Status Unpack(const void* packed, void* plain) const override {
    const auto* const panels = static_cast<const T*>(packed);
    ForPanels([&, to = static_cast<T*>(plain)](size_t panel, size_t first, size_t columns) {
      ForElements(panel, first, columns,
                  [&](size_t at, size_t packed_at, size_t) { to[at] = panels[packed_at]; });
    });
    return absl::OkStatus();
  }

 private:
  static constexpr bool kSums = sizeof(T) == 1;

  // fn(panel, its first column among those of all groups, the number of its columns).
  template <typename F>
  void ForPanels(F fn) const {
    const size_t panels = m_.panels();
    const double ns = static_cast<double>(m_.terms * m_.width);
    ParallelFor(threads_, static_cast<int64_t>(m_.groups * panels), ParallelGrain(ns),
                [&](int64_t begin, int64_t end) {
                  for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
                    const size_t first = i % panels * m_.width;
                    fn(i, i / panels * m_.columns + first, std::min(m_.width, m_.columns - first));
                  }
                });
  }
  // fn(place in the plain weights, place in the packed ones, column of the panel).
  template <typename F>
  void ForElements(size_t panel, size_t first, size_t columns, F fn) const {
    for (size_t k = 0; k < m_.terms; ++k) {
      const size_t word = (panel * m_.words() + k / m_.word_terms) * m_.width * m_.word_terms;
      for (size_t c = 0; c < columns; ++c) {
        fn((first + c) * m_.column_stride + k * m_.term_stride,
           word + c * m_.word_terms + k % m_.word_terms, c);
      }
    }
  }

  const NarrowMatrix m_;
  const int threads_;
  const std::string key_;
};

}  // namespace

std::shared_ptr<const PackedLayout> NarrowPanels(const NarrowMatrix& matrix, int threads) {
  if (matrix.element_bytes == 2) {
    return std::make_shared<NarrowPanelLayout<uint16_t>>(matrix, threads);
  }
  return std::make_shared<NarrowPanelLayout<int8_t>>(matrix, threads);
}

}  // namespace tenon
