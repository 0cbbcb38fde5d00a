// LSTM and GRU ops whose gates are outputs, and their gradients: vector code against the reference
// kernels, on each instruction set, with sizes that are no multiples of vectors, and threads.
#include "absl/strings/str_cat.h"
#include "tests/unit/kernels/nn_test_util.h"
#include "tests/unit/kernels/support.h"

namespace tenon {
namespace {

struct CellSizes {
  int64_t steps, batch, features, cell;
};

class Cells : public vector_test::TargetTest<int> {  // the number of threads
 protected:
  void Compare(const std::string& op, AttrMap attrs, const std::vector<Shape>& shapes,
               int64_t steps, int64_t length) {
    std::vector<Tensor> inputs;
    if (steps >= 0) inputs.push_back(Tensor::Scalar<int64_t>(steps));
    uint32_t seed = 1;
    for (const Shape& shape : shapes) {
      inputs.push_back(RandomTensor(DType::kFloat, shape, seed++));
    }
    attrs["T"] = DType::kFloat;
    SCOPED_TRACE(op);
    ExpectNativeMatches(op, attrs, inputs, {.threads = GetCase()}, length);
  }
};

constexpr CellSizes kCellSizes[] = {{1, 1, 1, 1},  {3, 2, 5, 3},    {2, 7, 3, 17},
                                    {5, 1, 9, 40}, {4, 33, 20, 70}, {100, 3, 4, 20}};

TEST_P(Cells, LstmsMatchTheReference) {
  for (const CellSizes& s : kCellSizes) {
    SCOPED_TRACE(absl::StrCat(s.steps, " x ", s.batch, " x ", s.features, " x ", s.cell));
    const Shape state({s.batch, s.cell}), vector({s.cell}), x({s.batch, s.features});
    const Shape w({s.features + s.cell, 4 * s.cell}), bias({4 * s.cell});
    const Shape xs({s.steps, s.batch, s.features}), all({s.steps, s.batch, s.cell});
    const int64_t length = (s.features + s.cell) * s.steps;
    for (const bool peephole : {false, true}) {
      const AttrMap attrs{{"use_peephole", peephole}, {"cell_clip", 0.4f}};
      const std::vector<Shape> rest = {state, state, w, vector, vector, vector, bias};
      std::vector<Shape> one = {x}, several = {xs};
      one.insert(one.end(), rest.begin(), rest.end());
      several.insert(several.end(), rest.begin(), rest.end());
      Compare("LSTMBlockCell", attrs, one, -1, length);
      for (const char* op : {"BlockLSTM", "BlockLSTMV2"}) {
        Compare(op, attrs, several, s.steps, length);
        Compare(op, attrs, several, s.steps / 2, length);
      }
      several.insert(several.end(), 9, all);
      for (const char* op : {"BlockLSTMGrad", "BlockLSTMGradV2"}) {
        Compare(op, {{"use_peephole", peephole}}, several, s.steps, length * s.batch);
      }
    }
  }
}

TEST_P(Cells, GrusMatchTheReference) {
  for (const CellSizes& s : kCellSizes) {
    SCOPED_TRACE(absl::StrCat(s.batch, " x ", s.features, " x ", s.cell));
    const Shape state({s.batch, s.cell}), x({s.batch, s.features});
    const int64_t rows = s.features + s.cell;
    std::vector<Shape> shapes = {x,
                                 state,
                                 Shape({rows, 2 * s.cell}),
                                 Shape({rows, s.cell}),
                                 Shape({2 * s.cell}),
                                 Shape({s.cell})};
    Compare("GRUBlockCell", {}, shapes, -1, rows);
    shapes.insert(shapes.end(), 4, state);
    Compare("GRUBlockCellGrad", {}, shapes, -1, 2 * rows);
  }
}

INSTANTIATE_TEST_SUITE_P(, Cells,
                         testing::Combine(testing::ValuesIn(vector_test::Targets()),
                                          testing::Values(1, 2, 3)));

}  // namespace
}  // namespace tenon
