// Attention: vector and reference kernels against loops in double.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/interface/types.h"
#include "ops/evaluate.h"
#include "ops/op.h"
#include "primitive_cache/isa.h"
#include "tests/unit/kernels/nn_test_util.h"
#include "tests/unit/kernels/support.h"

namespace tenon {
namespace {

using namespace vector_test;

absl::StatusOr<std::vector<Tensor>> RunNode(const Node& node, const std::vector<Tensor>& inputs,
                                            int threads = 1, bool strict_nan = false) {
  Flags flags;
  flags.strict_nan = strict_nan;
  Services services;
  services.flags = &flags;
  services.threads = threads;
  return Evaluate(node, inputs, services);
}

struct AttentionCase {
  std::string equation, scores;
  std::vector<Shape> inputs;  // q, k, v, masks, conditions
  std::vector<std::string> steps = {};
  std::string repeated = "";
  friend void PrintTo(const AttentionCase& c, std::ostream* os) {
    *os << c.equation;
    for (const Shape& s : c.inputs) *os << c.repeated << s.ToString();
    for (const std::string& s : c.steps) *os << s;
  }
};

bool IsCondition(const std::string& step) { return step == "Select" || step == "SelectNot"; }
bool HasValue(const std::string& step) { return IsCondition(step) || step == "Scale"; }
bool HasMask(const std::string& step) { return step == "Add" || step == "Sub" || step == "Mul"; }

constexpr float kScale = 0.25f;

// Masks come before conditions, in the order of the steps.
Node NodeOf(const AttentionCase& c, DType dtype, float value) {
  Node node = MakeNode("_Attention");
  std::vector<float> values;
  int64_t masks = 0, conditions = 0;
  for (const std::string& s : c.steps) {
    if (HasValue(s)) values.push_back(s == "Scale" ? 1.5f : value);
    masks += HasMask(s);
    conditions += IsCondition(s);
  }
  node.attrs["T"] = AttrValue(dtype);
  node.attrs["num_masks"] = AttrValue(masks);
  node.attrs["num_conditions"] = AttrValue(conditions);
  node.attrs["equation"] = AttrValue(c.equation);
  node.attrs["scores"] = AttrValue(c.scores);
  node.attrs["repeated"] = AttrValue(c.repeated);
  node.attrs["scale"] = AttrValue(kScale);
  node.attrs["steps"] = AttrValue(c.steps);
  node.attrs["values"] = AttrValue(values);
  return node;
}

std::vector<Tensor> InputsOf(const AttentionCase& c) {
  size_t masks = 0;
  for (const std::string& s : c.steps) masks += HasMask(s);
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    Tensor t = Uniform(c.inputs[i], static_cast<unsigned>(i) + 1);
    if (i >= 3 + masks) {
      Tensor b = *Tensor::Allocate(DType::kBool, t.shape());
      for (int64_t j = 0; j < t.num_elements(); ++j) b.data<bool>()[j] = t.data<float>()[j] < 1;
      t = b;
    }
    inputs.push_back(t);
  }
  return inputs;
}

// The value of a tensor at labeled indices.
double Element(const Tensor& t, const std::string& labels, const std::map<char, int64_t>& at,
               const std::map<char, int64_t>& extents) {
  int64_t index = 0;
  for (int d = 0; d < t.shape().rank(); ++d) {
    const char c = labels[static_cast<size_t>(d)];
    int64_t i = c <= '9' ? c - '0' : at.at(c);
    if (c > '9' && t.shape().dim(d) != extents.at(c)) i /= extents.at(c) / t.shape().dim(d);
    index = index * t.shape().dim(d) + i;
  }
  return t.dtype() == DType::kBool ? t.data<bool>()[index] : t.data<float>()[index];
}

// Loops over labels. The second element of a pair bounds the rounding error in units of 2^-24.
std::vector<std::pair<double, double>> Expected(const AttentionCase& c, const Shape& out,
                                                const std::vector<Tensor>& inputs, float value) {
  std::vector<std::string> labels;
  std::string rest = c.equation.substr(0, c.equation.find("->"));
  for (size_t comma; (comma = rest.find(',')) != std::string::npos;) {
    labels.push_back(rest.substr(0, comma));
    rest = rest.substr(comma + 1);
  }
  labels.push_back(rest);
  const std::string to = c.equation.substr(c.equation.find("->") + 2);
  while (labels.size() < inputs.size()) {
    const size_t rank = static_cast<size_t>(inputs[labels.size()].shape().rank());
    labels.push_back(c.scores.substr(c.scores.size() - rank));
  }
  std::map<char, int64_t> extents, at;
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (size_t d = 0; d < labels[i].size(); ++d) {
      int64_t& e = extents[labels[i][d]];
      e = std::max(e, inputs[i].shape().dim(static_cast<int>(d)));
    }
  }
  char depth = 0;
  for (char l : labels[0]) {
    if (l > '9' && c.scores.find(l) == std::string::npos) depth = l;
  }
  char width = 0;
  for (char l : to) {
    if (c.scores.find(l) == std::string::npos) width = l;
  }
  // The scores of a row, and the largest sum of the sizes of their terms.
  const auto scores_of = [&](std::vector<double>& t) {
    double size = 0;
    for (int64_t k = 0; k < extents[c.scores.back()]; ++k) {
      at[c.scores.back()] = k;
      double score = 0, sizes = 0;
      for (int64_t d = 0; d < extents[depth]; ++d) {
        at[depth] = d;
        const double product = Element(inputs[0], labels[0], at, extents) *
                               Element(inputs[1], labels[1], at, extents) * double{kScale};
        score += product;
        sizes += std::abs(product);
      }
      size_t mask = 3, condition = 3;
      for (const std::string& s : c.steps) condition += HasMask(s);
      for (const std::string& s : c.steps) {
        const size_t j = IsCondition(s) ? condition++ : HasMask(s) ? mask++ : 0;
        const double m = j == 0 ? 0 : Element(inputs[j], labels[j], at, extents);
        if (s == "Add") score += m;
        if (s == "Sub") score -= m;
        if (s == "Mul") score *= m, sizes *= std::max(1.0, std::abs(m));
        if (s == "Scale") score *= 1.5, sizes *= 1.5;
        if (s == "Tanh") score = std::tanh(score);
        if (IsCondition(s) && (m != 0) != (s == "Select")) score = double{value};
        sizes += std::abs(m);
      }
      t.push_back(score);
      size = std::max(size, sizes);
    }
    return size;
  };
  std::map<std::vector<int64_t>, std::pair<std::vector<double>, double>> rows;
  std::vector<std::pair<double, double>> result;
  for (int64_t i = 0; i < out.num_elements(); ++i) {
    int64_t left = i;
    std::vector<int64_t> row;
    for (int d = out.rank(); d-- > 0; left /= out.dim(d)) {
      at[to[static_cast<size_t>(d)]] = left % out.dim(d);
      if (to[static_cast<size_t>(d)] != width) row.push_back(left % out.dim(d));
    }
    const auto [it, added] = rows.try_emplace(row);
    auto& [t, size] = it->second;
    if (added) {
      size = scores_of(t);
      const double largest = t.empty() ? 0 : *std::max_element(t.begin(), t.end());
      double sum = 0;
      for (double& x : t) sum += x = std::exp(x - largest);
      for (double& x : t) x /= sum;
    }
    double y = 0, most = 0;
    for (size_t k = 0; k < t.size(); ++k) {
      at[c.scores.back()] = static_cast<int64_t>(k);
      const double v = Element(inputs[2], labels[2], at, extents);
      y += t[k] * v;
      most += t[k] * std::abs(v);
    }
    // Each score has an error of the order of the size of its terms, which is relative in its
    // exponential; then a sum.
    const double n = static_cast<double>(t.size() + static_cast<size_t>(extents[depth]));
    result.emplace_back(y, most * (16 + 8 * size + 2 * std::sqrt(n)));
  }
  return result;
}

