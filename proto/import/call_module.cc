#include "proto/import/call_module.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "env/status.h"
#include "graph/attr_reader.h"
#include "proto/messages/tenon_graph.pb.h"
#include "proto/stablehlo/body.h"
#include "proto/stablehlo/module.h"

namespace tenon {
namespace {

// The first version whose modules are portable artifacts, and the newest with a known meaning.
constexpr int64_t kOldestVersion = 4;
constexpr int64_t kNewestVersion = 10;
// Functions may be inlined many times.
constexpr size_t kMinNodes = 1 << 16;
constexpr size_t kBytesPerNode = 16;

// The CPU's place among the platforms that the module was made for; -1 if it takes no such index.
absl::StatusOr<int> PlatformIndex(const AttrReader& attrs) {
  const absl::StatusOr<std::vector<std::string>> platforms = attrs.Strings("platforms");
  if (!platforms.ok() || platforms->empty()) return -1;
  for (size_t i = 0; i < platforms->size(); ++i) {
    if (absl::AsciiStrToUpper((*platforms)[i]) != "CPU") continue;
    return platforms->size() == 1 ? -1 : static_cast<int>(i);
  }
  const absl::StatusOr<std::vector<std::string>> disabled = attrs.Strings("disabled_checks");
  const bool unchecked =
      disabled.ok() && std::find(disabled->begin(), disabled->end(), "platform") != disabled->end();
  if (unchecked && platforms->size() == 1) return -1;
  return Unimplemented("its module is for ", absl::StrJoin(*platforms, ", "), ", not for CPU");
}

// "2.0", dimension 0 of input 2.
absl::StatusOr<stablehlo::Value> DimensionArgument(stablehlo::Body& body, const std::string& spec,
                                                   const std::vector<stablehlo::Value>& inputs,
                                                   DType dtype) {
  const std::vector<std::string> parts = absl::StrSplit(spec, '.');
  int input, dim;
  if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &input) ||
      !absl::SimpleAtoi(parts[1], &dim) || input < 0 ||
      static_cast<size_t>(input) >= inputs.size() || dim < 0 ||
      dim >= inputs[static_cast<size_t>(input)].rank()) {
    return InvalidArgument("dim_args_spec '", spec, "' names no dimension");
  }
  TENON_ASSIGN_OR_RETURN(const stablehlo::Ref sizes,
                         body.Sizes(inputs[static_cast<size_t>(input)]));
  TENON_ASSIGN_OR_RETURN(const stablehlo::Ref begin, body.Integers32({dim}));
  TENON_ASSIGN_OR_RETURN(const stablehlo::Ref one, body.Integers32({1}));
  TENON_ASSIGN_OR_RETURN(stablehlo::Ref size,
                         body.Node("Slice", {sizes, begin, one},
                                   {{"T", sizes.dtype}, {"Index", DType::kInt32}}, sizes.dtype));
  TENON_ASSIGN_OR_RETURN(size, body.Reshape(size, Shape({1}), Shape()));
  TENON_ASSIGN_OR_RETURN(size, body.Cast(size, dtype));
  return stablehlo::Whole(size, Shape());
}

// The module's main takes the platform's index, dimensions and a token before the node's inputs.
absl::Status WriteMain(const Node& node, const stablehlo::Module& module, stablehlo::Body& body) {
  const stablehlo::Function* main = module.Find("main");
  if (main == nullptr) return InvalidArgument("its module has no function 'main'");
  const AttrReader attrs(node);
  TENON_ASSIGN_OR_RETURN(const int platform, PlatformIndex(attrs));
  const absl::StatusOr<std::vector<std::string>> listed = attrs.Strings("dim_args_spec");
  const std::vector<std::string> dims = listed.ok() ? *listed : std::vector<std::string>();
  const size_t tokens = attrs.Bool("has_token_input_output", false) ? 1 : 0;
  const size_t before = (platform >= 0 ? 1 : 0) + dims.size() + tokens;
  const std::vector<stablehlo::ValueId>& params = main->body.args;
  if (params.size() != before + node.inputs.size()) {
    return InvalidArgument("gives ", node.inputs.size(), " inputs to a module that takes ",
                           params.size(), " arguments, of which ", before, " are not inputs");
  }
  std::vector<stablehlo::Value> inputs, args;
  for (size_t i = before; i < params.size(); ++i) {
    const stablehlo::Type& type = module.type(params[i]);
    if (type.kind != stablehlo::Type::Kind::kTensor || type.dtype == DType::kInvalid) {
      return Unimplemented("input ", i - before, " of its module is of an unknown type");
    }
    inputs.push_back(stablehlo::Whole(body.out().AddArgument(type.dtype), type.shape));
  }
  if (platform >= 0) {
    TENON_ASSIGN_OR_RETURN(stablehlo::Value index,
                           body.ConstantValue(Tensor::Scalar<int32_t>(platform), Shape()));
    args.push_back(std::move(index));
  }
  for (const std::string& spec : dims) {
    const DType dtype = module.type(params[args.size()]).dtype;
    TENON_ASSIGN_OR_RETURN(stablehlo::Value size, DimensionArgument(body, spec, inputs, dtype));
    args.push_back(std::move(size));
  }
  args.resize(before);  // a token has no tensor
  args.insert(args.end(), inputs.begin(), inputs.end());
  TENON_ASSIGN_OR_RETURN(const std::vector<stablehlo::Value> results, body.Lower(main->body, args));
  for (const stablehlo::Value& v : results) {
    if (v.dtype == DType::kInvalid) continue;
    TENON_ASSIGN_OR_RETURN(const stablehlo::Ref result, body.Full(v));
    body.out().AddResult(result);
  }
  return absl::OkStatus();
}

}  // namespace

ModuleFunctions::ModuleFunctions() = default;
ModuleFunctions::ModuleFunctions(ModuleFunctions&&) noexcept = default;
ModuleFunctions& ModuleFunctions::operator=(ModuleFunctions&&) noexcept = default;
ModuleFunctions::~ModuleFunctions() = default;

absl::StatusOr<ModuleFunctions> LowerCallModule(const Node& node, const std::string& name) {
  const std::string* bytes = node.attr<std::string>("module");
  const int64_t* version = node.attr<int64_t>("version");
  if (bytes == nullptr || version == nullptr) return InvalidArgument("has no module or version");
  if (*version < kOldestVersion || *version > kNewestVersion) {
    return Unimplemented("version ", *version, " of the op; Tenon has ", kOldestVersion, " to ",
                         kNewestVersion);
  }
  if (!stablehlo::IsBytecode(*bytes)) return Unimplemented("its module is no MLIR bytecode");
  TENON_ASSIGN_OR_RETURN(const stablehlo::Module module, stablehlo::ReadModule(*bytes));
  stablehlo::ModuleWriter writer(module, name, std::max(kMinNodes, bytes->size() / kBytesPerNode));
  stablehlo::Body body(writer, name);
  TENON_RETURN_IF_ERROR(WriteMain(node, module, body));
  writer.functions.push_back(std::move(body.out()).Finish());
  ModuleFunctions made;
  made.functions = std::move(writer.functions);
  return made;
}

}  // namespace tenon
