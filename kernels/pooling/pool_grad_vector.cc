// Accelerated pooling gradients. Each position of the pool's input sums over the windows that
// contain it, so that every element is written once and rows are independent. MaxPoolGrad first
// finds each window's largest element, as the max pool with a workspace does.
#include <algorithm>
#include <array>
#include <vector>

#include "env/status.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/interface/parallel.h"
#include "kernels/pooling/pool_grad.h"
#include "kernels/pooling/pool_simd.h"

namespace tenon {
namespace {

constexpr int64_t kMaxWindow = 256;  // positions are bytes

struct Pool {
  PoolGeometry g;
  int64_t element = sizeof(float);
  PoolLoops loops;
  int threads = 1;
};

absl::StatusOr<Pool> PoolOf(const PrepareContext& p, PoolGeometry g, DType dtype) {
  if (dtype != DType::kFloat && dtype != DType::kBfloat16) {
    return Unimplemented("no vector kernel for ", Name(dtype));
  }
  if (!g.attrs.channels_last) return Unimplemented("channels first");
  Pool pool;
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

// Checks the positions in every window. Unimplemented if some window has no element of the image.
absl::Status CheckPlaces(const PoolGeometry& g) {
  if (g.window_positions() > kMaxWindow) return Unimplemented("a large window");
  for (size_t d = 0; d < g.in.size(); ++d) {
    if (g.pads_begin[d] >= g.attrs.window[d] || g.pads_end[d] >= g.attrs.window[d]) {
      return Unimplemented("windows in the padding");
    }
  }
  return absl::OkStatus();
}

const char* At(const void* base, int64_t element, const Pool& pool) {
  return static_cast<const char*>(base) + element * pool.element;
}
char* At(void* base, int64_t element, const Pool& pool) {
  return static_cast<char*>(base) + element * pool.element;
}

// The taps of all rows. Rows whose taps differ only by an offset share them.
class RowTaps {
 public:
  // Unimplemented if there are too many.
  static absl::StatusOr<RowTaps> Make(const Pool& pool, TapTable::Direction direction) {
    const TapTable table(pool.g, direction);
    const bool to_input = direction == TapTable::Direction::kToInput;
    RowTaps out;
    out.length_ = table.row_length();
    out.other_image_ =
        (to_input ? pool.g.in_positions() : pool.g.out_positions()) * pool.g.channels;
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
                            return a.offset == b.offset && a.index == b.index &&
                                   a.weight == b.weight;
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

  // Calls f(first element of the row, first element of its taps, row) for all rows, in parallel.
  template <typename F>
  void ForRows(const Pool& pool, F f) const {
    const int64_t rows = static_cast<int64_t>(rows_.size()), c = pool.g.channels;
    const double taps = static_cast<double>(patterns_[rows_[rows_.size() / 2].pattern].taps.size());
    const double ns = 5 * static_cast<double>(length_) + 0.2 * taps * static_cast<double>(c);
    ParallelFor(pool.threads, pool.g.batch * rows, ParallelGrain(ns),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i) {
                    const Row& row = rows_[static_cast<size_t>(i % rows)];
                    const Pattern& pattern = patterns_[row.pattern];
                    PoolRow piece;
                    piece.taps = pattern.taps.data();
                    piece.begin = pattern.begin.data();
                    piece.positions = static_cast<size_t>(length_);
                    piece.channels = static_cast<size_t>(c);
                    f(i * length_ * c, i / rows * other_image_ + row.origin, piece);
                  }
                });
  }

 private:
  static constexpr size_t kMaxTaps = 1 << 20;
  static constexpr size_t kMaxPatterns = 256;
  struct Pattern {
    std::vector<PoolTap> taps;
    std::vector<uint32_t> begin;
  };
  struct Row {
    size_t pattern = 0;
    int64_t origin = 0;
  };
  std::vector<Pattern> patterns_;
  std::vector<Row> rows_;
  int64_t length_ = 0, other_image_ = 0;
};

// Computes y (unless null) and positions from x.
void FindPlaces(const Pool& pool, const RowTaps& inputs, const void* x, void* y, uint8_t* places) {
  inputs.ForRows(pool, [&](int64_t at, int64_t origin, PoolRow row) {
    row.x = At(x, origin, pool);
    row.out = y == nullptr ? nullptr : At(y, at, pool);
    row.out_places = places + at;
    pool.loops.maximum(row);
  });
}

void Route(const Pool& pool, const RowTaps& outputs, const void* dy, const uint8_t* places,
           void* dx) {
  outputs.ForRows(pool, [&](int64_t at, int64_t origin, PoolRow row) {
    row.dy = At(dy, origin, pool);
    row.places = places + origin;
    row.out = At(dx, at, pool);
    pool.loops.route(row);
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> PoolGradVector(PrepareContext& p, int spatial,
                                                       PoolGradKind kind) {
  TENON_ASSIGN_OR_RETURN(PoolGeometry g, PoolGradGeometry(p, spatial, kind));
  if (p.input_dtype(kind == PoolGradKind::kAverage ? 1 : 0) != p.output_dtype(0)) {
    return Unimplemented("orig_input and grad are of different dtypes");
  }
  if (kind == PoolGradKind::kMax) TENON_RETURN_IF_ERROR(CheckPlaces(g));
  TENON_ASSIGN_OR_RETURN(const Pool pool, PoolOf(p, std::move(g), p.output_dtype(0)));
  TENON_ASSIGN_OR_RETURN(const RowTaps outputs,
                         RowTaps::Make(pool, TapTable::Direction::kToOutput));
  const char* const name = "vector";
  if (kind == PoolGradKind::kMax) {
    TENON_ASSIGN_OR_RETURN(const RowTaps inputs,
                           RowTaps::Make(pool, TapTable::Direction::kToInput));
    p.RequestScratch(static_cast<size_t>(p.input_shape(2).num_elements()));
    for (int i : PoolGradParameters(p, kind)) p.InputNotRead(i);
    auto run = [pool, inputs, outputs](RunContext& r) {
      uint8_t* const places = static_cast<uint8_t*>(r.scratch());
      FindPlaces(pool, inputs, r.input(0), nullptr, places);
      Route(pool, outputs, r.input(2), places, r.output(0));
      return absl::OkStatus();
    };
    return MakeKernel(std::move(run), name);
  }
  for (int i : PoolGradParameters(p, kind)) p.InputNotRead(i);
  auto run = [pool, outputs, kind](RunContext& r) {
    outputs.ForRows(pool, [&](int64_t at, int64_t origin, PoolRow row) {
      row.out = At(r.output(0), at, pool);
      if (kind == PoolGradKind::kAverage) {
        row.dy = At(r.input(1), origin, pool);
        pool.loops.average(row);
      } else {
        row.x = At(r.input(0), at, pool);
        row.y = At(r.input(1), origin, pool);
        row.dy = At(r.input(2), origin, pool);
        pool.loops.route_ties(row);
      }
    });
    return absl::OkStatus();
  };
  return MakeKernel(std::move(run), name);
}

absl::StatusOr<std::unique_ptr<Kernel>> MaxPoolWorkspaceVector(PrepareContext& p, int spatial) {
  TENON_ASSIGN_OR_RETURN(const WindowAttrs attrs, ReadWindowAttrs(p.attrs(), spatial));
  TENON_ASSIGN_OR_RETURN(PoolGeometry g, ResolvePoolTaps(attrs, p.input_shape(0)));
  TENON_RETURN_IF_ERROR(CheckPlaces(g));
  TENON_ASSIGN_OR_RETURN(const Pool pool, PoolOf(p, std::move(g), p.output_dtype(0)));
  TENON_ASSIGN_OR_RETURN(const RowTaps inputs, RowTaps::Make(pool, TapTable::Direction::kToInput));
  auto run = [pool, inputs](RunContext& r) {
    FindPlaces(pool, inputs, r.input(0), r.output(0), r.output<uint8_t>(1));
    return absl::OkStatus();
  };
  return MakeKernel(std::move(run), "vector");
}

absl::StatusOr<std::unique_ptr<Kernel>> MaxPoolArgmaxVector(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const WindowAttrs attrs, ReadWindowAttrs(p.attrs(), 2));
  TENON_ASSIGN_OR_RETURN(PoolGeometry g, ResolvePoolTaps(attrs, p.input_shape(0)));
  TENON_RETURN_IF_ERROR(CheckPlaces(g));
  if (p.output_dtype(0) != DType::kFloat) return Unimplemented("not float");
  TENON_ASSIGN_OR_RETURN(const Pool pool, PoolOf(p, std::move(g), DType::kFloat));
  TENON_ASSIGN_OR_RETURN(const RowTaps inputs, RowTaps::Make(pool, TapTable::Direction::kToInput));
  p.RequestScratch(static_cast<size_t>(p.output_shape(0).num_elements()));
  const bool batch_in_index = p.attrs().Bool("include_batch_in_index", false);
  const bool narrow = p.output_dtype(1) == DType::kInt32;
  const int64_t image = p.input_shape(0).num_elements() / p.input_shape(0)[0];
  auto run = [=](RunContext& r) {
    uint8_t* const places = static_cast<uint8_t*>(r.scratch());
    inputs.ForRows(pool, [&](int64_t at, int64_t origin, PoolRow row) {
      row.x = At(r.input(0), origin, pool);
      row.out_places = places + at;
      pool.loops.maximum(row);
      const int64_t counted_from = batch_in_index ? 0 : origin / image * image;
      std::array<int64_t, kMaxWindow> from;  // offset of a position's first channel
      for (size_t i = 0; i < row.positions; ++i) {
        for (uint32_t t = row.begin[i]; t < row.begin[i + 1]; ++t) {
          from[static_cast<size_t>(row.taps[t].index)] = origin + row.taps[t].offset;
        }
        for (size_t k = 0; k < row.channels; ++k, ++at) {
          const int64_t element = from[places[at]] + static_cast<int64_t>(k);
          r.output<float>(0)[at] = r.input<float>(0)[element];
          if (narrow) {
            r.output<int32_t>(1)[at] = static_cast<int32_t>(element - counted_from);
          } else {
            r.output<int64_t>(1)[at] = element - counted_from;
          }
        }
      }
    });
    return absl::OkStatus();
  };
  return MakeKernel(std::move(run), "vector");
}

absl::StatusOr<std::unique_ptr<Kernel>> MaxPoolGradWorkspaceVector(PrepareContext& p, int spatial) {
  TENON_ASSIGN_OR_RETURN(const WindowAttrs attrs, ReadWindowAttrs(p.attrs(), spatial));
  TENON_ASSIGN_OR_RETURN(PoolGeometry g, ResolvePoolTaps(attrs, p.input_shape(0)));
  TENON_ASSIGN_OR_RETURN(const Pool pool, PoolOf(p, std::move(g), p.output_dtype(0)));
  TENON_ASSIGN_OR_RETURN(const RowTaps outputs,
                         RowTaps::Make(pool, TapTable::Direction::kToOutput));
  p.InputNotRead(0);
  auto run = [pool, outputs](RunContext& r) {
    Route(pool, outputs, r.input(1), r.input<uint8_t>(2), r.output(0));
    return absl::OkStatus();
  };
  return MakeKernel(std::move(run), "vector");
}

}  // namespace tenon
