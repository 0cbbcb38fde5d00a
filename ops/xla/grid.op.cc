// XlaSplitND and XlaConcatND: a tensor to a grid of equal tiles, row-major, and back. Paddings, at
// the ends of the dimensions, fill the last tiles up with zeros, or are cut off again.
#include <algorithm>

#include "kernels/interface/types.h"
#include "kernels/layout/strided_copy.h"
#include "ops/op.h"

namespace tenon {
namespace {

struct Grid {
  std::vector<int64_t> parts, paddings;  // by dimension
};

absl::StatusOr<Grid> GridOf(const AttrReader& attrs, const char* parts_name, int tiles) {
  Grid grid;
  TENON_ASSIGN_OR_RETURN(grid.parts, attrs.Ints(parts_name));
  TENON_ASSIGN_OR_RETURN(grid.paddings, attrs.Ints("paddings"));
  if (grid.paddings.empty()) grid.paddings.resize(grid.parts.size(), 0);
  if (grid.paddings.size() != grid.parts.size()) {
    return InvalidArgument("there are ", grid.paddings.size(), " paddings for ", grid.parts.size(),
                           " dimensions");
  }
  int64_t product = 1;
  for (size_t i = 0; i < grid.parts.size(); ++i) {
    if (grid.parts[i] < 1) return InvalidArgument(parts_name, "[", i, "] is ", grid.parts[i]);
    if (grid.paddings[i] < 0) return InvalidArgument("paddings[", i, "] is ", grid.paddings[i]);
    if (__builtin_mul_overflow(product, grid.parts[i], &product)) product = -1;
    if (product < 0 || product > tiles) break;
  }
  if (product != tiles) return InvalidArgument(parts_name, " does not give ", tiles, " tiles");
  return grid;
}

absl::Status CheckTiledRank(const Shape& shape, const Grid& grid) {
  if (!shape.has_rank() || shape.rank() == static_cast<int>(grid.parts.size())) {
    return absl::OkStatus();
  }
  return InvalidArgument("a grid of ", grid.parts.size(), " dimensions and a tensor of shape ",
                         shape.ToString());
}

absl::Status XlaSplitShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const Grid grid, GridOf(c.attrs(), "num_splits", c.num_outputs()));
  const Shape& in = c.input(0);
  TENON_RETURN_IF_ERROR(CheckTiledRank(in, grid));
  Shape tile = Shape::UnknownOfRank(static_cast<int>(grid.parts.size()));
  for (int i = 0; in.has_rank() && i < in.rank(); ++i) {
    if (in.dim(i) < 0) continue;
    const int64_t parts = grid.parts[static_cast<size_t>(i)];
    int64_t size = 0;
    if (__builtin_add_overflow(in.dim(i), grid.paddings[static_cast<size_t>(i)], &size) ||
        size % parts != 0) {
      return InvalidArgument("dimension ", i, " of ", in.ToString(), " with a padding of ",
                             grid.paddings[static_cast<size_t>(i)], " has no ", parts,
                             " equal parts");
    }
    tile.set_dim(i, size / parts);
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, tile);
  return absl::OkStatus();
}

