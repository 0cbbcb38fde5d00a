// Tensor arrays of TensorFlow 1 and those of their gradients. Import turns versions 1 and 2, whose
// handles are strings, into version 3.
#include "kernels/lists/tensor_array.h"

#include <utility>

#include "env/status.h"
#include "ops/op.h"

namespace tenon {
namespace {

// All handles, indices and flows are scalars.
absl::Status ExpectScalars(ShapeContext& c, std::initializer_list<int> inputs) {
  for (const int i : inputs) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 0));
  return absl::OkStatus();
}

absl::Status NewArrayShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 0));
  return ScalarShape(c);
}

absl::Status GradientShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectScalars(c, {0, 1}));
  if (c.num_inputs() > 2) TENON_RETURN_IF_ERROR(c.ExpectRank(2, 1));
  return ScalarShape(c);
}

absl::Status WriteShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectScalars(c, {0, 1, 3}));
  return ScalarShape(c);
}

absl::Status ReadShape(ShapeContext& c) { return ExpectScalars(c, {0, 1, 2}); }

absl::Status ArrayGatherShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectScalars(c, {0, 2}));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  TENON_ASSIGN_OR_RETURN(const Shape element, c.attrs().ShapeOf("element_shape"));
  if (!element.has_rank() || !c.input(1).has_rank()) return absl::OkStatus();
  Shape out({c.input(1).dim(0)});
  for (const int64_t d : element.dims()) out.push_back(d);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status ArrayScatterShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectScalars(c, {0, 3}));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  return ScalarShape(c);
}

absl::Status ArraySplitShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectScalars(c, {0, 3}));
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 1));
  return ScalarShape(c);
}

absl::Status ArrayConcatShape(ShapeContext& c) { return ExpectScalars(c, {0, 1}); }

absl::Status ArraySizeShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectScalars(c, {0, 1}));
  return ScalarShape(c);
}

absl::Status ArrayCloseShape(ShapeContext& c) { return c.ExpectRank(0, 0); }

constexpr char kArrayAttrs[] =
    "dtype: type; element_shape: shape = ?; dynamic_size: bool = false; "
    "clear_after_read: bool = true; tensor_array_name: string = ";

const OpRegistration array_v3({
    .name = "TensorArrayV3",
    .inputs = "size: int32",
    .outputs = "handle: resource, flow: float",
    .attrs = "dtype: type; element_shape: shape = ?; dynamic_size: bool = false; "
             "clear_after_read: bool = true; identical_element_shapes: bool = false; "
             "tensor_array_name: string = ",
    .shape = NewArrayShape,
    .reference = NewArrayKernel,
    .stateful = true,
});

const OpRegistration array_gradient_v3({
    .name = "TensorArrayGradV3",
    .inputs = "handle: resource, flow_in: float",
    .outputs = "grad_handle: resource, flow_out: float",
    .attrs = "source: string",
    .shape = GradientShape,
    .reference = ArrayGradientKernel,
    .stateful = true,
});

const OpRegistration array_gradient_with_shape({
    .name = "TensorArrayGradWithShape",
    .inputs = "handle: resource, flow_in: float, shape_to_prepend: int32",
    .outputs = "grad_handle: resource, flow_out: float",
    .attrs = "source: string",
    .shape = GradientShape,
    .reference = ArrayGradientKernel,
    .stateful = true,
});

// An op of version 3, of which there are others with the names `v2` and `v1`.
struct Versions {
  Versions(OpRow row, const char* v2, const char* v1, const char* old_inputs) {
    OpRegistration add_v3(row);
    row.inputs = old_inputs;
    row.shape = UnknownShape;
    row.reference = nullptr;
    row.name = v2;
    OpRegistration add_v2(row);
    row.name = v1;
    OpRegistration add_v1(row);
  }
};

OpRow ArrayOp(const char* name, const char* inputs, const char* outputs, const char* attrs,
              ShapeFn shape, KernelFactory reference) {
  return {.name = name,
          .inputs = inputs,
          .outputs = outputs,
          .attrs = attrs,
          .shape = shape,
          .reference = reference,
          .stateful = true};
}