// The floats as bfloat16.
std::vector<Tensor> Rounded(const std::vector<Tensor>& inputs) {
  std::vector<Tensor> rounded;
  for (const Tensor& t : inputs) {
    rounded.push_back(t);
    if (t.dtype() != DType::kFloat) continue;
    rounded.back() = *Tensor::Allocate(DType::kBfloat16, t.shape());
    std::transform(t.flat<float>().begin(), t.flat<float>().end(), rounded.back().data<bfloat16>(),
                   [](float x) { return bfloat16(x); });
  }
  return rounded;
}

class AttentionTest : public TargetTest<AttentionCase> {};

TEST_P(AttentionTest, AgreesWithDouble) {
  const AttentionCase& c = GetCase();
  const std::vector<Tensor> inputs = InputsOf(c);
  for (const float value : {-1e9f, -3.0f, -kInf}) {
    Node node = NodeOf(c, DType::kFloat, value);
    std::vector<std::pair<double, double>> expected;
    for (const char* op : {"_Attention", "_MklNativeAttention"}) {
      node.op = op;
      const auto one = RunNode(node, inputs, 1), three = RunNode(node, inputs, 3);
      ASSERT_TRUE(one.ok()) << one.status();
      ASSERT_TRUE(three.ok()) << three.status();
      const Tensor &y = (*one)[0], &y3 = (*three)[0];
      if (expected.empty()) expected = Expected(c, y.shape(), inputs, value);
      for (int64_t i = 0; i < y.num_elements(); ++i) {
        const auto [want, error] = expected[static_cast<size_t>(i)];
        if (std::isnan(want)) {
          ASSERT_TRUE(std::isnan(y.data<float>()[i])) << op << " " << i;
          continue;
        }
        ASSERT_NEAR(y.data<float>()[i], want, error * 0x1p-24 + 1e-37) << op << " " << i;
        ASSERT_NEAR(y3.data<float>()[i], want, error * 0x1p-24 + 1e-37) << op << " " << i;
      }
    }
    if (c.steps.empty() || !IsCondition(c.steps[0])) break;
  }
}

