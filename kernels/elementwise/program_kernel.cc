// The kernel of a program. The output is cut into tiles: parts of one long row, or several whole
// short rows. A tile's operands point directly into the inputs if an input runs along with the
// output; rows that repeat are copied into a tile once, and kept until they change.
#include <algorithm>
#include <cstring>

#include "env/status.h"
#include "kernels/elementwise/broadcast.h"
#include "kernels/elementwise/half_simd.h"
#include "kernels/elementwise/program.h"
#include "kernels/interface/parallel.h"

namespace tenon {
namespace {

constexpr int64_t kTile = 1024;    // elements: a handful of 4 KiB tiles stay in 32 KiB
constexpr int64_t kLongRow = 512;  // rows of at least this length are split into tiles
constexpr int kMaxInputs = 16;

// A dtype of 16 bits, which is computed in float.
struct NarrowType {
  void (*widen)(const uint16_t* from, float* to, size_t n);
  void (*narrow)(const float* from, uint16_t* to, size_t n);
};
constexpr NarrowType kBfloat16 = {WidenBfloat16, NarrowToBfloat16};
constexpr NarrowType kHalf = {WidenHalf, NarrowToHalf};

enum class Feed : uint8_t {
  kRun,      // runs along with the output
  kRow,      // the same row for every row of the tile
  kPerRow,   // one value per row
  kOneValue  // one value for the whole tile
};

struct Source {
  Feed feed = Feed::kRun;
  absl::InlinedVector<int64_t, 6> strides;
  int tile = -1;  // private tile, or -1: read in place
};

struct Step {
  TileFn fn = nullptr;
  std::array<Operand, 3> operands;
  float parameter = 0;
  int destination = -1;  // private tile, or -1: the output
};

class ProgramKernel final : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(PrepareContext& p, const Program& program,
                                                      const QuantizeMap* to_integers);

  absl::Status Run(RunContext& context) const override;
  std::string Implementation() const override {
    return absl::StrCat("vector:", VectorTargetName());
  }

 private:
  struct Worker;  // one range's private state

  void RunTile(const RunContext& context, Worker& worker, int64_t tile) const;
  const float* Fetch(const RunContext& context, Worker& worker, size_t input, int64_t offset,
                     int64_t rows, int64_t columns) const;

