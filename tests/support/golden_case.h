// Golden cases: lines of tests/numerics/goldens/TOPIC.nodes (tests/numerics/README.md describes the
// format) and the arrays of TOPIC.npz.
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
  // Attribute text by name, as written. MakeNode converts it to values by the op's signature.
  std::vector<std::pair<std::string, std::string>> attributes;
  bool fails = false;  // TensorFlow refuses it
  bool safe = false;   // fails, or may give any result
};

// "f32", "i64" ... of the case files.
DType GoldenDType(absl::string_view name);

absl::StatusOr<GoldenCase> ParseGoldenCase(const std::string& line);
absl::StatusOr<std::vector<GoldenCase>> ReadGoldenCases(const std::string& path);

// The case's node, with complete attributes. Unimplemented if the op is not in the table.
absl::StatusOr<Node> MakeNode(const GoldenCase& c);

// Sorted.
std::vector<std::string> GoldenTopics();
absl::StatusOr<std::vector<GoldenCase>> GoldenCasesOf(const std::string& topic);
// An array of the topic ("CASE/in0", "CASE/out0" ...), as a tensor of that dtype.
absl::StatusOr<Tensor> GoldenArray(const std::string& topic, const std::string& array, DType dtype);
// The inputs of one of the topic's cases.
absl::StatusOr<std::vector<Tensor>> GoldenInputs(const std::string& topic, const GoldenCase& c);

}  // namespace tenon

#endif  // TENON_TESTS_SUPPORT_GOLDEN_CASE_H_