// Matrix tiles round the softmax's weights as well, each by at most 2^-9 of itself.
TEST_P(AttentionTest, Bfloat16RoundsTheFloatResult) {
  const std::vector<Tensor> narrow = Rounded(InputsOf(GetCase()));
  std::vector<Tensor> wide;
  for (const Tensor& t : narrow) wide.push_back(t.dtype() == DType::kBool ? t : ToFloat(t));
  float most = 0;
  for (const float v : wide[2].flat<float>()) most = std::max(most, std::fabs(v));
  const float error = AllowsTiles() ? most * 0x1p-9f : 0;
  for (const float scale : {kScale, 0.3f}) {  // a power of two, and another number
    Node node = NodeOf(GetCase(), DType::kBfloat16, -100);
    node.op = "_MklNativeAttention";
    node.attrs["scale"] = AttrValue(scale);
    const auto y = RunNode(node, narrow, 2);
    ASSERT_TRUE(y.ok()) << y.status();
    node.attrs["T"] = AttrValue(DType::kFloat);
    const auto expected = RunNode(node, wide, 2);
    ASSERT_TRUE(expected.ok()) << expected.status();
    for (int64_t i = 0; i < (*y)[0].num_elements(); ++i) {
      const float want = (*expected)[0].data<float>()[i];
      const float got = static_cast<float>((*y)[0].data<bfloat16>()[i]);
      if (error == 0) {
        ASSERT_EQ(got, static_cast<float>(static_cast<bfloat16>(want))) << i;
      } else {
        ASSERT_NEAR(got, want, error + std::fabs(want) * 0x1p-8f) << i;
      }
    }
  }
}

const std::string kHeads = "bqhd,bkhd,bkhe->bqhe", kBatch = "bhqd,bhkd,bhke->bhqe";

