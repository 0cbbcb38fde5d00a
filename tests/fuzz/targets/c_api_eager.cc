// Calls of the target `c_api` on attributes, eager contexts and handles.
#include <iterator>

#include "tests/fuzz/targets/c_api.h"

namespace tenon::c_api_fuzz {
namespace {

const char* Op(Objects& o) {
  const char* const ops[] = {"Relu",  "AddV2", "MatMul",       "Shape", "Concat",      "Unpack",
                             "Where", "Sum",   "Reshape",      "Cast",  "Assert",      "NoSuchOp",
                             "Pack",  "Split", "_FusedConv2D", "",      "StringLength"};
  return o.Pick(ops);
}

}  // namespace

void SetAttr(Objects& o) {
  tenon_attrs*& attrs = o.attrs.At(o.bytes);
  if (attrs == nullptr) attrs = tenon_attrs_create();
  const char* const names[] = {"T", "N", "axis", "transpose_a", "Tidx", "keep_dims", "shape", ""};
  const char* name = o.Pick(names);
  const int64_t ints[] = {o.Dim(), o.Dim()};
  switch (o.bytes.Below(7)) {
    case 0:
      return Done(tenon_attrs_set_int(attrs, name, ints[0]));
    case 1:
      return Done(tenon_attrs_set_bool(attrs, name, static_cast<int>(ints[0])));
    case 2:
      return Done(tenon_attrs_set_type(attrs, name, static_cast<tenon_dtype>(o.bytes.Byte())));
    case 3:
      return Done(tenon_attrs_set_shape(attrs, name, ints, static_cast<int>(o.bytes.Below(4)) - 1));
    case 4:
      return Done(tenon_attrs_set_ints(attrs, name, ints, o.bytes.Below(3)));
    case 5:
      return Done(tenon_attrs_set_tensor(attrs, name, o.tensors.At(o.bytes)));
    default:
      return Done(tenon_attrs_set_string(attrs, name, "text", o.bytes.Below(5)));
  }
}

// Floats, and lists of what SetAttr sets; to no attributes, too.
void SetMoreAttrs(Objects& o) {
  tenon_attrs* attrs = o.attrs.Live(o.bytes);
  const char* const names[] = {"T",      "Tout",   "out_types", "epsilon",
                               "shapes", "labels", "",          nullptr};
  const char* name = o.Pick(names);
  const size_t count = o.bytes.Below(3);
  const int64_t dims[] = {o.Dim(), o.Dim()};
  switch (o.bytes.Below(5)) {
    case 0:
      return Done(tenon_attrs_set_float(attrs, name, o.bytes.Number<float>()));
    case 1: {
      const float floats[] = {o.bytes.Number<float>(), 1};
      return Done(tenon_attrs_set_floats(attrs, name, count == 0 ? nullptr : floats, count));
    }
    case 2: {
      const tenon_dtype dtypes[] = {static_cast<tenon_dtype>(o.bytes.Byte()), TENON_FLOAT};
      return Done(tenon_attrs_set_types(attrs, name, dtypes, count));
    }
    case 3: {
      const int64_t* const shapes[] = {dims, o.bytes.Bool() ? dims : nullptr};
      const int ranks[] = {static_cast<int>(o.bytes.Below(4)) - 1,
                           static_cast<int>(o.bytes.Below(4)) - 1};
      return Done(tenon_attrs_set_shapes(attrs, name, shapes, ranks, count));
    }
    default: {
      const char* const texts[] = {"text", o.bytes.Bool() ? "" : nullptr};
      const size_t sizes[] = {o.bytes.Below(5), o.bytes.Below(2)};
      return Done(tenon_attrs_set_strings(attrs, name, texts, sizes, count));
    }
  }
}

void CreateEager(Objects& o) {
  tenon_eager_options options = TENON_EAGER_OPTIONS_INIT;
  options.threads = 1;
  options.onednn_opts = static_cast<int>(o.bytes.Below(3)) - 1;
  Done(tenon_eager_create(&options, o.eagers.Empty(o.bytes)));
}

void Execute(Objects& o) {
  const char* op = Op(o);
  const tenon_tensor* inputs[] = {o.tensors.At(o.bytes), o.tensors.At(o.bytes)};
  const int num_inputs = static_cast<int>(o.bytes.Below(3));
  tenon_tensor* outputs[4] = {};
  int num_outputs = static_cast<int>(o.bytes.Below(5));
  tenon_eager* const eager = o.eagers.At(o.bytes);
  const tenon_attrs* const attrs = o.attrs.At(o.bytes);
  Done(tenon_eager_execute(eager, op, inputs, num_inputs, attrs, outputs, &num_outputs));
  for (tenon_tensor* output : outputs) {
    if (output != nullptr) *o.tensors.Empty(o.bytes) = output;
  }
}

void Submit(Objects& o) {
  const char* op = Op(o);
  const tenon_handle* inputs[] = {o.handles.At(o.bytes), o.handles.At(o.bytes)};
  const int num_inputs = static_cast<int>(o.bytes.Below(3));
  tenon_handle* outputs[4] = {};
  int num_outputs = static_cast<int>(o.bytes.Below(5));
  tenon_eager* const eager = o.eagers.At(o.bytes);
  const tenon_attrs* const attrs = o.attrs.At(o.bytes);
  Done(tenon_eager_submit(eager, op, inputs, num_inputs, attrs, outputs, &num_outputs));
  for (tenon_handle* output : outputs) {
    if (output != nullptr) *o.handles.Empty(o.bytes) = output;
  }
}

void CreateHandle(Objects& o) {
  const tenon_tensor* const tensor = o.tensors.At(o.bytes);
  Done(tenon_handle_create(tensor, o.handles.Empty(o.bytes)));
  if (tensor != nullptr) o.may_write = false;
}

void ReadHandle(Objects& o) {
  const tenon_handle* h = o.handles.At(o.bytes);
  if (h != nullptr) (void)tenon_handle_ready(h);
  Done(tenon_handle_read(h, o.tensors.Empty(o.bytes)));
}

}  // namespace tenon::c_api_fuzz
