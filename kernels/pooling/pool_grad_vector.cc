// Accelerated pooling gradients. Each position of the pool's input sums over the windows that
// contain it, so that every element is written once and rows are independent. MaxPoolGrad first
// finds each window's largest element, as the max pool with a workspace does.
#include <array>

#include "env/status.h"
#include "kernels/pooling/max_pool_argmax.h"
#include "kernels/pooling/pool_grad.h"
#include "kernels/pooling/pool_rows.h"

namespace tenon {
namespace {

// Computes y (unless null) and positions from x.
void FindPlaces(const VectorPool& pool, const RowTaps& inputs, const void* x, void* y,
                uint8_t* places) {
  inputs.ForRows(pool, [&](int64_t at, int64_t origin, PoolRow row) {
    row.x = PoolElementAt(x, origin, pool);
    row.out = y == nullptr ? nullptr : PoolElementAt(y, at, pool);
    row.out_places = places + at;
    pool.loops.maximum(row);
  });
}

void Route(const VectorPool& pool, const RowTaps& outputs, const void* dy, const uint8_t* places,
           void* dx) {
  outputs.ForRows(pool, [&](int64_t at, int64_t origin, PoolRow row) {
    row.dy = PoolElementAt(dy, origin, pool);
    row.places = places + origin;
    row.out = PoolElementAt(dx, at, pool);
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
  if (kind == PoolGradKind::kMax) TENON_RETURN_IF_ERROR(CheckWindows(g));
  TENON_ASSIGN_OR_RETURN(const VectorPool pool, VectorPoolOf(p, std::move(g), p.output_dtype(0)));
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
      row.out = PoolElementAt(r.output(0), at, pool);
      if (kind == PoolGradKind::kAverage) {
        row.dy = PoolElementAt(r.input(1), origin, pool);
        pool.loops.average(row);
      } else {
        row.x = PoolElementAt(r.input(0), at, pool);
        row.y = PoolElementAt(r.input(1), origin, pool);
        row.dy = PoolElementAt(r.input(2), origin, pool);
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
  TENON_RETURN_IF_ERROR(CheckWindows(g));
  TENON_ASSIGN_OR_RETURN(const VectorPool pool, VectorPoolOf(p, std::move(g), p.output_dtype(0)));
  TENON_ASSIGN_OR_RETURN(const RowTaps inputs, RowTaps::Make(pool, TapTable::Direction::kToInput));
  auto run = [pool, inputs](RunContext& r) {
    FindPlaces(pool, inputs, r.input(0), r.output(0), r.output<uint8_t>(1));
    return absl::OkStatus();
  };
  return MakeKernel(std::move(run), "vector");
}

absl::StatusOr<std::unique_ptr<Kernel>> MaxPoolArgmaxVector(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const WindowAttrs attrs,
                         ArgmaxPoolAttrs(p.attrs(), p.input_shape(0).dim(3)));
  TENON_ASSIGN_OR_RETURN(PoolGeometry g, ResolvePoolTaps(attrs, p.input_shape(0)));
  TENON_RETURN_IF_ERROR(CheckWindows(g));
  if (p.output_dtype(0) != DType::kFloat) return Unimplemented("not float");
  TENON_ASSIGN_OR_RETURN(const VectorPool pool, VectorPoolOf(p, std::move(g), DType::kFloat));
  TENON_ASSIGN_OR_RETURN(const RowTaps inputs, RowTaps::Make(pool, TapTable::Direction::kToInput));
  p.RequestScratch(static_cast<size_t>(p.output_shape(0).num_elements()));
  const bool batch_in_index = p.attrs().Bool("include_batch_in_index", false);
  const bool narrow = p.output_dtype(1) == DType::kInt32;
  const int64_t image = p.input_shape(0).num_elements() / p.input_shape(0)[0];
  auto run = [=](RunContext& r) {
    uint8_t* const places = static_cast<uint8_t*>(r.scratch());
    inputs.ForRows(pool, [&](int64_t at, int64_t origin, PoolRow row) {
      row.x = PoolElementAt(r.input(0), origin, pool);
      row.out_places = places + at;
      pool.loops.maximum(row);
      const int64_t counted_from = batch_in_index ? 0 : origin / image * image;
      std::array<int64_t, kMostWindowPositions> from;  // offset of a position's first channel
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
  TENON_ASSIGN_OR_RETURN(const VectorPool pool, VectorPoolOf(p, std::move(g), p.output_dtype(0)));
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