INSTANTIATE_TEST_SUITE_P(
    Shapes, AttentionTest,
    testing::Combine(
        testing::ValuesIn(Targets()),
        testing::Values(
            // Ranks, layouts, odd sizes.
            AttentionCase{"qd,kd,ke->qe", "qk", {{5, 3}, {7, 3}, {7, 2}}},
            AttentionCase{"qd,kd,ke->qe", "qk", {{70, 10}, {150, 10}, {150, 9}}},
            AttentionCase{"qd,kd,ke->qe", "qk", {{1, 1}, {1, 1}, {1, 1}}},
            AttentionCase{"qd,kd,ke->qe", "qk", {{0, 4}, {7, 4}, {7, 2}}},
            AttentionCase{"qd,kd,ke->qe", "qk", {{6, 0}, {7, 0}, {7, 2}}},
            AttentionCase{"bqd,bkd,bke->bqe", "bqk", {{2, 17, 9}, {1, 65, 9}, {2, 65, 33}}},
            AttentionCase{kHeads, "bhqk", {{2, 33, 3, 16}, {2, 20, 3, 16}, {2, 20, 3, 16}}},
            AttentionCase{kBatch, "bhqk", {{2, 3, 49, 32}, {2, 3, 49, 32}, {2, 3, 49, 32}}},
            AttentionCase{
                "bhqd,bhkd,bkhe->bqhe", "bhqk", {{1, 2, 6, 8}, {1, 2, 9, 8}, {1, 9, 2, 5}}},
            AttentionCase{
                "bhqd,bhdk,bhek->bheq", "bhqk", {{1, 2, 19, 8}, {1, 2, 8, 9}, {1, 2, 5, 9}}},
            AttentionCase{"bq0hd,bk1hd,bk2he->bqhe",
                          "bhqk",
                          {{1, 18, 3, 2, 8}, {1, 18, 3, 2, 8}, {1, 18, 3, 2, 8}}},
            AttentionCase{
                "xwqhd,xwkhd,xwkhe->xwqhe",
                "xwhqk",
                {{2, 2, 9, 2, 4}, {2, 2, 9, 2, 4}, {2, 2, 9, 2, 4}, {2, 9, 9}, {2, 1, 9, 9}},
                {"Add", "Add"}},
            // Few queries, in one part and in several.
            AttentionCase{kBatch, "bhqk", {{2, 3, 1, 20}, {2, 3, 300, 20}, {2, 3, 300, 20}}},
            AttentionCase{kBatch,
                          "bhqk",
                          {{1, 1, 3, 16}, {1, 1, 1700, 16}, {1, 1, 1700, 16}, {1700}},
                          {"Add"}},
            AttentionCase{kBatch,
                          "bhqk",
                          {{1, 2, 4, 9}, {1, 2, 6, 9}, {1, 2, 6, 3}, {4, 1}, {2, 4, 6}},
                          {"Sub", "Select"}},
            // Masks.
            AttentionCase{kHeads,
                          "bhqk",
                          {{2, 33, 3, 16}, {2, 70, 3, 16}, {2, 70, 3, 16}, {2, 1, 1, 70}},
                          {"Add"}},
            AttentionCase{kHeads,
                          "bhqk",
                          {{2, 33, 3, 16}, {2, 70, 3, 16}, {2, 70, 3, 16}, {2, 3, 33, 70}, {33, 1}},
                          {"Add", "Sub"}},
            AttentionCase{kHeads,
                          "bhqk",
                          {{2, 33, 3, 16}, {2, 70, 3, 16}, {2, 70, 3, 16}, {3, 33, 70}, {}},
                          {"Mul", "Add"}},
            AttentionCase{kHeads,
                          "bhqk",
                          {{1, 70, 2, 8}, {1, 140, 2, 8}, {1, 140, 2, 8}, {1, 1, 70, 140}},
                          {"Select"}},
            AttentionCase{kHeads,
                          "bhqk",
                          {{2, 6, 2, 8}, {2, 14, 2, 8}, {2, 14, 2, 8}, {2, 1, 1, 14}},
                          {"SelectNot"}},
            AttentionCase{kHeads,
                          "bhqk",
                          {{2, 6, 2, 8}, {2, 14, 2, 8}, {2, 14, 2, 8}, {6, 1}, {14}},
                          {"Tanh", "Scale", "Add", "Select"}},
            AttentionCase{kBatch,
                          "bhqk",
                          {{1, 1, 6, 8}, {1, 1, 14, 8}, {2, 1, 14, 8}, {2, 3, 6, 14}},
                          {"Add"}},
            AttentionCase{kHeads,
                          "bhqk",
                          {{2, 20, 2, 8}, {2, 70, 2, 8}, {2, 70, 2, 8}, {20, 1}, {70}},
                          {"Tanh", "Scale", "Add", "Select"}},
            AttentionCase{kHeads,
                          "bhqk",
                          {{2, 20, 2, 8}, {2, 66, 2, 8}, {2, 66, 2, 8}, {2, 1, 1, 66}},
                          {"SelectNot"}},
            // Depths and widths that fill matrix tiles or not, and many blocks.
            AttentionCase{kHeads,
                          "bhqk",
                          {{1, 197, 2, 64}, {1, 197, 2, 64}, {1, 197, 2, 64}, {1, 1, 197, 197}},
                          {"Add"}},
            AttentionCase{kBatch, "bhqk", {{1, 2, 65, 72}, {1, 2, 129, 72}, {1, 2, 129, 80}}},
            AttentionCase{kHeads, "bhqk", {{1, 300, 2, 32}, {1, 500, 2, 32}, {1, 500, 2, 48}}},
            // Many queries, few keys: vectors of keys and columns that are whole, half and odd.
            AttentionCase{kBatch, "bhqk", {{1, 2, 17, 5}, {1, 2, 1, 5}, {1, 2, 1, 64}}},
            AttentionCase{kBatch, "bhqk", {{1, 2, 20, 7}, {1, 2, 8, 7}, {1, 2, 8, 57}}},
            AttentionCase{kBatch, "bhqk", {{1, 2, 21, 16}, {1, 2, 16, 16}, {1, 2, 16, 40}}},
            AttentionCase{kBatch, "bhqk", {{1, 2, 22, 16}, {1, 2, 17, 16}, {1, 2, 17, 24}}},
            AttentionCase{kBatch, "bhqk", {{1, 2, 9, 16}, {1, 2, 24, 16}, {1, 2, 24, 16}}},
            AttentionCase{kBatch, "bhqk", {{1, 1, 100, 32}, {1, 1, 40, 32}, {1, 1, 40, 33}}},
            AttentionCase{kBatch, "bhqk", {{1, 1, 500, 16}, {1, 1, 56, 16}, {1, 1, 56, 80}}},
            AttentionCase{kBatch, "bhqk", {{2, 1, 26, 9}, {2, 1, 64, 9}, {2, 1, 64, 100}}},
            AttentionCase{
                "bhqd,bhdk,bhek->bheq", "bhqk", {{1, 2, 29, 8}, {1, 2, 8, 57}, {1, 2, 5, 57}}},
            AttentionCase{kHeads,
                          "bhqk",
                          {{2, 33, 3, 16}, {2, 50, 3, 16}, {2, 50, 3, 16}, {2, 3, 33, 50}, {33, 1}},
                          {"Add", "Sub"}},
            AttentionCase{kHeads,
                          "bhqk",
                          {{2, 33, 3, 16}, {2, 50, 3, 16}, {2, 50, 3, 16}, {3, 33, 50}, {}},
                          {"Mul", "Add"}},
            AttentionCase{kHeads,
                          "bhqk",
                          {{1, 40, 2, 8}, {1, 40, 2, 8}, {1, 40, 2, 8}, {1, 1, 40, 40}},
                          {"Select"}},
            AttentionCase{kHeads,
                          "bhqk",
                          {{2, 26, 2, 8}, {2, 34, 2, 8}, {2, 34, 2, 8}, {2, 1, 1, 34}},
                          {"SelectNot"}},
            AttentionCase{kHeads,
                          "bhqk",
                          {{2, 26, 2, 8}, {2, 34, 2, 8}, {2, 34, 2, 8}, {26, 1}, {34}},
                          {"Tanh", "Scale", "Add", "Select"}},
            // Shared heads.
            AttentionCase{kHeads, "bhqk", {{2, 19, 6, 8}, {2, 71, 2, 8}, {2, 71, 2, 8}}, {}, "h"},
            AttentionCase{kHeads, "bhqk", {{2, 19, 6, 8}, {2, 21, 2, 8}, {2, 21, 2, 8}}, {}, "h"},
            AttentionCase{kHeads, "bhqk", {{2, 1, 6, 8}, {2, 21, 2, 8}, {2, 21, 2, 8}}, {}, "h"},
            AttentionCase{
                "bqgrd,bkgd,bkge->bqgre", "bgrqk", {{2, 5, 2, 3, 8}, {2, 21, 2, 8}, {2, 21, 2, 8}}},
            AttentionCase{"bqhd,bkd,bke->bqhe", "bhqk", {{2, 5, 4, 8}, {2, 21, 8}, {2, 21, 8}}})));

