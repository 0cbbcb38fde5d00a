#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/sweep/draw.h"
#include "tests/sweep/line.h"

namespace tenon::sweep {
namespace {

std::string Quoted(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back(absl::StrCat("\"", name, "\""));
  return absl::StrCat("[", absl::StrJoin(quoted, ","), "]");
}

std::string Attention(Dice& d) {
  const std::string type = FloatType(d);
  const int64_t batch = d.Int(1, 2), heads = d.Int(1, 4), shared = d.OneIn(4) ? d.Int(2, 3) : 1;
  const int64_t rows = d.OneIn(3) ? 1 : d.OneIn(3) ? d.Int(20, 140) : d.Int(2, 20);
  const int64_t keys = d.OneIn(3) ? d.Int(60, 300) : d.Int(1, 60);
  const int64_t depth = d.OneIn(3) ? d.Pick<int64_t>({16, 32, 64, 80}) : d.Int(1, 40);
  const int64_t width = d.OneIn(3) ? d.Int(1, 70) : depth;
  const bool side_by_side = d.OneIn(3);
  const auto place = [&](int64_t h, int64_t n, int64_t m) {
    return side_by_side ? Ints{batch, n, h, m} : Ints{batch, h, n, m};
  };
  std::vector<std::string> inputs{In(type, place(heads * shared, rows, depth)),
                                  In(type, place(heads, keys, depth)),
                                  In(type, place(heads, keys, width))};
  std::vector<std::string> steps, values;
  int masks = 0, conditions = 0;
  const auto of_scores = [&] {
    return Ints{d.OneIn(2) ? 1 : batch, d.OneIn(2) ? 1 : heads * shared, d.OneIn(2) ? 1 : rows,
                keys};
  };
  if (d.OneIn(3)) {
    steps.push_back(d.Pick<const char*>({"Add", "Add", "Sub", "Mul"}));
    inputs.push_back(In(type, of_scores()));
    ++masks;
  }
  if (d.OneIn(5)) steps.push_back("Tanh");
  if (d.OneIn(3)) {
    steps.push_back(d.Pick<const char*>({"Select", "SelectNot"}));
    values.push_back("-1e9");
    inputs.push_back(In("bool", of_scores(), "uniform(0,1)"));
    ++conditions;
  }
  return Line("_Attention", inputs,
              absl::StrCat("T=", type, " equation=\"",
                           side_by_side ? "bqhd,bkhd,bkhe->bqhe" : "bhqd,bhkd,bhke->bhqe",
                           "\" scores=\"bhqk\" repeated=\"", shared > 1 ? "h" : "",
                           "\" scale=", d.OneIn(2) ? "0.125" : "0.3", " num_masks=", masks,
                           " num_conditions=", conditions, " steps=", Quoted(steps), " values=[",
                           absl::StrJoin(values, ","), "]"));
}

std::string Rotary(Dice& d) {
  const std::string type = FloatType(d);
  const int64_t rows = d.Int(1, 40), half = d.Int(1, 40);
  const Ints angles{rows, 2 * half};
  return Line("_Rotary",
              {In(type, {d.Int(1, 2), d.Int(1, 4), rows, 2 * half}),
               In(type, angles, "uniform(-1,1)"), In(type, angles, "uniform(-1,1)")},
              absl::StrCat("T=", type, " interleaved=", Bool(d.OneIn(2))));
}

std::string RowNorm(Dice& d) {
  const std::string type = FloatType(d);
  Ints dims{d.Int(1, 9), d.OneIn(3) ? d.Int(60, 1200) : d.Int(1, 60)};
  if (d.OneIn(2)) dims.insert(dims.begin(), d.Int(1, 5));
  const std::string x = In(type, dims), parameter = In(type, {dims.back()});
  const std::string attributes = absl::StrCat("T=", type, " epsilon=0.001");
  switch (d.Int(0, 3)) {
    case 0:
      return Line("_LayerNorm", {x, parameter, parameter}, attributes);
    case 1:
      return Line("_AddLayerNorm", {x, x, parameter, parameter}, attributes);
    case 2:
      return Line("_RmsNorm", {x, parameter}, attributes);
    default:
      return Line("_AddRmsNorm", {x, x, parameter}, attributes);
  }
}

std::string LocalNorm(Dice& d) {
  const Ints dims{d.Int(1, 2), d.Int(1, 7), d.Int(1, 7), d.Int(1, 70)};
  const std::string x = In("f32", dims);
  const std::string attributes =
      absl::StrCat("T=f32 depth_radius=", d.Int(1, 6), " bias=", d.Pick<const char*>({"1", "2.5"}),
                   " alpha=0.2 beta=", d.Pick<const char*>({"0.5", "0.75", "1", "0.6"}));
  if (d.OneIn(2)) return Line("LRN", {x}, attributes);
  return Line("LRNGrad", {x, x, x}, attributes);
}

std::string BatchNormGradient(Dice& d) {
  const std::string type = FloatType(d);
  const int64_t c = d.OneIn(3) ? d.Int(30, 130) : d.Int(1, 30);
  const Ints dims{d.Int(1, 3), d.Int(1, 12), d.Int(1, 12), c};
  return absl::StrCat(
      Line("FusedBatchNormGradV3",
           {In(type, dims), In(type, dims), In("f32", {c}, "uniform(0.5,1.5)"), In("f32", {c}),
            In("f32", {c}, "uniform(0.5,1.5)"), In("f32", {0})},
           absl::StrCat("T=", type, " U=f32 epsilon=0.001 is_training=", Bool(!d.OneIn(3)))),
      " => 3 outputs");
}

std::string Recurrence(Dice& d) {
  const int64_t steps = d.Int(1, 12), batch = d.OneIn(3) ? d.Int(5, 20) : d.Int(1, 4);
  const int64_t units = d.OneIn(3) ? d.Int(30, 150) : d.Int(1, 30);
  const std::string cell =
      d.Pick<const char*>({"lstm", "lstm", "gru", "gru_reset_before", "simple"});
  const bool lstm = cell == "lstm";
  const int64_t gates = lstm ? 4 : cell == "simple" ? 1 : 3;
  const bool time_major = d.OneIn(2);
  const Ints x = time_major ? Ints{steps, batch, gates * units} : Ints{batch, steps, gates * units};
  std::vector<std::string> inputs{In("f32", x),
                                  In("f32", {units, gates * units}, "const:uniform(-0.1,0.1)")};
  for (int i = 0; i < (lstm ? 2 : 1); ++i) inputs.push_back(In("f32", {batch, units}));
  const bool biased = cell == "gru" && d.OneIn(2);
  if (biased) inputs.push_back(In("f32", {units}));
  std::vector<std::string> activations;
  if (cell == "simple") {
    activations = {d.Pick<const char*>({"tanh", "relu", "sigmoid"})};
  } else if (lstm) {
    activations = {"sigmoid", "sigmoid", "tanh", "sigmoid", "tanh"};
  } else {
    activations = {"sigmoid", "sigmoid", "tanh"};
  }
  return Line("_Recurrence", inputs,
              absl::StrCat("T=f32 N=1 num_states=", lstm ? 2 : 1, " num_biases=", biased ? 1 : 0,
                           " cell=\"", cell, "\" activations=", Quoted(activations),
                           " time_major=", Bool(time_major), " y_time_major=", Bool(time_major),
                           " reverse=[", d.Int(0, 1), "]"));
}

std::string Fourier(Dice& d) {
  const int64_t rank = d.Int(1, 3);
  Ints sides;
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t most = rank == 1 ? 300 : rank == 2 ? 40 : 12;
    sides.push_back(d.OneIn(2) ? int64_t{1} << d.Int(0, rank == 1   ? 9
                                                        : rank == 2 ? 5
                                                                    : 3)
                               : d.Int(1, most));
  }
  const std::string suffix = rank == 1 ? "" : absl::StrCat(rank, "D");
  Ints dims = sides;
  dims.insert(dims.begin(), d.Int(1, 5));
  switch (d.Int(0, 3)) {
    case 0:
      return Line("FFT" + suffix, {In("c64", dims)}, "Tcomplex=c64");
    case 1:
      return Line("IFFT" + suffix, {In("c64", dims)}, "Tcomplex=c64");
    case 2:
      return Line("RFFT" + suffix, {In("f32", dims), Sizes(sides)}, "Treal=f32 Tcomplex=c64");
    default:
      dims.back() = sides.back() / 2 + 1;
      return Line("IRFFT" + suffix, {In("c64", dims), Sizes(sides)}, "Treal=f32 Tcomplex=c64");
  }
}

constexpr Family kFamilies[] = {
    {"attention", Attention},
    {"rotary", Rotary},
    {"row_norm", RowNorm},
    {"local_norm", LocalNorm},
    {"batch_norm_gradient", BatchNormGradient},
    {"recurrence", Recurrence},
    {"fourier", Fourier},
};

}  // namespace

absl::Span<const Family> SequenceFamilies() { return kFamilies; }

}  // namespace tenon::sweep