  std::vector<Source> sources_;
  std::vector<Step> steps_;
  absl::InlinedVector<int64_t, 6> dims_;
  int64_t rows_ = 1, columns_ = 1;            // of one plane: the last two dimensions
  int64_t tile_rows_ = 1, tile_columns_ = 1;  // of a tile
  int64_t row_tiles_ = 1, column_tiles_ = 1;  // tiles of a plane
  int64_t tiles_ = 0;
  int64_t grain_ = 1;
  int threads_ = 1;
  int private_tiles_ = 0;
  const NarrowType* narrow_ = nullptr;  // null: float
  QuantizeFn quantize_ = nullptr;       // null: the output has the inputs' dtype
  QuantizeMap map_ = {};
};

struct ProgramKernel::Worker {
  float* tiles = nullptr;
  // The content of a kRow tile: which row, and how many copies of it.
  std::array<const void*, kMaxInputs> row_held{};
  std::array<int64_t, kMaxInputs> elements_held{};
  float* tile(int i) const { return tiles + i * kTile; }
};

Feed FeedOf(int64_t column_stride, int64_t row_stride, int64_t rows) {
  if (column_stride != 0) return row_stride == 0 && rows > 1 ? Feed::kRow : Feed::kRun;
  return row_stride == 0 || rows == 1 ? Feed::kOneValue : Feed::kPerRow;
}

absl::StatusOr<std::unique_ptr<Kernel>> ProgramKernel::Make(PrepareContext& p,
                                                            const Program& program,
                                                            const QuantizeMap* to_integers) {
  const DType dtype = to_integers == nullptr ? p.output_dtype(0) : DType::kFloat;
  if (dtype != DType::kFloat && dtype != DType::kBfloat16 && dtype != DType::kHalf) {
    return Unimplemented("no vector kernel for ", Name(dtype));
  }
  const size_t n = static_cast<size_t>(p.num_inputs());
  if (n > kMaxInputs) return Unimplemented("more than ", kMaxInputs, " inputs");
  std::vector<Shape> shapes;
  for (size_t i = 0; i < n; ++i) {
    if (p.input_dtype(static_cast<int>(i)) != dtype) return Unimplemented("mixed dtypes");
    shapes.push_back(p.input_shape(static_cast<int>(i)));
  }
  if (!p.output_shape(0).IsComplete()) return Unimplemented("the output's shape is not known");
  TENON_ASSIGN_OR_RETURN(CollapsedBroadcast broadcast,
                         CollapseBroadcast(shapes, p.output_shape(0)));

  auto kernel = std::make_unique<ProgramKernel>();
  ProgramKernel& k = *kernel;
  if (dtype == DType::kBfloat16) k.narrow_ = &kBfloat16;
  if (dtype == DType::kHalf) k.narrow_ = &kHalf;
  if (to_integers != nullptr) {
    k.map_ = *to_integers;
    k.quantize_ = FindQuantize(p.output_dtype(0) == DType::kQint8 ? EightBits::kSigned
                                                                  : EightBits::kUnsigned);
  }
  k.threads_ = p.services().threads;
  k.dims_ = broadcast.dims;
  const size_t rank = k.dims_.size();
  k.columns_ = k.dims_[rank - 1];
  k.rows_ = rank > 1 ? k.dims_[rank - 2] : 1;
  if (k.columns_ >= kLongRow || k.rows_ == 1) {
    k.tile_columns_ = std::min(k.columns_, kTile);
  } else {
    k.tile_columns_ = k.columns_;
    k.tile_rows_ =
        std::max<int64_t>(std::min(kTile / std::max<int64_t>(k.columns_, 1), k.rows_), 1);
  }
  const int64_t elements = p.output_shape(0).num_elements();
  if (elements > 0) {
    k.row_tiles_ = (k.rows_ + k.tile_rows_ - 1) / k.tile_rows_;
    k.column_tiles_ = (k.columns_ + k.tile_columns_ - 1) / k.tile_columns_;
    k.tiles_ = elements / (k.rows_ * k.columns_) * k.row_tiles_ * k.column_tiles_;
  }

  int next_tile = 0;
  for (size_t i = 0; i < n; ++i) {
    Source s;
    s.strides = broadcast.strides[i];
    s.feed = FeedOf(s.strides[rank - 1], rank > 1 ? s.strides[rank - 2] : 0, k.tile_rows_);
    const bool repeats = s.feed == Feed::kRow || s.feed == Feed::kPerRow;
    if (repeats || k.narrow_ != nullptr) s.tile = next_tile++;
    k.sources_.push_back(std::move(s));
    if (shapes[i].num_elements() == elements && to_integers == nullptr) {
      p.AllowInPlace(static_cast<int>(i), 0);
    }
  }

  // If a single value meets the vectors of a binary op, the loop with a scalar operand is used;
  // elsewhere the value fills a tile.
  const auto is_one_value = [&](const Operand& o) {
    return o.kind == Operand::Kind::kInput &&
           k.sources_[static_cast<size_t>(o.index)].feed == Feed::kOneValue;
  };
  const auto fill = [&](const Operand& o) {
    if (!is_one_value(o)) return;
    Source& s = k.sources_[static_cast<size_t>(o.index)];
    s.feed = Feed::kPerRow;
    if (s.tile < 0) s.tile = next_tile++;
  };
  for (const Instruction& i : program) {
    const bool binary =
        i.operands[1].kind != Operand::Kind::kNone && i.operands[2].kind == Operand::Kind::kNone;
    if (binary && is_one_value(i.operands[0]) && is_one_value(i.operands[1])) fill(i.operands[0]);
    if (!binary) {
      for (const Operand& o : i.operands) fill(o);
    }
  }

  // Register allocation: tiles for results, free again after their last reader.
  std::vector<int> last_reader(program.size(), -1);
  for (size_t i = 0; i < program.size(); ++i) {
    for (const Operand& o : program[i].operands) {
      if (o.kind == Operand::Kind::kResult) {
        last_reader[static_cast<size_t>(o.index)] = static_cast<int>(i);
      }
    }
  }
  std::vector<int> free_tiles;
  double ns = 0.15;
  for (size_t i = 0; i < program.size(); ++i) {
    const Instruction& instruction = program[i];
    Step step;
    step.operands = instruction.operands;
    step.parameter = instruction.parameter;
    TileForm form = TileForm::kVectors;
    if (is_one_value(step.operands[0])) form = TileForm::kScalarA;
    if (is_one_value(step.operands[1])) form = TileForm::kScalarB;
    step.fn = FindTileFn(instruction.op, form);
    ns += ElementwiseCost(instruction.op);
    for (const Operand& o : step.operands) {
      if (o.kind == Operand::Kind::kResult &&
          last_reader[static_cast<size_t>(o.index)] == static_cast<int>(i)) {
        free_tiles.push_back(k.steps_[static_cast<size_t>(o.index)].destination);
        last_reader[static_cast<size_t>(o.index)] = -1;  // an operand may appear twice
      }
    }
    const bool last = i + 1 == program.size();
    if (!last || k.narrow_ != nullptr || k.quantize_ != nullptr) {
      if (free_tiles.empty()) free_tiles.push_back(next_tile++);
      step.destination = free_tiles.back();
      free_tiles.pop_back();
    }
    k.steps_.push_back(step);
  }
  k.private_tiles_ = next_tile;
  k.grain_ = ParallelGrain(ns * static_cast<double>(k.tile_rows_ * k.tile_columns_));
  const int ranges = ParallelRanges(k.threads_, k.tiles_, k.grain_);
  p.RequestScratch(static_cast<size_t>(next_tile) * static_cast<size_t>(ranges) * kTile *
                   sizeof(float));
  return std::unique_ptr<Kernel>(std::move(kernel));
}

// The operand's `rows` x `columns` values for a tile, or one value for kOneValue.
const float* ProgramKernel::Fetch(const RunContext& context, Worker& worker, size_t input,
                                  int64_t offset, int64_t rows, int64_t columns) const {
  const Source& s = sources_[input];
  const size_t element = narrow_ != nullptr ? sizeof(uint16_t) : sizeof(float);
  const char* from =
      context.input<char>(static_cast<int>(input)) + offset * static_cast<int64_t>(element);
  if (s.tile < 0) return reinterpret_cast<const float*>(from);

  float* tile = worker.tile(s.tile);
  const auto load = [&](const char* source, float* to, int64_t n) {
    if (narrow_ != nullptr) {
      narrow_->widen(reinterpret_cast<const uint16_t*>(source), to, static_cast<size_t>(n));
    } else {
      std::memcpy(to, source, static_cast<size_t>(n) * sizeof(float));
    }
  };
  switch (s.feed) {
    case Feed::kRun:
      load(from, tile, rows * columns);
      break;
    case Feed::kOneValue:
      load(from, tile, 1);
      break;
    case Feed::kRow: {
      if (worker.row_held[input] == from && worker.elements_held[input] >= rows * columns) break;
      load(from, tile, columns);
      for (int64_t r = 1; r < rows; ++r) {
        std::memcpy(tile + r * columns, tile, static_cast<size_t>(columns) * sizeof(float));
      }
      worker.row_held[input] = from;
      worker.elements_held[input] = rows * columns;
      break;
    }
    case Feed::kPerRow: {
      const int64_t row_stride = s.strides.size() > 1 ? s.strides[s.strides.size() - 2] : 0;
      if (row_stride == 0) {  // one value fills the tile
        if (worker.row_held[input] == from && worker.elements_held[input] >= rows * columns) break;
        load(from, tile, 1);
        std::fill_n(tile, rows * columns, tile[0]);
        worker.row_held[input] = from;
        worker.elements_held[input] = rows * columns;
        break;
      }
      for (int64_t r = rows - 1; r >= 0; --r) {
        float value;
        load(from + r * row_stride * static_cast<int64_t>(element), &value, 1);
        std::fill_n(tile + r * columns, columns, value);
      }
      break;
    }
  }
  return tile;
}

void ProgramKernel::RunTile(const RunContext& context, Worker& worker, int64_t tile) const {
  // The tile's first column, row, and outer dimensions.
  const int64_t column = tile % column_tiles_ * tile_columns_;
  int64_t rest = tile / column_tiles_;
  const int64_t row = rest % row_tiles_ * tile_rows_;
  rest /= row_tiles_;
  const int64_t rows = std::min(tile_rows_, rows_ - row);
  const int64_t columns = std::min(tile_columns_, columns_ - column);
  const int64_t out_offset = (rest * rows_ + row) * columns_ + column;

  const size_t rank = dims_.size();
  std::array<int64_t, kMaxInputs> offsets;
  const size_t n = sources_.size();
  for (size_t i = 0; i < n; ++i) {
    const auto& strides = sources_[i].strides;
    offsets[i] = column * strides[rank - 1] + (rank > 1 ? row * strides[rank - 2] : 0);
  }
  for (size_t d = rank; d-- > 2 && rest > 0;) {
    const int64_t index = rest % dims_[d - 2];
    rest /= dims_[d - 2];
    for (size_t i = 0; i < n; ++i) offsets[i] += index * sources_[i].strides[d - 2];
  }

  std::array<const float*, kMaxInputs> inputs;
  for (size_t i = 0; i < n; ++i) {
    inputs[i] = Fetch(context, worker, i, offsets[i], rows, columns);
  }
  const size_t elements = static_cast<size_t>(rows * columns);
  const auto pointer = [&](const Operand& o) -> const float* {
    switch (o.kind) {
      case Operand::Kind::kInput:
        return inputs[static_cast<size_t>(o.index)];
      case Operand::Kind::kResult:
        return worker.tile(steps_[static_cast<size_t>(o.index)].destination);
      case Operand::Kind::kNone:
        break;
    }
    return nullptr;
  };
  for (const Step& step : steps_) {
    float* to = step.destination >= 0 ? worker.tile(step.destination)
                                      : context.output<float>(0) + out_offset;
    step.fn(pointer(step.operands[0]), pointer(step.operands[1]), pointer(step.operands[2]), to,
            elements, step.parameter);
  }
  if (narrow_ != nullptr) {
    narrow_->narrow(worker.tile(steps_.back().destination),
                    context.output<uint16_t>(0) + out_offset, elements);
  }
  if (quantize_ != nullptr) {
    quantize_(map_, worker.tile(steps_.back().destination), context.output<uint8_t>(0) + out_offset,
              elements);
  }
}

absl::Status ProgramKernel::Run(RunContext& context) const {
  ParallelForRanges(threads_, tiles_, grain_, [&](int range, int64_t begin, int64_t end) {
    Worker worker;
    worker.tiles = static_cast<float*>(context.scratch()) + range * private_tiles_ * kTile;
    for (int64_t t = begin; t < end; ++t) RunTile(context, worker, t);
  });
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MakeProgramKernel(PrepareContext& p,
                                                          const Program& program) {
  return ProgramKernel::Make(p, program, nullptr);
}
absl::StatusOr<std::unique_ptr<Kernel>> MakeProgramKernel(PrepareContext& p, const Program& program,
                                                          const QuantizeMap& to_integers) {
  return ProgramKernel::Make(p, program, &to_integers);
}

}  // namespace tenon
