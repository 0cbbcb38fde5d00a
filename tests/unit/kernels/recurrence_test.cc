// Recurrent layers: vector code against the reference kernel, on each instruction set, with sizes
// that are no multiples of vectors, masks, all layouts, and several threads that share the units or
// the rows.
#include <algorithm>
#include <cmath>
#include <random>

#include "absl/strings/str_cat.h"
#include "tests/unit/kernels/nn_test_util.h"
#include "tests/unit/kernels/support.h"

namespace tenon {
namespace {

struct CellCase {
  const char* cell;
  int64_t gates;
  std::vector<std::string> activations;
  bool bias = false, peephole = false;
  float cell_clip = 0;
  bool projected = false;
  float projection_clip = 0;
  friend void PrintTo(const CellCase& c, std::ostream* os) {
    *os << c.cell << "_" << c.activations.back() << (c.bias || c.peephole ? "_more" : "")
        << (c.cell_clip > 0 ? "_limited" : "") << (c.projected ? "_projected" : "");
  }
};

struct Layout {
  int64_t sequences = 1;
  bool time_major = true, y_time_major = true, last_only = false;
  bool mask = false, zero_masked = false, reverse = false, y_reverse = false;
  bool mask_time_major = true, mask_reverse = false;
  int64_t masked_from = -1;  // a step from which the mask is false for all rows
  int64_t more_steps = 0;    // of the mask than of x
};

struct Sizes {
  int64_t steps, batch, units;
};

class Recurrence : public vector_test::TargetTest<CellCase> {
 protected:
  void Compare(const Sizes& s, const Layout& l, int threads) {
    const CellCase& c = GetCase();
    SCOPED_TRACE(absl::StrCat(s.steps, " steps, batch ", s.batch, ", ", s.units, " units, ",
                              threads, " threads, ", l.sequences, " sequences"));
    const bool lstm = c.gates == 4;
    AttrMap attrs{{"T", DType::kFloat},
                  {"N", l.sequences},
                  {"num_states", l.sequences * (lstm ? 2 : 1)},
                  {"num_biases", c.bias ? l.sequences : 0},
                  {"num_peepholes", c.peephole ? l.sequences : 0},
                  {"num_masks", l.mask ? l.sequences : 0},
                  {"num_projections", c.projected ? l.sequences : 0},
                  {"cell_clip", c.cell_clip},
                  {"projection_clip", c.projection_clip},
                  {"cell", c.cell},
                  {"activations", c.activations},
                  {"time_major", l.time_major},
                  {"y_time_major", l.y_time_major},
                  {"mask_time_major", l.mask_time_major},
                  {"last_only", l.last_only},
                  {"zero_masked", l.zero_masked},
                  {"longer_mask", l.more_steps > 0}};
    // With two sequences, the first one runs forward.
    auto flags = [&](bool on) {
      std::vector<int64_t> values(static_cast<size_t>(l.sequences), 0);
      values.back() = on ? 1 : 0;
      return values;
    };
    attrs["reverse"] = flags(l.reverse);
    attrs["y_reverse"] = flags(l.y_reverse);
    attrs["mask_reverse"] = flags(l.mask_reverse);
    const int64_t columns = c.gates * s.units;
    const int64_t width = c.projected ? s.units / 2 + 2 : s.units;
    const float scale = 1 / std::sqrt(static_cast<float>(s.units));
    std::vector<Tensor> inputs;
    uint32_t seed = 1;
    auto add_one = [&](const Shape& shape, float most) {
      inputs.push_back(RandomTensor(DType::kFloat, shape, seed++, -most, most));
    };
    auto add = [&](const Shape& shape, float most) {
      for (int64_t i = 0; i < l.sequences; ++i) add_one(shape, most);
    };
    add(l.time_major ? Shape({s.steps, s.batch, columns}) : Shape({s.batch, s.steps, columns}), 2);
    add(Shape({width, columns}), scale);
    for (int64_t i = 0; i < l.sequences; ++i) {
      add_one(Shape({s.batch, width}), 1);
      if (lstm) add_one(Shape({s.batch, s.units}), 1);
    }
    if (c.bias) add(Shape({s.units}), 1);
    if (c.peephole) add(Shape({3, s.units}), 1);
    std::mt19937 random(3);
    const int64_t mask_steps = s.steps + l.more_steps;
    for (int64_t i = 0; l.mask && i < l.sequences; ++i) {
      const Shape shape =
          l.mask_time_major ? Shape({mask_steps, s.batch, 1}) : Shape({s.batch, mask_steps, 1});
      Tensor mask = *Tensor::Allocate(DType::kBool, shape);
      int64_t at = 0;
      for (bool& m : mask.flat<bool>()) {
        const int64_t step = l.mask_time_major ? at / s.batch : at % mask_steps;
        m = random() % 3 != 0 && (l.masked_from < 0 || step < l.masked_from);
        ++at;
      }
      inputs.push_back(std::move(mask));
    }
    if (c.projected) add(Shape({s.units, width}), 2 * scale);
    NodeRunOptions options{.threads = threads};
    for (int64_t i = 0; i < l.sequences; ++i) {
      options.constants.push_back(static_cast<int>(l.sequences + i));
      if (c.projected)
        options.constants.push_back(static_cast<int>(inputs.size()) - 1 - static_cast<int>(i));
    }
    // A step's error stays in the state and adds to the next step's.
    ExpectNativeMatches("_Recurrence", attrs, inputs, options,
                        s.units * std::max<int64_t>(s.steps, 1));
  }
};

TEST_P(Recurrence, MatchesReferenceAtAllSizes) {
  for (const int64_t units : {1, 3, 16, 33}) {
    for (const int64_t batch : {1, 2, 5, 7, 13}) Compare({3, batch, units}, {}, 1);
  }
  Compare({0, 2, 5}, {}, 1);
  Compare({0, 2, 5}, {.last_only = true}, 1);
  Compare({40, 2, 20}, {.sequences = 2, .reverse = true}, 1);
}

TEST_P(Recurrence, MatchesReferenceInAllLayouts) {
  for (int bits = 0; bits < 256; ++bits) {
    const Layout l = {.sequences = bits & 64 ? 2 : 1,
                      .time_major = (bits & 1) != 0,
                      .y_time_major = (bits & 2) != 0,
                      .last_only = (bits & 4) != 0,
                      .mask = (bits & 8) != 0,
                      .zero_masked = (bits & 24) == 24,
                      .reverse = (bits & 32) != 0,
                      .y_reverse = (bits & 36) == 32,
                      .mask_time_major = (bits & 128) == 0,
                      .mask_reverse = (bits & 160) == 160};
    Compare({4, 3, 5}, l, 1);
  }
}

TEST_P(Recurrence, MatchesReferenceIfNoRowTakesSomeSteps) {
  for (int bits = 0; bits < 32; ++bits) {
    Layout l = {.sequences = bits & 8 ? 2 : 1,
                .last_only = (bits & 4) != 0,
                .mask = true,
                .zero_masked = (bits & 2) != 0,
                .mask_time_major = (bits & 1) == 0,
                .mask_reverse = (bits & 16) != 0};
    for (const int64_t from : {0, 1, 3}) {
      l.masked_from = from;
      Compare({5, 3, 20}, l, 1);
      if (bits >= 4) continue;
      Compare({5, 1, 190}, l, 3);  // shares units
      Compare({5, 37, 40}, l, 2);  // shares rows
    }
  }
}

TEST_P(Recurrence, MatchesReferenceIfTheMaskIsLonger) {
  for (int bits = 0; bits < 16; ++bits) {
    const Layout l = {.sequences = bits & 4 ? 2 : 1,
                      .time_major = (bits & 1) != 0,
                      .y_time_major = (bits & 2) != 0,
                      .mask = true,
                      .zero_masked = true,
                      .y_reverse = (bits & 4) != 0,
                      .mask_time_major = (bits & 8) == 0,
                      .more_steps = 1 + bits % 3};
    Compare({4, 3, 5}, l, 1);
    Compare({0, 2, 5}, l, 1);
    if (bits > 3) continue;
    Compare({4, 1, 190}, l, 3);  // shares units
    Compare({4, 37, 40}, l, 2);  // shares rows
  }
}

TEST_P(Recurrence, MatchesReferenceWithThreads) {
  for (const int threads : {2, 3, 4}) {
    for (const int64_t sequences : {1, 2, 3}) {
      const Layout l = {.sequences = sequences, .mask = sequences == 2, .reverse = true};
      Compare({9, 1, 190}, l, threads);  // shares units
      Compare({3, 3, 130}, l, threads);  // likewise
      Compare({6, 37, 40}, l, threads);  // shares rows
      Compare({2, 1, 5}, l, threads);    // too small to share
    }
  }
}

std::vector<std::string> LstmGates(const char* gate, const char* value) {
  return {gate, gate, value, gate, value};
}

INSTANTIATE_TEST_SUITE_P(
    , Recurrence,
    testing::Combine(
        testing::ValuesIn(vector_test::Targets()),
        testing::Values(CellCase{"lstm", 4, LstmGates("sigmoid", "tanh")},
                        CellCase{"lstm", 4, LstmGates("hard_sigmoid", "relu"), false, true},
                        CellCase{"lstm", 4, LstmGates("sigmoid", "tanh"), false, true, 0.25f},
                        CellCase{"lstm", 4, LstmGates("sigmoid", "tanh"), false, false, 0, true},
                        CellCase{"lstm", 4, LstmGates("sigmoid", "relu"), false, true, 0.5f, true,
                                 0.125f},
                        CellCase{"gru", 3, {"sigmoid", "sigmoid", "tanh"}, true},
                        CellCase{"gru", 3, {"sigmoid", "hard_sigmoid", "relu"}},
                        CellCase{"gru_reset_before", 3, {"sigmoid", "sigmoid", "tanh"}},
                        CellCase{"simple", 1, {"tanh"}}, CellCase{"simple", 1, {"linear"}})));

// Limits keep NaN.
TEST(RecurrenceNaN, PassesLimits) {
  for (const bool projected : {false, true}) {
    std::vector<Tensor> inputs = {RandomTensor(DType::kFloat, Shape({2, 3, 20}), 1),
                                  RandomTensor(DType::kFloat, Shape({5, 20}), 2),
                                  RandomTensor(DType::kFloat, Shape({3, 5}), 3),
                                  RandomTensor(DType::kFloat, Shape({3, 5}), 4)};
    inputs[0].data<float>()[24] = NAN;
    if (projected) inputs.push_back(RandomTensor(DType::kFloat, Shape({5, 5}), 5));
    const AttrMap attrs{{"T", DType::kFloat},
                        {"num_states", int64_t{2}},
                        {"num_projections", int64_t{projected ? 1 : 0}},
                        {"cell_clip", 0.5f},
                        {"projection_clip", projected ? 0.25f : 0.0f},
                        {"cell", "lstm"},
                        {"activations", LstmGates("sigmoid", "tanh")}};
    NodeRunOptions options{.constants = {1}};
    if (projected) options.constants.push_back(4);
    ExpectNativeMatches("_Recurrence", attrs, inputs, options, 10);
    const auto got = RunNode(MakeNode("_MklNativeRecurrence", attrs), inputs, options);
    ASSERT_TRUE(got.ok()) << got.status();
    const auto y = got->outputs[0].flat<float>();
    EXPECT_GT(std::count_if(y.begin(), y.end(), [](float v) { return std::isnan(v); }), 0);
  }
}

TEST(RecurrenceErrors, AreReported) {
  const Tensor x = RandomTensor(DType::kFloat, Shape({2, 1, 12}), 1);
  const Tensor w = RandomTensor(DType::kFloat, Shape({3, 12}), 2);
  const Tensor h = RandomTensor(DType::kFloat, Shape({1, 3}), 3);
  AttrMap attrs{{"T", DType::kFloat},
                {"num_states", int64_t{2}},
                {"cell", "lstm"},
                {"activations", LstmGates("sigmoid", "tanh")}};
  auto run = [&](const std::vector<Tensor>& inputs) {
    return RunNode(MakeNode("_Recurrence", attrs), inputs, {}).status();
  };
  EXPECT_TRUE(run({x, w, h, h}).ok());
  EXPECT_FALSE(run({x, w, h}).ok());
  EXPECT_FALSE(run({x, h, h, h}).ok());
  EXPECT_FALSE(run({h, w, h, h}).ok());
  attrs["activations"] = std::vector<std::string>{"sigmoid"};
  EXPECT_FALSE(run({x, w, h, h}).ok());
  attrs["activations"] = LstmGates("sigmoid", "sine");
  EXPECT_FALSE(run({x, w, h, h}).ok());
  attrs["activations"] = LstmGates("sigmoid", "tanh");
  attrs["cell_clip"] = -1.0f;
  EXPECT_FALSE(run({x, w, h, h}).ok());
  attrs["cell_clip"] = 0.0f;
  attrs["projection_clip"] = 1.0f;
  EXPECT_FALSE(run({x, w, h, h}).ok());
  attrs["projection_clip"] = 0.0f;
  attrs["num_projections"] = int64_t{1};
  EXPECT_FALSE(run({x, w, h, h}).ok());
  EXPECT_FALSE(run({x, w, h, h, x}).ok());
  EXPECT_FALSE(run({x, w, h, h, w}).ok());
  attrs["num_projections"] = int64_t{0};
  auto mask = [](int64_t steps) {
    Tensor t = *Tensor::Allocate(DType::kBool, Shape({steps, 1}));
    for (bool& m : t.flat<bool>()) m = false;
    return t;
  };
  attrs["longer_mask"] = true;
  EXPECT_FALSE(run({x, w, h, h}).ok());
  attrs["num_masks"] = int64_t{1};
  attrs["zero_masked"] = true;
  EXPECT_TRUE(run({x, w, h, h, mask(4)}).ok());
  EXPECT_FALSE(run({x, w, h, h, mask(1)}).ok());
  attrs["longer_mask"] = false;
  EXPECT_FALSE(run({x, w, h, h, mask(4)}).ok());
  attrs["num_masks"] = int64_t{0};
  attrs["cell"] = "qrnn";
  EXPECT_FALSE(run({x, w, h, h}).ok());
}

}  // namespace
}  // namespace tenon
