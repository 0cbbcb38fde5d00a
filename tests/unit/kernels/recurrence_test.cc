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
  friend void PrintTo(const CellCase& c, std::ostream* os) {
    *os << c.cell << "_" << c.activations.back() << (c.bias || c.peephole ? "_more" : "");
  }
};

struct Layout {
  int64_t sequences = 1;
  bool time_major = true, y_time_major = true, last_only = false;
  bool mask = false, zero_masked = false, reverse = false, y_reverse = false;
  bool mask_time_major = true, mask_reverse = false;
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
                  {"cell", c.cell},
                  {"activations", c.activations},
                  {"time_major", l.time_major},
                  {"y_time_major", l.y_time_major},
                  {"mask_time_major", l.mask_time_major},
                  {"last_only", l.last_only},
                  {"zero_masked", l.zero_masked}};
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
    const float scale = 1 / std::sqrt(static_cast<float>(s.units));
    std::vector<Tensor> inputs;
    uint32_t seed = 1;
    auto add = [&](const Shape& shape, float most) {
      for (int64_t i = 0; i < l.sequences; ++i) {
        inputs.push_back(RandomTensor(DType::kFloat, shape, seed++, -most, most));
      }
    };
    add(l.time_major ? Shape({s.steps, s.batch, columns}) : Shape({s.batch, s.steps, columns}), 2);
    add(Shape({s.units, columns}), scale);
    for (int i = 0; i < (lstm ? 2 : 1); ++i) add(Shape({s.batch, s.units}), 1);
    if (c.bias) add(Shape({s.units}), 1);
    if (c.peephole) add(Shape({3, s.units}), 1);
    std::mt19937 random(3);
    for (int64_t i = 0; l.mask && i < l.sequences; ++i) {
      const Shape shape =
          l.mask_time_major ? Shape({s.steps, s.batch, 1}) : Shape({s.batch, s.steps, 1});
      Tensor mask = *Tensor::Allocate(DType::kBool, shape);
      for (bool& m : mask.flat<bool>()) m = random() % 3 != 0;
      inputs.push_back(std::move(mask));
    }
    NodeRunOptions options{.threads = threads};
    for (int64_t i = 0; i < l.sequences; ++i) {
      options.constants.push_back(static_cast<int>(l.sequences + i));
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
                        CellCase{"gru", 3, {"sigmoid", "sigmoid", "tanh"}, true},
                        CellCase{"gru", 3, {"sigmoid", "hard_sigmoid", "relu"}},
                        CellCase{"gru_reset_before", 3, {"sigmoid", "sigmoid", "tanh"}},
                        CellCase{"simple", 1, {"tanh"}}, CellCase{"simple", 1, {"linear"}})));

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
  attrs["cell"] = "qrnn";
  EXPECT_FALSE(run({x, w, h, h}).ok());
}

}  // namespace
}  // namespace tenon
