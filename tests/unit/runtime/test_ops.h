// A few ops for tests, and a short way to write graphs with them.
#ifndef TENON_TESTS_UNIT_RUNTIME_TEST_OPS_H_
#define TENON_TESTS_UNIT_RUNTIME_TEST_OPS_H_

#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/tensor.h"

namespace tenon::testing {

// "TestAdd(x, y)": elementwise, may overwrite x. "TestNeg(x)": likewise. "TestCopy(x)": never in
// place. "TestView(x); shape: shape": alias. "TestShape(x)": int32 [rank], from the shape alone.
// "TestPositive(x)": the positive elements; its shape depends on data. "TestRepeat(x, n)": x n
// times, n is read at Prepare. "TestPacked(x, w)": x + w with w packed, never read plain; w can be
// recovered from the packed form. "TestFail(x)": Run fails. "TestUpper(x)": strings.
// "TestScratch(x)": uses scratch.
class GraphMaker {
 public:
  explicit GraphMaker(Graph* graph) : graph_(graph) {}

  Endpoint Input(const std::string& name, const Shape& shape, DType dtype = DType::kFloat);
  Endpoint Const(const std::string& name, Tensor value);
  Endpoint Node(const std::string& op, const std::string& name, std::vector<Endpoint> inputs,
                AttrMap attrs = {});
  void Output(const std::string& name, Endpoint e) { graph_->AddOutput({name, e}); }

 private:
  Graph* graph_;
};

inline Tensor Floats(const Shape& shape, std::vector<float> values) {
  return Tensor::From<float>(shape, std::move(values));
}

}  // namespace tenon::testing

#endif  // TENON_TESTS_UNIT_RUNTIME_TEST_OPS_H_
