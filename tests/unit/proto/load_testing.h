// Helpers of the loader's tests: models on disk, GraphDefs written as text.
#ifndef TENON_TESTS_UNIT_PROTO_LOAD_TESTING_H_
#define TENON_TESTS_UNIT_PROTO_LOAD_TESTING_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "proto/import/model.h"
#include "tests/support/source_dir.h"

namespace tenon {

inline std::string ModelPath(const std::string& name) { return SourcePath("tests/models/" + name); }
inline std::string DataPath(const std::string& name) {
  return SourcePath("tests/unit/proto/data/" + name);
}

// These tests do not depend on which ops exist.
inline LoadOptions Lenient() {
  LoadOptions options;
  options.allow_missing_ops = true;
  return options;
}

// A path for this test only; it is deleted when the test ends.
class ScratchPath {
 public:
  explicit ScratchPath(const std::string& suffix)
      : path_(::testing::TempDir() + "tenon_" + std::to_string(getpid()) + "_" + suffix) {}
  ~ScratchPath() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& str() const { return path_; }

 private:
  const std::string path_;
};

inline void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
}
inline std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline absl::StatusOr<Model> LoadText(const std::string& graph, const LoadOptions& options) {
  const ScratchPath path("graph.pbtxt");
  WriteFile(path.str(), graph);
  return LoadModel(path.str(), options);
}

inline std::vector<std::string> InputNames(const Graph& graph) {
  std::vector<std::string> names;
  for (const GraphInput& input : graph.inputs()) names.push_back(input.name);
  return names;
}
inline std::vector<std::string> OutputNames(const Graph& graph) {
  std::vector<std::string> names;
  for (const GraphOutput& output : graph.outputs()) names.push_back(output.name);
  return names;
}
inline int CountOps(const Graph& graph, absl::string_view op) {
  int n = 0;
  for (NodeId id : graph.NodeIds()) n += graph.node(id).op == op;
  return n;
}

}  // namespace tenon

#endif  // TENON_TESTS_UNIT_PROTO_LOAD_TESTING_H_