const Versions array_write(ArrayOp("TensorArrayWriteV3",
                                   "handle: resource, index: int32, value: T, flow_in: float",
                                   "flow_out: float", "T: type", WriteShape, ArrayWriteKernel),
                           "TensorArrayWriteV2", "TensorArrayWrite",
                           "handle: string, index: int32, value: T, flow_in: float");

const Versions array_read(ArrayOp("TensorArrayReadV3",
                                  "handle: resource, index: int32, flow_in: float", "value: dtype",
                                  "dtype: type", ReadShape, ArrayReadKernel),
                          "TensorArrayReadV2", "TensorArrayRead",
                          "handle: string, index: int32, flow_in: float");

const Versions array_gather(ArrayOp("TensorArrayGatherV3",
                                    "handle: resource, indices: int32, flow_in: float",
                                    "value: dtype", "dtype: type; element_shape: shape = ?",
                                    ArrayGatherShape, ArrayGatherKernel),
                            "TensorArrayGatherV2", "TensorArrayGather",
                            "handle: string, indices: int32, flow_in: float");

const Versions array_scatter(ArrayOp("TensorArrayScatterV3",
                                     "handle: resource, indices: int32, value: T, flow_in: float",
                                     "flow_out: float", "T: type", ArrayScatterShape,
                                     ArrayScatterKernel),
                             "TensorArrayScatterV2", "TensorArrayScatter",
                             "handle: string, indices: int32, value: T, flow_in: float");

const Versions array_concat(ArrayOp("TensorArrayConcatV3", "handle: resource, flow_in: float",
                                    "value: dtype, lengths: int64",
                                    "dtype: type; element_shape_except0: shape = ?",
                                    ArrayConcatShape, ArrayConcatKernel),
                            "TensorArrayConcatV2", "TensorArrayConcat",
                            "handle: string, flow_in: float");

const Versions array_split(ArrayOp("TensorArraySplitV3",
                                   "handle: resource, value: T, lengths: int64, flow_in: float",
                                   "flow_out: float", "T: type", ArraySplitShape, ArraySplitKernel),
                           "TensorArraySplitV2", "TensorArraySplit",
                           "handle: string, value: T, lengths: int64, flow_in: float");

const Versions array_size(ArrayOp("TensorArraySizeV3", "handle: resource, flow_in: float",
                                  "size: int32", "", ArraySizeShape, ArraySizeKernel),
                          "TensorArraySizeV2", "TensorArraySize", "handle: string, flow_in: float");

const Versions array_close(ArrayOp("TensorArrayCloseV3", "handle: resource", "", "",
                                   ArrayCloseShape, ArrayCloseKernel),
                           "TensorArrayCloseV2", "TensorArrayClose", "handle: string");

// What has no third version, or takes no handle. Handles of version 1 are references to strings.
OpRow OldArrayOp(const char* name, const char* inputs, const char* outputs, const char* attrs) {
  return ArrayOp(name, inputs, outputs, attrs, UnknownShape, nullptr);
}

const OpRegistration array_v2(OldArrayOp("TensorArrayV2", "size: int32", "handle: string",
                                         kArrayAttrs));
const OpRegistration array_v1(OldArrayOp("TensorArray", "size: int32", "handle: string",
                                         kArrayAttrs));
const OpRegistration array_gradient_v2(OldArrayOp("TensorArrayGradV2",
                                                  "handle: string, flow_in: float",
                                                  "grad_handle: string", "source: string"));
const OpRegistration array_gradient_v1(OldArrayOp("TensorArrayGrad",
                                                  "handle: string, flow_in: float",
                                                  "grad_handle: string", "source: string"));
const OpRegistration array_pack(OldArrayOp("TensorArrayPack", "handle: string, flow_in: float",
                                           "value: dtype",
                                           "dtype: type; element_shape: shape = ?"));
const OpRegistration array_unpack(OldArrayOp("TensorArrayUnpack",
                                             "handle: string, value: T, flow_in: float",
                                             "flow_out: float", "T: type"));

}  // namespace
}  // namespace tenon
