#include "python/core/eager.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ops/op.h"
#include "ops/rename.h"
#include "python/core/status.h"
#include "python/core/tensor.h"

namespace nb = nanobind;

namespace tenon::python {
namespace {

struct FreeAttrs {
  void operator()(tenon_attrs* attrs) const { tenon_attrs_free(attrs); }
};
using OwnedAttrs = std::unique_ptr<tenon_attrs, FreeAttrs>;

tenon_dtype DTypeNamed(const std::string& name) {
  const DTypeInfo* const info = FindDType(name);
  if (info == nullptr) throw nb::value_error(("there is no dtype '" + name + "'").c_str());
  return info->dtype;
}

// None: a shape of unknown rank; a dimension of None is unknown.
struct AttrShape {
  explicit AttrShape(nb::handle value) {
    if (value.is_none()) return;
    for (nb::handle dim : value) dims.push_back(dim.is_none() ? -1 : nb::cast<int64_t>(dim));
    rank = static_cast<int>(dims.size());
  }

  std::vector<int64_t> dims;
  int rank = -1;
};

void SetShapes(tenon_attrs* attrs, const char* name, nb::handle value) {
  std::vector<AttrShape> shapes;
  for (nb::handle shape : value) shapes.emplace_back(shape);
  std::vector<const int64_t*> dims;
  std::vector<int> ranks;
  for (const AttrShape& shape : shapes) {
    dims.push_back(shape.dims.data());
    ranks.push_back(shape.rank);
  }
  Check(tenon_attrs_set_shapes(attrs, name, dims.data(), ranks.data(), shapes.size()));
}

void SetStrings(tenon_attrs* attrs, const char* name, const std::vector<nb::bytes>& values) {
  std::vector<const char*> data;
  std::vector<size_t> sizes;
  for (const nb::bytes& value : values) {
    data.push_back(value.c_str());
    sizes.push_back(value.size());
  }
  Check(tenon_attrs_set_strings(attrs, name, data.data(), sizes.data(), data.size()));
}

void SetAttr(tenon_attrs* attrs, const char* name, std::string_view kind, nb::handle value) {
  if (kind == "int") {
    Check(tenon_attrs_set_int(attrs, name, nb::cast<int64_t>(value)));
  } else if (kind == "float") {
    Check(tenon_attrs_set_float(attrs, name, nb::cast<float>(value)));
  } else if (kind == "bool") {
    Check(tenon_attrs_set_bool(attrs, name, nb::cast<bool>(value)));
  } else if (kind == "string") {
    const nb::bytes text = nb::cast<nb::bytes>(value);
    Check(tenon_attrs_set_string(attrs, name, text.c_str(), text.size()));
  } else if (kind == "type") {
    Check(tenon_attrs_set_type(attrs, name, DTypeNamed(nb::cast<std::string>(value))));
  } else if (kind == "shape") {
    const AttrShape shape(value);
    Check(tenon_attrs_set_shape(attrs, name, shape.dims.data(), shape.rank));
  } else if (kind == "tensor") {
    Check(tenon_attrs_set_tensor(attrs, name, nb::cast<const Tensor&>(value).get()));
  } else if (kind == "list(int)") {
    const auto values = nb::cast<std::vector<int64_t>>(value);
    Check(tenon_attrs_set_ints(attrs, name, values.data(), values.size()));
  } else if (kind == "list(float)") {
    const auto values = nb::cast<std::vector<float>>(value);
    Check(tenon_attrs_set_floats(attrs, name, values.data(), values.size()));
  } else if (kind == "list(string)") {
    SetStrings(attrs, name, nb::cast<std::vector<nb::bytes>>(value));
  } else if (kind == "list(type)") {
    std::vector<tenon_dtype> types;
    for (const auto& type : nb::cast<std::vector<std::string>>(value)) {
      types.push_back(DTypeNamed(type));
    }
    Check(tenon_attrs_set_types(attrs, name, types.data(), types.size()));
  } else if (kind == "list(shape)") {
    SetShapes(attrs, name, value);
  } else {
    throw StatusError(TENON_UNIMPLEMENTED, std::string("attribute '") + name + "' of kind " +
                                               std::string(kind) + " cannot be set from Python");
  }
}

// `attrs`: (name, kind, value) each.
nb::list Execute(const std::string& op, nb::list inputs, nb::list attrs) {
  std::vector<const tenon_tensor*> in;
  for (nb::handle input : inputs) in.push_back(nb::cast<const Tensor&>(input).get());
  OwnedAttrs set(tenon_attrs_create());
  if (set == nullptr) throw std::bad_alloc();
  for (nb::handle attr : attrs) {
    SetAttr(set.get(), nb::cast<std::string>(attr[0]).c_str(), nb::cast<std::string>(attr[1]),
            attr[2]);
  }
  constexpr int kMost = 1024;
  tenon_tensor* outputs[kMost];
  int count = kMost;
  tenon_status* status = nullptr;
  {
    nb::gil_scoped_release release;
    status = tenon_eager_execute(nullptr, op.c_str(), in.data(), static_cast<int>(in.size()),
                                 set.get(), outputs, &count);
  }
  Check(status);
  std::vector<OwnedTensor> owned;
  for (int i = 0; i < count; ++i) owned.emplace_back(outputs[i]);
  nb::list results;
  for (OwnedTensor& tensor : owned) {
    results.append(nb::cast(Tensor(std::move(tensor), /*read_only=*/false)));
  }
  return results;
}

// Of each op: name, inputs, outputs, attrs and types as in OpRow, dtypes of its accelerated kernel.
nb::list OpTable() {
  nb::list table;
  for (const OpInfo* op : AllOps()) {
    const OpRow& row = op->row;
    if (row.internal || row.name[0] == '_' || row.reference == nullptr) continue;
    std::string native;
    if (row.accelerated != nullptr) {
      native = absl::StrJoin(NativeTypes(*op), " ",
                             [](std::string* out, DType d) { absl::StrAppend(out, Name(d)); });
    }
    table.append(nb::make_tuple(row.name, row.inputs, row.outputs, row.attrs, row.types, native));
  }
  return table;
}

}  // namespace

void AddEager(nb::module_& module) {
  module.def("execute", Execute, nb::arg("op"), nb::arg("inputs"), nb::arg("attrs"));
  module.def("op_table", OpTable);
}

}  // namespace tenon::python
