// Writes a function of TensorFlow's ops, node by node, as a FunctionDef.
#ifndef TENON_PROTO_STABLEHLO_FUNCTION_WRITER_H_
#define TENON_PROTO_STABLEHLO_FUNCTION_WRITER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "env/containers.h"
#include "graph/attr.h"

namespace tenon {

namespace tf {
class FunctionDef;
}  // namespace tf

namespace stablehlo {

// A tensor of the function: "node", "node:1", or an argument's name.
struct Ref {
  std::string name;
  DType dtype = DType::kInvalid;

  bool valid() const { return !name.empty(); }
};

class FunctionWriter {
 public:
  // `nodes_left` limits the nodes of all functions that share it.
  FunctionWriter(std::string name, size_t& nodes_left);
  ~FunctionWriter();

  const std::string& name() const { return name_; }

  Ref AddArgument(DType dtype);
  void AddResult(const Ref& tensor);
  // A node with outputs of these dtypes, named `name` or with a number after it.
  absl::StatusOr<std::vector<Ref>> AddNode(absl::string_view name, absl::string_view op,
                                           const std::vector<Ref>& inputs, const AttrMap& attrs,
                                           const std::vector<DType>& outputs);
  std::unique_ptr<tf::FunctionDef> Finish() &&;

 private:
  const std::string name_;
  size_t& nodes_left_;
  std::unique_ptr<tf::FunctionDef> def_;
  HashMap<std::string, int> names_;  // how often each was asked for
};

}  // namespace stablehlo
}  // namespace tenon

#endif  // TENON_PROTO_STABLEHLO_FUNCTION_WRITER_H_