absl::Status XlaConcatShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const Grid grid, GridOf(c.attrs(), "num_concats", c.num_inputs()));
  Shape tile = c.input(0);
  for (int i = 0; i < c.num_inputs(); ++i) {
    TENON_RETURN_IF_ERROR(CheckTiledRank(c.input(i), grid));
    TENON_ASSIGN_OR_RETURN(tile, MergeShapes(tile, c.input(i)));
  }
  Shape out = Shape::UnknownOfRank(static_cast<int>(grid.parts.size()));
  for (int i = 0; tile.has_rank() && i < tile.rank(); ++i) {
    if (tile.dim(i) < 0) continue;
    const int64_t padding = grid.paddings[static_cast<size_t>(i)];
    int64_t size = 0;
    if (__builtin_mul_overflow(tile.dim(i), grid.parts[static_cast<size_t>(i)], &size) ||
        padding > size) {
      return InvalidArgument("a padding of ", padding, " in dimension ", i, ", of ",
                             grid.parts[static_cast<size_t>(i)], " tiles of shape ",
                             tile.ToString());
    }
    out.set_dim(i, size - padding);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// The part of a tile that lies in the whole tensor, which may be nothing.
struct TilePart {
  StridedCopy copy;  // from the whole to the tile, or back
  int64_t elements = 0;
};

std::vector<TilePart> PartsOf(const Shape& whole, const Shape& tile, const Grid& grid,
                              bool to_tile) {
  std::vector<TilePart> parts;
  const std::vector<int64_t> outer = DenseStrides(whole), inner = DenseStrides(tile);
  std::vector<int64_t> place(grid.parts.size(), 0);  // of the tile in the grid
  int64_t tiles = 1;
  for (int64_t n : grid.parts) tiles *= n;
  for (int64_t t = 0; t < tiles; ++t) {
    Shape size;
    int64_t offset = 0;
    for (int d = 0; d < whole.rank(); ++d) {
      const int64_t begin = place[static_cast<size_t>(d)] * tile.dim(d);
      size.push_back(std::clamp<int64_t>(whole.dim(d) - begin, 0, tile.dim(d)));
      offset += begin * outer[static_cast<size_t>(d)];
    }
    TilePart part{.copy = {}, .elements = size.num_elements()};
    if (part.elements > 0) {
      part.copy = to_tile ? StridedCopy(size.dims(), outer, inner, offset, 0)
                          : StridedCopy(size.dims(), inner, outer, 0, offset);
    }
    parts.push_back(std::move(part));
    for (size_t d = place.size(); d-- > 0;) {
      if (++place[d] < grid.parts[d]) break;
      place[d] = 0;
    }
  }
  return parts;
}

absl::StatusOr<std::unique_ptr<Kernel>> XlaSplit(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Grid grid, GridOf(p.attrs(), "num_splits", p.num_outputs()));
  const Shape tile = p.output_shape(0);
  const DType dtype = p.input_dtype(0);
  return MakeKernel([parts = PartsOf(p.input_shape(0), tile, grid, true), n = tile.num_elements(),
                     dtype](RunContext& run) {
    for (size_t i = 0; i < parts.size(); ++i) {
      void* const out = run.output(static_cast<int>(i));
      if (parts[i].elements < n) {
        VisitStorage(dtype, [&]<typename T>() { std::fill_n(static_cast<T*>(out), n, T()); });
      }
      if (parts[i].elements > 0) parts[i].copy.Run(dtype, run.input(0), out);
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> XlaConcat(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Grid grid, GridOf(p.attrs(), "num_concats", p.num_inputs()));
  const DType dtype = p.input_dtype(0);
  return MakeKernel(
      [parts = PartsOf(p.output_shape(0), p.input_shape(0), grid, false), dtype](RunContext& run) {
        for (size_t i = 0; i < parts.size(); ++i) {
          if (parts[i].elements == 0) continue;
          parts[i].copy.Run(dtype, run.input(static_cast<int>(i)), run.output(0));
        }
        return absl::OkStatus();
      });
}

constexpr char kGridTypes[] =
    "T: float double half bfloat16 int8 uint8 int16 uint16 int32 uint32 int64 uint64 bool "
    "complex64 complex128 qint8 quint8 qint32";

const OpRegistration xla_split({
    .name = "XlaSplitND",
    .inputs = "input: T",
    .outputs = "outputs: N * T",
    .attrs = "T: type; N: int; num_splits: list(int); paddings: list(int) = []",
    .types = kGridTypes,
    .shape = XlaSplitShape,
    .reference = XlaSplit,
    .moves_elements = true,
    .sign = Sign::kOfInputs,
});

const OpRegistration xla_concat({
    .name = "XlaConcatND",
    .inputs = "inputs: N * T",
    .outputs = "output: T",
    .attrs = "T: type; N: int; num_concats: list(int); paddings: list(int) = []",
    .types = kGridTypes,
    .shape = XlaConcatShape,
    .reference = XlaConcat,
    .moves_elements = true,
    .sign = Sign::kOfInputs,
});

}  // namespace
}  // namespace tenon
