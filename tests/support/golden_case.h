// Golden cases: lines of tests/numerics/goldens/TOPIC.nodes (the format is told in
// tests/numerics/README.md) and the arrays of TOPIC.npz.
#ifndef TENON_TESTS_SUPPORT_GOLDEN_CASE_H_
#define TENON_TESTS_SUPPORT_GOLDEN_CASE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/tensor.h"

namespace tenon {

struct GoldenCase {
  struct Input {
    DType dtype = DType::kInvalid;
    bool constant = false;
  };
  std::string name;
  std::string line;
  std::string op;
  std::vector<Input> inputs;
  std::vector<DType> outputs;  // those with a defined value
  // As written: attribute text by name. MakeNode turns it into values by the op's signature.
  std::vector<std::pair<std::string, std::string>> attributes;
  bool fails = false;  // TensorFlow refuses it
};

// "f32", "i64" ... of the case files.
DType GoldenDType(absl::string_view name);

absl::StatusOr<GoldenCase> ParseGoldenCase(const std::string& line);
absl::StatusOr<std::vector<GoldenCase>> ReadGoldenCases(const std::string& path);

// The case's node, attributes complete. Unimplemented where the op is not in the table.
absl::StatusOr<Node> MakeNode(const GoldenCase& c);

// Sorted.
std::vector<std::string> GoldenTopics();
absl::StatusOr<std::vector<GoldenCase>> GoldenCasesOf(const std::string& topic);
// "CASE/in0", "CASE/out0" ... of the topic's arrays, as a tensor of that dtype.
absl::StatusOr<Tensor> GoldenArray(const std::string& topic, const std::string& array, DType dtype);

}  // namespace tenon

#endif  // TENON_TESTS_SUPPORT_GOLDEN_CASE_H_