// Causal: 0 up to the query's own key, `hidden` after it.
Tensor Causal(int64_t n, float hidden) {
  Tensor t = *Tensor::Allocate(DType::kFloat, Shape({n, n}));
  for (int64_t q = 0; q < n; ++q) {
    for (int64_t k = 0; k < n; ++k) t.data<float>()[q * n + k] = k > q ? hidden : 0;
  }
  return t;
}

TEST(Attention, HiddenBlocksAreSkippedWithTheSameBits) {
  const int64_t n = 200;
  for (const float hidden : {-kInf, -3e38f, -1e9f, -2000.0f, -30.0f}) {
    AttentionCase c{kHeads, "bhqk", {{1, n, 2, 16}, {1, n, 2, 16}, {1, n, 2, 16}, {n, n}}, {"Add"}};
    Node node = NodeOf(c, DType::kFloat, 0);
    std::vector<Tensor> inputs = InputsOf(c);
    for (const bool reversed : {false, true}) {
      inputs[3] = Causal(n, hidden);
      if (reversed) std::reverse(inputs[3].flat<float>().begin(), inputs[3].flat<float>().end());
      node.op = "_MklNativeAttention";
      const auto y = RunNode(node, inputs), strict = RunNode(node, inputs, 1, /*strict_nan=*/true);
      node.op = "_Attention";
      const auto expected = RunNode(node, inputs);
      ASSERT_TRUE(y.ok() && strict.ok() && expected.ok()) << y.status();
      for (int64_t i = 0; i < (*y)[0].num_elements(); ++i) {
        ASSERT_NEAR((*y)[0].data<float>()[i], (*expected)[0].data<float>()[i], 2e-6) << hidden;
        ASSERT_NEAR((*y)[0].data<float>()[i], (*strict)[0].data<float>()[i], 2e-6) << hidden;
      }
      node.op = "_MklNativeAttention";
      node.attrs["T"] = AttrValue(DType::kBfloat16);
      const auto rounded = RunNode(node, Rounded(inputs));
      ASSERT_TRUE(rounded.ok()) << rounded.status();
      for (int64_t i = 0; i < (*y)[0].num_elements(); ++i) {
        // The inputs are below 2, and scores below 16.
        ASSERT_NEAR(static_cast<float>((*rounded)[0].data<bfloat16>()[i]),
                    (*expected)[0].data<float>()[i], 0.1f)
            << hidden << " " << i;
      }
      node.attrs["T"] = AttrValue(DType::kFloat);
    }
  }
}

