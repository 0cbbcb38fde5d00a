#include "kernels/pooling/pool_rows.h"

#include <algorithm>
#include <utility>

#include "env/status.h"
#include "kernels/elementwise/elementwise.h"

namespace tenon {

absl::StatusOr<VectorPool> VectorPoolOf(const PrepareContext& p, PoolGeometry g, DType dtype) {
  if (dtype != DType::kFloat && dtype != DType::kBfloat16) {
    return Unimplemented("no vector kernel for ", Name(dtype));
  }
  if (!g.attrs.channels_last) return Unimplemented("channels first");
  VectorPool pool;
  pool.element = SizeOf(dtype);
  pool.loops = FindPoolLoops(dtype == DType::kFloat ? PoolElement::kFloat : PoolElement::kBfloat16);
  pool.threads = p.services().threads;
  pool.g = std::move(g);
  if (pool.g.batch == 0 || pool.g.channels == 0 || pool.g.in_positions() == 0 ||
      pool.g.out_positions() == 0) {
    return Unimplemented("empty");
  }
  return pool;
}

absl::Status CheckWindows(const PoolGeometry& g) {
  if (g.window_positions() > kMostWindowPositions) return Unimplemented("a large window");
  for (size_t d = 0; d < g.in.size(); ++d) {
    if (g.pads_begin[d] >= g.attrs.window[d] || g.pads_end[d] >= g.attrs.window[d]) {
      return Unimplemented("windows in the padding");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<RowTaps> RowTaps::Make(const VectorPool& pool, TapTable::Direction direction) {
  const TapTable table(pool.g, direction);
  const bool to_input = direction == TapTable::Direction::kToInput;
  RowTaps out;
  out.length_ = table.row_length();
  out.other_image_ = (to_input ? pool.g.in_positions() : pool.g.out_positions()) * pool.g.channels;
  size_t total = 0;
  for (int64_t row = 0; row < table.rows(); ++row) {
    Pattern pattern;
    int64_t origin = -1;
    table.ForRow(row, [&](int64_t, absl::Span<const Tap> taps) {
      pattern.begin.push_back(static_cast<uint32_t>(pattern.taps.size()));
      if (total + pattern.taps.size() > kMaxTaps) return;
      for (const Tap& t : taps) {
        if (origin < 0) origin = t.position;
        pattern.taps.push_back(
            {(t.position - origin) * pool.g.channels, t.index, static_cast<float>(t.weight)});
      }
    });
    pattern.begin.push_back(static_cast<uint32_t>(pattern.taps.size()));
    auto same = [&pattern](const Pattern& p) {
      return p.begin == pattern.begin &&
             std::equal(p.taps.begin(), p.taps.end(), pattern.taps.begin(),
                        [](const PoolTap& a, const PoolTap& b) {
                          return a.offset == b.offset && a.index == b.index && a.weight == b.weight;
                        });
    };
    const auto known = std::find_if(out.patterns_.begin(), out.patterns_.end(), same);
    out.rows_.push_back({static_cast<size_t>(known - out.patterns_.begin()),
                         std::max<int64_t>(origin, 0) * pool.g.channels});
    if (known != out.patterns_.end()) continue;
    total += pattern.taps.size();
    if (total > kMaxTaps || out.patterns_.size() >= kMaxPatterns) {
      return Unimplemented("too many windows");
    }
    out.patterns_.push_back(std::move(pattern));
  }
  return out;
}

double RowTaps::NsOfRow(int64_t channels) const {
  const size_t taps = patterns_[rows_[rows_.size() / 2].pattern].taps.size();
  return 5 * static_cast<double>(length_) +
         0.2 * static_cast<double>(taps) * static_cast<double>(channels);
}

}  // namespace tenon
