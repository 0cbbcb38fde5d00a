#include "proto/stablehlo/function_writer.h"

#include <utility>

#include "env/status.h"
#include "proto/messages/attr_proto.h"
#include "proto/messages/tenon_graph.pb.h"

namespace tenon::stablehlo {
namespace {

// A function's constants are written again wherever it is inlined, so they count as nodes, too.
constexpr size_t kConstantBytesPerNode = 128;

size_t Cost(const AttrMap& attrs) {
  size_t cost = 1;
  for (const auto& [key, value] : attrs) {
    if (const Tensor* t = value.get_if<Tensor>()) cost += t->bytes() / kConstantBytesPerNode;
  }
  return cost;
}

}  // namespace

FunctionWriter::FunctionWriter(std::string name, size_t& nodes_left)
    : name_(std::move(name)), nodes_left_(nodes_left), def_(std::make_unique<tf::FunctionDef>()) {
  def_->mutable_signature()->set_name(name_);
}

FunctionWriter::~FunctionWriter() = default;

Ref FunctionWriter::AddArgument(DType dtype) {
  auto& arg = *def_->mutable_signature()->add_input_arg();
  arg.set_name(absl::StrCat("arg", def_->signature().input_arg_size() - 1));
  arg.set_type(static_cast<tf::DataType>(dtype));
  return {arg.name(), dtype};
}

void FunctionWriter::AddResult(const Ref& tensor) {
  auto& result = *def_->mutable_signature()->add_output_arg();
  result.set_name(absl::StrCat("result", def_->signature().output_arg_size() - 1));
  result.set_type(static_cast<tf::DataType>(tensor.dtype));
  auto& returned = *def_->add_ret();
  returned.set_key(result.name());
  returned.set_value(tensor.name);
}

absl::StatusOr<std::vector<Ref>> FunctionWriter::AddNode(absl::string_view name,
                                                         absl::string_view op,
                                                         const std::vector<Ref>& inputs,
                                                         const AttrMap& attrs,
                                                         const std::vector<DType>& outputs) {
  const size_t cost = Cost(attrs);
  if (nodes_left_ < cost) {
    return absl::ResourceExhaustedError("with its functions inlined the module has too many nodes");
  }
  nodes_left_ -= cost;
  tf::NodeDef& node = *def_->add_node_def();
  // Arguments are called arg0, arg1 and so on; no op of StableHLO is.
  const int before = names_[std::string(name)]++;
  node.set_name(before == 0 ? std::string(name) : absl::StrCat(name, "_", before));
  node.set_op(std::string(op));
  for (const Ref& input : inputs) node.add_input(input.name);
  for (const auto& [key, value] : attrs) {
    tf::AttrEntry& entry = *node.add_attr();
    entry.set_key(key);
    TENON_RETURN_IF_ERROR(AttrToProto(value, *entry.mutable_value()));
  }
  std::vector<Ref> results;
  for (DType dtype : outputs) {
    results.push_back(
        {results.empty() ? node.name() : absl::StrCat(node.name(), ":", results.size()), dtype});
  }
  return results;
}

std::unique_ptr<tf::FunctionDef> FunctionWriter::Finish() && { return std::move(def_); }

}  // namespace tenon::stablehlo