TEST(Attention, RowsThatAreHiddenWhole) {
  for (const auto& [queries, n] : {std::pair<int64_t, int64_t>{2, 130}, {40, 130}, {40, 51}}) {
    AttentionCase c{kHeads, "bhqk", {{1, queries, 1, 8}, {1, n, 1, 8}, {1, n, 1, 8}, {n}}, {"Add"}};
    std::vector<Tensor> inputs = InputsOf(c);
    for (const float hidden : {-kInf, -3.4e38f, -1e9f}) {
      std::fill_n(inputs[3].data<float>(), n, hidden);
      Node node = NodeOf(c, DType::kFloat, 0);
      const auto expected = RunNode(node, inputs);
      node.op = "_MklNativeAttention";
      const auto y = RunNode(node, inputs);
      ASSERT_TRUE(y.ok()) << y.status();
      for (int64_t i = 0; i < (*y)[0].num_elements(); ++i) {
        const float got = (*y)[0].data<float>()[i];
        if (hidden == -kInf) {
          ASSERT_TRUE(std::isnan(got));
        } else {
          // The scores round away below -3.4e38, and to multiples of 64 near -1e9.
          ASSERT_FALSE(std::isnan(got));
          if (hidden == -3.4e38f) {
            double mean = 0;
            for (int64_t k = 0; k < n; ++k) mean += inputs[2].data<float>()[k * 8 + i % 8];
            ASSERT_NEAR(got, mean / static_cast<double>(n), 1e-5);
          }
        }
      }
    }
  }
}

