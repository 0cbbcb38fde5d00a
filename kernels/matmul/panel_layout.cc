#include "kernels/matmul/panel_layout.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "kernels/interface/parallel.h"

namespace tenon {
namespace {

size_t Panels(const PanelMatrix& m) { return (m.columns + m.width - 1) / m.width; }

// Calls fn(panel) for all panels; `elements` of a panel take about a nanosecond each.
template <typename F>
void ForPanels(const PanelMatrix& m, int threads, F fn) {
  const int64_t grain = ParallelGrain(static_cast<double>(m.rows * m.width));
  ParallelFor(threads, static_cast<int64_t>(Panels(m)), grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) fn(static_cast<size_t>(i));
  });
}

class PanelLayout : public PackedLayout {
 public:
  PanelLayout(const PanelMatrix& matrix, int threads, std::string kind)
      : matrix_(matrix),
        threads_(threads),
        key_(absl::StrCat("panels of ", kind, " ", matrix.rows, "x", matrix.columns, "/",
                          matrix.width, matrix.transposed ? " transposed" : "")) {}
  const std::string& key() const override { return key_; }

 protected:
  const PanelMatrix matrix_;
  const int threads_;

 private:
  const std::string key_;
};

template <typename T>
class Elements final : public PanelLayout {
 public:
  Elements(const PanelMatrix& matrix, int threads)
      : PanelLayout(matrix, threads, absl::StrCat(sizeof(T), " bytes")) {}

  size_t bytes() const override {
    return Panels(matrix_) * matrix_.rows * matrix_.width * sizeof(T);
  }
  absl::Status Pack(const void* plain, void* packed) const override {
    Move(static_cast<T*>(packed),
         [from = static_cast<const T*>(plain)](T& element, size_t at) { element = from[at]; });
    return absl::OkStatus();
  }
  absl::Status Unpack(const void* packed, void* plain) const override {
    Move(static_cast<const T*>(packed),
         [to = static_cast<T*>(plain)](const T& element, size_t at) { to[at] = element; });
    return absl::OkStatus();
  }

 private:
  // move(element of the panels, its position in the plain matrix); fills panels up.
  template <typename P, typename F>
  void Move(P* panels, F move) const {
    const PanelMatrix& m = matrix_;
    const size_t down = m.transposed ? 1 : m.columns, right = m.transposed ? m.rows : 1;
    ForPanels(m, threads_, [&](size_t panel) {
      P* at = panels + panel * m.rows * m.width;
      const size_t first = panel * m.width, count = std::min(m.width, m.columns - first);
      for (size_t r = 0; r < m.rows; ++r, at += m.width) {
        for (size_t c = 0; c < count; ++c) move(at[c], r * down + (first + c) * right);
        if constexpr (!std::is_const_v<P>) std::fill(at + count, at + m.width, T());
      }
    });
  }
};

class NibbleLayout final : public PanelLayout {
 public:
  NibbleLayout(const PanelMatrix& matrix, size_t group, size_t word_rows, int threads)
      : PanelLayout(matrix, threads, absl::StrCat("nibbles ", group, ",", word_rows)),
        group_(group),
        word_rows_(word_rows),
        lanes_(matrix.width * word_rows / 8),
        panel_bytes_((matrix.rows + word_rows - 1) / word_rows * lanes_ * 4) {}

  size_t bytes() const override { return Panels(matrix_) * panel_bytes_; }

  absl::Status Pack(const void* plain, void* packed) const override {
    const auto* from = static_cast<const uint8_t*>(plain);
    auto* const to = static_cast<uint8_t*>(packed);
    ForPanels(matrix_, threads_, [&](size_t panel) {
      uint8_t* const at = to + panel * panel_bytes_;
      std::memset(at, 0, panel_bytes_);
      ForNumbers(panel, [&](size_t byte, bool high, size_t word_byte, bool word_high) {
        const unsigned number = high ? from[byte] >> 4 : from[byte] & 15u;
        at[word_byte] = static_cast<uint8_t>(at[word_byte] | (number ^ 8u) << (word_high ? 4 : 0));
      });
    });
    return absl::OkStatus();
  }

  // Both halves of a byte are in one panel, so no two threads write it.
  absl::Status Unpack(const void* packed, void* plain) const override {
    const auto* from = static_cast<const uint8_t*>(packed);
    auto* const to = static_cast<uint8_t*>(plain);
    ForPanels(matrix_, threads_, [&](size_t panel) {
      const uint8_t* const at = from + panel * panel_bytes_;
      ForNumbers(panel, [&](size_t byte, bool high, size_t word_byte, bool word_high) {
        const unsigned number = (word_high ? at[word_byte] >> 4 : at[word_byte] & 15u) ^ 8u;
        to[byte] = static_cast<uint8_t>(high ? (to[byte] & 15u) | number << 4
                                             : (to[byte] & 0xf0u) | number);
      });
    });
    return absl::OkStatus();
  }

 private:
  // fn(byte of the plain matrix, its half, byte of the panel, its half) for each number. Words are
  // little-endian.
  template <typename F>
  void ForNumbers(size_t panel, F fn) const {
    const PanelMatrix& m = matrix_;
    const size_t half = group_ / 2, vectors = 8 / word_rows_;
    const size_t first = panel * m.width, count = std::min(m.width, m.columns - first);
    for (size_t r = 0; r < m.rows; ++r) {
      const size_t in_group = r % group_;
      const bool high = in_group >= half;
      const size_t byte_row = r / group_ * half + in_group - (high ? half : 0);
      const size_t word_row = r / word_rows_ * lanes_;
      for (size_t c = 0; c < count; ++c) {
        const size_t byte =
            m.transposed ? (first + c) * (m.rows / 2) + byte_row : byte_row * m.columns + first + c;
        const size_t nibble = r % word_rows_ * vectors + c / lanes_;
        fn(byte, high, (word_row + c % lanes_) * 4 + nibble / 2, nibble % 2 == 1);
      }
    }
  }

  const size_t group_, word_rows_, lanes_, panel_bytes_;
};

}  // namespace

std::shared_ptr<const PackedLayout> ElementPanels(const PanelMatrix& matrix, size_t element_bytes,
                                                  int threads) {
  switch (element_bytes) {
    case 1:
      return std::make_shared<Elements<uint8_t>>(matrix, threads);
    case 2:
      return std::make_shared<Elements<uint16_t>>(matrix, threads);
    default:
      return std::make_shared<Elements<uint32_t>>(matrix, threads);
  }
}

std::shared_ptr<const PackedLayout> NibblePanels(const PanelMatrix& matrix, size_t group,
                                                 size_t word_rows, int threads) {
  return std::make_shared<NibbleLayout>(matrix, group, word_rows, threads);
}

}  // namespace tenon
