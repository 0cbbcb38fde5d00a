#include "tf_plugin/register.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "env/status.h"
#include "ops/op.h"
#include "ops/rename.h"
#include "tensorflow/c/c_api.h"
#include "tensorflow/c/ops.h"
#include "tf_plugin/c_api.h"
#include "tf_plugin/names.h"
#include "tf_plugin/node_kernel.h"
#include "tf_plugin/subgraph_kernel.h"

namespace tenon::plugin {
namespace {

constexpr char kDevice[] = "CPU";

std::string TypeText(DType dtype) {
  return absl::StrCat("DT_", absl::AsciiStrToUpper(Name(dtype)));
}

// A default value in the syntax of TensorFlow's op definitions.
struct DefaultText {
  std::string operator()(int64_t v) const { return absl::StrCat(v); }
  std::string operator()(float v) const { return absl::StrCat(v); }
  std::string operator()(bool v) const { return v ? "true" : "false"; }
  std::string operator()(const std::string& v) const { return absl::StrCat("'", v, "'"); }
  std::string operator()(DType v) const { return TypeText(v); }
  template <typename T>
  std::string operator()(const std::vector<T>& list) const {
    return absl::StrCat(
        "[",
        absl::StrJoin(list, ", ",
                      [&](std::string* out, const T& v) { absl::StrAppend(out, (*this)(v)); }),
        "]");
  }
  // No default: rewrites always write the attribute.
  std::string operator()(const std::monostate&) const { return ""; }
  std::string operator()(const Shape&) const { return ""; }
  std::string operator()(const Tensor&) const { return ""; }
  std::string operator()(const FuncRef&) const { return ""; }
};

bool CountsArgs(const OpSignature& signature, const std::string& attr) {
  const auto counts = [&](const ArgSpec& arg) { return arg.number_attr == attr; };
  return std::any_of(signature.inputs.begin(), signature.inputs.end(), counts) ||
         std::any_of(signature.outputs.begin(), signature.outputs.end(), counts);
}

std::string AttrText(const OpSignature& signature, const AttrSpec& attr) {
  std::string text = absl::StrCat(attr.name, ": ", attr.kind);
  // TensorFlow would require at least one element.
  if (absl::StartsWith(attr.kind, "list(") || CountsArgs(signature, attr.name)) {
    absl::StrAppend(&text, " >= 0");
  }
  if (!attr.has_default) return text;
  const std::string value = std::visit(DefaultText(), attr.default_value.variant());
  return value.empty() ? text : absl::StrCat(text, " = ", value);
}

std::string ArgText(const ArgSpec& arg) {
  const std::string& attr = arg.type_attr.empty() ? arg.type_list_attr : arg.type_attr;
  return absl::StrCat(arg.name, ": ", arg.number_attr.empty() ? "" : arg.number_attr + " * ",
                      attr.empty() ? absl::AsciiStrToLower(Name(arg.dtype)) : attr);
}

// The C API gives shape functions no attributes, so shapes stay unknown.
void NoShapes(TF_ShapeInferenceContext* context, TF_Status* status) {
  TF_ShapeInferenceContextSetUnknownShape(context, status);
}

absl::Status DefineOp(const OpInfo& op) {
  TF_OpDefinitionBuilder* builder = TF_NewOpDefinitionBuilder(PrivateName(op).c_str());
  for (const AttrSpec& attr : op.signature.attrs) {
    TF_OpDefinitionBuilderAddAttr(builder, AttrText(op.signature, attr).c_str());
  }
  for (const ArgSpec& arg : op.signature.inputs) {
    TF_OpDefinitionBuilderAddInput(builder, ArgText(arg).c_str());
  }
  for (const ArgSpec& arg : op.signature.outputs) {
    TF_OpDefinitionBuilderAddOutput(builder, ArgText(arg).c_str());
  }
  TF_OpDefinitionBuilderSetShapeInferenceFunction(builder, NoShapes);
  const StatusPtr status(TF_NewStatus());
  TF_RegisterOpDefinition(builder, status.get());
  return Annotate(FromTf(status.get()), PrivateName(op));
}

// The functions of a kernel.
struct KernelFunctions {
  void* (*create)(TF_OpKernelConstruction*);
  void (*compute)(void*, TF_OpKernelContext*);
  void (*destroy)(void*);
};
constexpr KernelFunctions kNodeKernel = {CreateNodeKernel, ComputeNodeKernel, DeleteNodeKernel};
constexpr KernelFunctions kSubgraphKernel = {CreateSubgraphKernel, ComputeSubgraphKernel,
                                             DeleteSubgraphKernel};

struct KernelChoice {
  std::string op;
  KernelFunctions functions = kNodeKernel;
  const char* label = nullptr;
  std::string type_attr = "";  // empty: any dtype
  DType dtype = DType::kInvalid;
  int priority = 0;
};

absl::Status AddKernel(const KernelChoice& choice) {
  const StatusPtr status(TF_NewStatus());
  TF_KernelBuilder* builder =
      TF_NewKernelBuilder(choice.op.c_str(), kDevice, choice.functions.create,
                          choice.functions.compute, choice.functions.destroy);
  if (choice.label != nullptr) TF_KernelBuilder_Label(builder, choice.label);
  if (choice.priority != 0) TF_KernelBuilder_Priority(builder, choice.priority);
  if (!choice.type_attr.empty()) {
    TF_KernelBuilder_TypeConstraint(builder, choice.type_attr.c_str(),
                                    static_cast<TF_DataType>(choice.dtype), status.get());
    if (TF_GetCode(status.get()) != TF_OK) {
      TF_DeleteKernelBuilder(builder);
      return Annotate(FromTf(status.get()), choice.op);
    }
  }
  const std::string name = absl::StrCat("Tenon", choice.op, Name(choice.dtype));
  TF_RegisterKernelBuilder(name.c_str(), builder, status.get());
  return Annotate(FromTf(status.get()), choice.op);
}

std::string FirstTypeAttr(const OpInfo& op) {
  for (const AttrSpec& attr : op.signature.attrs) {
    if (attr.kind == "type") return attr.name;
  }
  return "";
}

}  // namespace

const absl::StatusOr<TensorFlowOps>& OpsOfTensorFlow() {
  static const auto* const ops =
      new absl::StatusOr<TensorFlowOps>([]() -> absl::StatusOr<TensorFlowOps> {
        const BufferPtr list(TF_GetAllOpList());
        TENON_ASSIGN_OR_RETURN(const std::vector<ProcessOp> all, ParseOpList(Bytes(*list)));
        TensorFlowOps by_name;
        for (const ProcessOp& op : all) by_name.emplace(op.name, op);
        return by_name;
      }());
  return *ops;
}

absl::Status RegisterPrivateOps(const TensorFlowOps& known) {
  for (const OpInfo* op : AllOps()) {
    if (!InGraphs(*op)) continue;
    if (known.contains(PrivateName(*op))) {
      return absl::AlreadyExistsError(
          "a copy of the plug-in is there already, and stays the only one");
    }
    TENON_RETURN_IF_ERROR(DefineOp(*op));
    TENON_RETURN_IF_ERROR(AddKernel({.op = PrivateName(*op)}));
  }
  const OpInfo& subgraph = *FindOp(kSubgraphOp).info;
  TENON_RETURN_IF_ERROR(DefineOp(subgraph));
  return AddKernel({.op = PrivateName(subgraph), .functions = kSubgraphKernel});
}

absl::Status RegisterEagerKernels(const TensorFlowOps& known) {
  for (const OpInfo* op : AllOps()) {
    const OpRow& row = op->row;
    if (!InGraphs(*op) || row.internal || !row.eager) continue;
    const std::string type_attr = FirstTypeAttr(*op);
    if (type_attr.empty()) continue;
    for (const OneDnnName& name : {OneDnnName{row.name, nullptr}, NameOfOneDnn(*op)}) {
      const auto there = known.find(name.op);
      // It differs from the op that we know.
      if (there == known.end() ||
          there->second.inputs != static_cast<int>(op->signature.inputs.size()) ||
          there->second.outputs != static_cast<int>(op->signature.outputs.size())) {
        continue;
      }
      for (const DType dtype : NativeTypes(*op)) {
        // TensorFlow's ops for oneDNN take no others. With such a kernel it would call them.
        const bool onednn =
            dtype == DType::kFloat || dtype == DType::kBfloat16 || IsQuantized(dtype);
        if (!onednn && name.op != row.name) continue;
        TENON_RETURN_IF_ERROR(AddKernel({.op = name.op,
                                         .label = name.label,
                                         .type_attr = type_attr,
                                         .dtype = dtype,
                                         .priority = 1}));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace tenon::plugin