// Some queries see no key, others a few; of enough queries and keys for every kernel.
TEST(Attention, ZerosForHiddenQueriesOnRequest) {
  for (const int64_t queries : {1, 2, 40}) {
    for (const int64_t keys : {5, 50, 130, 3000}) {
      for (const int threads : {1, 4}) {
        AttentionCase c{kHeads,
                        "bhqk",
                        {{1, queries, 2, 8}, {1, keys, 2, 8}, {1, keys, 2, 8}, {queries, keys}},
                        {"Select"}};
        std::vector<Tensor> inputs = InputsOf(c);
        bool* visible = inputs[3].data<bool>();
        for (int64_t q = 0; q < queries; ++q) {
          for (int64_t k = 0; k < keys; ++k) visible[q * keys + k] = q % 3 == 1 && k % 7 == q % 5;
        }
        Node node = NodeOf(c, DType::kFloat, -1e9f);
        const auto plain = RunNode(node, inputs, threads);
        node.attrs["zero_hidden"] = AttrValue(true);
        for (const char* op : {"_Attention", "_MklNativeAttention"}) {
          node.op = op;
          const auto y = RunNode(node, inputs, threads);
          ASSERT_TRUE(plain.ok() && y.ok()) << y.status();
          for (int64_t i = 0; i < (*y)[0].num_elements(); ++i) {
            const int64_t q = i / 16;
            const float want = q % 3 == 1 ? (*plain)[0].data<float>()[i] : 0;
            ASSERT_NEAR((*y)[0].data<float>()[i], want, q % 3 == 1 ? 2e-6 : 0) << op << " " << q;
          }
        }
      }
    }
  }
}

TEST(Attention, NaNStaysInItsRows) {
  for (const auto& [queries, n] : {std::pair<int64_t, int64_t>{3, 70}, {40, 70}, {40, 37}}) {
    AttentionCase c{kHeads, "bhqk", {{1, queries, 1, 8}, {1, n, 1, 8}, {1, n, 1, 8}}, {}};
    for (const float bad : {kNaN, kInf}) {
      std::vector<Tensor> inputs = InputsOf(c);
      inputs[0].data<float>()[8] = bad;
      for (const char* op : {"_Attention", "_MklNativeAttention"}) {
        Node node = NodeOf(c, DType::kFloat, 0);
        node.op = op;
        const auto y = RunNode(node, inputs);
        ASSERT_TRUE(y.ok()) << y.status();
        for (int64_t i = 0; i < (*y)[0].num_elements(); ++i) {
          ASSERT_EQ(std::isnan((*y)[0].data<float>()[i]), i / 8 == 1) << op << i;
        }
        node.attrs["T"] = AttrValue(DType::kBfloat16);
        const auto rounded = RunNode(node, Rounded(inputs));
        ASSERT_TRUE(rounded.ok()) << rounded.status();
        for (int64_t i = 0; i < (*rounded)[0].num_elements(); ++i) {
          const float x = static_cast<float>((*rounded)[0].data<bfloat16>()[i]);
          ASSERT_EQ(std::isnan(x), i / 8 == 1) << op << i;
        }
      }
    }
  }
}

