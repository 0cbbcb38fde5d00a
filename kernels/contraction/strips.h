// How the tiles of a product are divided among threads. Panels of the right side are read once for
// each strip of rows, whose left side stays in the cache meanwhile.
#ifndef TENON_KERNELS_CONTRACTION_STRIPS_H_
#define TENON_KERNELS_CONTRACTION_STRIPS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tenon {

// A unit of work is a tile of rows of a panel's columns. Those of a strip are adjacent, panel by
// panel; strips of a group are, and then groups.
struct Strips {
  size_t groups = 1, panels = 0, rows = 0;
  size_t tile = 1;   // rows
  size_t tiles = 1;  // of a strip

  // Strips of about the size of a second-level cache's part. `row_bytes`: of the left side.
  Strips(size_t groups, size_t panels, size_t rows, size_t tile, size_t row_bytes)
      : groups(groups), panels(panels), rows(rows), tile(tile) {
    constexpr size_t kStripBytes = 128 * 1024, kMostTiles = 16;
    tiles = std::clamp<size_t>(kStripBytes / row_bytes / tile, 1, kMostTiles);
    tiles = std::min(tiles, all_tiles());
  }

  size_t all_tiles() const { return (rows + tile - 1) / tile; }
  int64_t units() const { return static_cast<int64_t>(groups * panels * all_tiles()); }

  struct Strip {
    size_t group = 0, row = 0, rows = 0;
  };
  struct Tile {
    size_t panel = 0;  // of the group
    size_t row = 0;    // of the strip
    size_t rows = 0;
  };
  // For the units [begin, end): left(strip) once for each strip, which returns what fn gets with
  // each of its tiles: fn(strip, tile, left's result).
  template <typename Left, typename F>
  void Run(size_t begin, size_t end, Left left, F fn) const {
    const size_t of_group = panels * all_tiles();
    for (size_t u = begin; u < end;) {
      const size_t first_tile = u % of_group / (panels * tiles) * tiles;
      const size_t own_tiles = std::min(tiles, all_tiles() - first_tile);
      const size_t first = u / of_group * of_group + panels * first_tile;  // unit
      const size_t last = std::min(end, first + panels * own_tiles);
      Strip strip;
      strip.group = u / of_group;
      strip.row = first_tile * tile;
      strip.rows = std::min(own_tiles * tile, rows - strip.row);
      const auto made = left(strip);
      for (; u < last; ++u) {
        Tile t;
        t.panel = (u - first) / own_tiles;
        t.row = (u - first) % own_tiles * tile;
        t.rows = std::min(tile, strip.rows - t.row);
        fn(strip, t, made);
      }
    }
  }
};

}  // namespace tenon

#endif  // TENON_KERNELS_CONTRACTION_STRIPS_H_