// What a shape function says of partial shapes must hold for the complete ones.
TEST(Attention, PartialShapes) {
  const std::vector<AttentionCase> cases = {
      {kHeads,
       "bhqk",
       {{2, 33, 6, 16}, {2, 70, 3, 16}, {2, 70, 3, 8}, {2, 1, 33, 70}},
       {"Add"},
       "h"},
      {kBatch, "bhqk", {{1, 1, 6, 8}, {1, 1, 14, 8}, {2, 1, 14, 8}, {2, 3, 6, 14}}, {"Add"}},
      {"bqd,bkd,bke->bqe", "bqk", {{2, 17, 9}, {1, 1, 9}, {2, 65, 33}, {65}}, {"Add"}}};
  std::mt19937 random(5);
  for (const AttentionCase& c : cases) {
    const Node node = NodeOf(c, DType::kFloat, 0);
    const OpInfo& op = *FindOp("_Attention").info;
    std::vector<TensorSpec> specs;
    for (const Shape& s : c.inputs) specs.push_back({DType::kFloat, s, nullptr});
    const auto full = InferOutputs(op, node, specs);
    ASSERT_TRUE(full.ok()) << full.status();
    for (int i = 0; i < 300; ++i) {
      std::vector<TensorSpec> partial = specs;
      for (TensorSpec& s : partial) {
        for (int d = 0; d < s.shape.rank(); ++d) {
          if (random() % 2 == 0) s.shape.set_dim(d, -1);
        }
        if (random() % 5 == 0) s.shape = Shape::Unknown();
      }
      const auto part = InferOutputs(op, node, partial);
      ASSERT_TRUE(part.ok()) << part.status();
      EXPECT_TRUE((*part)[0].shape.CompatibleWith((*full)[0].shape))
          << (*part)[0].shape.ToString() << " against " << (*full)[0].shape.ToString();
    }
  }
}

TEST(Attention, RefusesWhatDoesNotFit) {
  const auto status = [](AttentionCase c) {
    return RunNode(NodeOf(c, DType::kFloat, 0), InputsOf(c)).status();
  };
  const Shape s({1, 4, 2, 8});
  EXPECT_TRUE(status({kHeads, "bhqk", {s, s, s}}).ok());
  for (const AttentionCase& c : {
           AttentionCase{kHeads, "bhqk", {s, s, {1, 5, 2, 8}}},
           AttentionCase{kHeads, "bhqk", {s, {1, 4, 2, 7}, s}},
           AttentionCase{kHeads, "bhqk", {s, {1, 4, 3, 8}, s}},
           AttentionCase{kHeads, "bhqk", {{1, 4, 3, 8}, s, s}, {}, "h"},
           AttentionCase{kHeads, "bhqk", {s, s, {4, 2, 8}}},
           AttentionCase{kHeads, "bhqk", {s, s, s, {3, 4}}, {"Add"}},
           AttentionCase{kHeads, "bhqk", {s, s, s, {1, 1, 1, 4, 4}}, {"Add"}},
           AttentionCase{kHeads, "bhkq", {s, s, s}},
           AttentionCase{"bqhd,bkhd->bqhe", "bhqk", {s, s, s}},
           AttentionCase{"bq0d,bk2d,bk0e->bqe", "bqk", {s, s, s}},
           AttentionCase{"bqhd,bkhd,bkhe->bqh", "bhqk", {s, s, s}},
           AttentionCase{kHeads, "bhqk", {s, s, s}, {"Exp"}},
       }) {
    EXPECT_TRUE(absl::IsInvalidArgument(status(c))) << status(c) << testing::PrintToString(c);
  }
}

}  // namespace
}  // namespace tenon
