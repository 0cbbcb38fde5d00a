// TF_OpKernelConstruction: a node's attributes during construction of its kernel.
#include <algorithm>
#include <cstring>
#include <limits>

#include "runtime/devices/abi/abi.h"

namespace {

using tenon::PluginAttr;
using tenon::Set;
using Kind = PluginAttr::Kind;

enum class Form { kScalar, kList };

size_t Size(const PluginAttr& a) {
  return a.ints.size() + a.floats.size() + a.bools.size() + a.strings.size() + a.types.size() +
         a.shapes.size() + a.tensors.size();
}

void SetMissing(const char* name, TF_Code code, TF_Status* status) {
  Set(status, code, "the node has no attribute '" + std::string(name) + "'");
}

bool IsEmptyList(const PluginAttr& a) { return a.list && Size(a) == 0; }

// The attribute; or null, with a status, if there is none (`missing`, TensorFlow's code for that)
// or it has another type.
const PluginAttr* Find(TF_OpKernelConstruction* ctx, const char* name, Kind kind, Form form,
                       TF_Code missing, TF_Status* status) {
  const auto it = ctx->attrs.find(name);
  if (it == ctx->attrs.end()) {
    SetMissing(name, missing, status);
    return nullptr;
  }
  const PluginAttr& attr = it->second;
  // An empty list has no element type.
  const bool empty = form == Form::kList && IsEmptyList(attr);
  if (!empty && (attr.kind != kind || attr.list != (form == Form::kList))) {
    Set(status, TF_INVALID_ARGUMENT, "attribute '" + std::string(name) + "' is of another type");
    return nullptr;
  }
  Set(status, TF_OK);
  return &attr;
}

template <typename T, typename Out>
void Scalar(TF_OpKernelConstruction* ctx, const char* name, Kind kind,
            std::vector<T> PluginAttr::*field, Out* out, TF_Status* status) {
  if (const PluginAttr* attr = Find(ctx, name, kind, Form::kScalar, TF_NOT_FOUND, status)) {
    *out = static_cast<Out>((attr->*field)[0]);
  }
}

template <typename T, typename Out>
void List(TF_OpKernelConstruction* ctx, const char* name, Kind kind,
          std::vector<T> PluginAttr::*field, Out* out, int max, TF_Status* status) {
  const PluginAttr* attr = Find(ctx, name, kind, Form::kList, TF_INVALID_ARGUMENT, status);
  if (attr == nullptr) return;
  const size_t n = std::min((attr->*field).size(), static_cast<size_t>(std::max(max, 0)));
  for (size_t i = 0; i < n; ++i) out[i] = static_cast<Out>((attr->*field)[i]);
}

bool FitsInt32(const PluginAttr& attr) {
  return std::all_of(attr.ints.begin(), attr.ints.end(), [](int64_t v) {
    return v >= std::numeric_limits<int32_t>::min() && v <= std::numeric_limits<int32_t>::max();
  });
}

// Returns false, and sets the status, if an int32 is requested but the value is larger.
bool CheckInt32(TF_OpKernelConstruction* ctx, const char* name, TF_Status* status) {
  const auto it = ctx->attrs.find(name);
  if (it == ctx->attrs.end() || FitsInt32(it->second)) return true;
  Set(status, TF_INVALID_ARGUMENT,
      "attribute '" + std::string(name) + "' has a value beyond int32");
  return false;
}

}  // namespace

extern "C" {

TF_StringView TF_OpKernelConstruction_GetName(TF_OpKernelConstruction* ctx) {
  return tenon::View(ctx->node);
}

TF_Buffer* TF_OpKernelConstruction_GetNodeDef(TF_OpKernelConstruction*, TF_Status* status) {
  Set(status, TF_UNIMPLEMENTED, "Tenon does not provide the NodeDef; read attributes instead");
  return nullptr;
}

void TF_OpKernelConstruction_Failure(TF_OpKernelConstruction* ctx, TF_Status* status) {
  ctx->status = *status;
}

bool TF_OpKernelConstruction_HasAttr(TF_OpKernelConstruction* ctx, const char* attr_name,
                                     TF_Status* status) {
  Set(status, TF_OK);
  return ctx->attrs.count(attr_name) != 0;
}

void TF_OpKernelConstruction_GetAttrSize(TF_OpKernelConstruction* ctx, const char* attr_name,
                                         int32_t* list_size, int32_t* total_size,
                                         TF_Status* status) {
  *list_size = -1;
  *total_size = -1;
  const auto it = ctx->attrs.find(attr_name);
  if (it == ctx->attrs.end()) return SetMissing(attr_name, TF_INVALID_ARGUMENT, status);
  const PluginAttr& a = it->second;
  if (a.list) *list_size = static_cast<int32_t>(Size(a));
  if (IsEmptyList(a)) return Set(status, TF_OK);
  if (a.kind == Kind::kString) {
    *total_size = 0;
    for (const std::string& s : a.strings) *total_size += static_cast<int32_t>(s.size());
  } else if (a.kind == Kind::kShape) {
    *total_size = 0;
    for (const auto& shape : a.shapes) {
      if (shape.has_value()) *total_size += static_cast<int32_t>(shape->size());
      if (!shape.has_value() && !a.list) *total_size = -1;
    }
  }
  Set(status, TF_OK);
}

void TF_OpKernelConstruction_GetAttrType(TF_OpKernelConstruction* ctx, const char* attr_name,
                                         TF_DataType* val, TF_Status* status) {
  Scalar(ctx, attr_name, Kind::kType, &PluginAttr::types, val, status);
}
void TF_OpKernelConstruction_GetAttrInt32(TF_OpKernelConstruction* ctx, const char* attr_name,
                                          int32_t* val, TF_Status* status) {
  if (!CheckInt32(ctx, attr_name, status)) return;
  Scalar(ctx, attr_name, Kind::kInt, &PluginAttr::ints, val, status);
}
void TF_OpKernelConstruction_GetAttrInt64(TF_OpKernelConstruction* ctx, const char* attr_name,
                                          int64_t* val, TF_Status* status) {
  Scalar(ctx, attr_name, Kind::kInt, &PluginAttr::ints, val, status);
}
void TF_OpKernelConstruction_GetAttrFloat(TF_OpKernelConstruction* ctx, const char* attr_name,
                                          float* val, TF_Status* status) {
  Scalar(ctx, attr_name, Kind::kFloat, &PluginAttr::floats, val, status);
}
void TF_OpKernelConstruction_GetAttrBool(TF_OpKernelConstruction* ctx, const char* attr_name,
                                         TF_Bool* val, TF_Status* status) {
  Scalar(ctx, attr_name, Kind::kBool, &PluginAttr::bools, val, status);
}

void TF_OpKernelConstruction_GetAttrString(TF_OpKernelConstruction* ctx, const char* attr_name,
                                           char* val, size_t max_length, TF_Status* status) {
  const PluginAttr* attr = Find(ctx, attr_name, Kind::kString, Form::kScalar, TF_NOT_FOUND, status);
  if (attr == nullptr || max_length == 0) return;
  const size_t n = std::min(attr->strings[0].size(), max_length);
  std::memcpy(val, attr->strings[0].data(), n);
  if (n < max_length) val[n] = '\0';
}

void TF_OpKernelConstruction_GetAttrTensor(TF_OpKernelConstruction* ctx, const char* attr_name,
                                           TF_Tensor** val, TF_Status* status) {
  *val = nullptr;
  if (const PluginAttr* attr =
          Find(ctx, attr_name, Kind::kTensor, Form::kScalar, TF_NOT_FOUND, status)) {
    *val = new TF_Tensor(attr->tensors[0]);
  }
}

void TF_OpKernelConstruction_GetAttrTypeList(TF_OpKernelConstruction* ctx, const char* attr_name,
                                             TF_DataType* vals, int max_vals, TF_Status* status) {
  List(ctx, attr_name, Kind::kType, &PluginAttr::types, vals, max_vals, status);
}
void TF_OpKernelConstruction_GetAttrInt32List(TF_OpKernelConstruction* ctx, const char* attr_name,
                                              int32_t* vals, int max_vals, TF_Status* status) {
  if (!CheckInt32(ctx, attr_name, status)) return;
  List(ctx, attr_name, Kind::kInt, &PluginAttr::ints, vals, max_vals, status);
}
void TF_OpKernelConstruction_GetAttrInt64List(TF_OpKernelConstruction* ctx, const char* attr_name,
                                              int64_t* vals, int max_vals, TF_Status* status) {
  List(ctx, attr_name, Kind::kInt, &PluginAttr::ints, vals, max_vals, status);
}
void TF_OpKernelConstruction_GetAttrFloatList(TF_OpKernelConstruction* ctx, const char* attr_name,
                                              float* vals, int max_vals, TF_Status* status) {
  List(ctx, attr_name, Kind::kFloat, &PluginAttr::floats, vals, max_vals, status);
}
void TF_OpKernelConstruction_GetAttrBoolList(TF_OpKernelConstruction* ctx, const char* attr_name,
                                             TF_Bool* vals, int max_vals, TF_Status* status) {
  List(ctx, attr_name, Kind::kBool, &PluginAttr::bools, vals, max_vals, status);
}

void TF_OpKernelConstruction_GetAttrStringList(TF_OpKernelConstruction* ctx, const char* attr_name,
                                               char** values, size_t* lengths, int max_values,
                                               void* storage, size_t storage_size,
                                               TF_Status* status) {
  const PluginAttr* attr = Find(ctx, attr_name, Kind::kString, Form::kList, TF_NOT_FOUND, status);
  if (attr == nullptr) return;
  auto* next = static_cast<char*>(storage);
  for (size_t i = 0; i < attr->strings.size() && static_cast<int>(i) < max_values; ++i) {
    const std::string& s = attr->strings[i];
    if (s.size() > storage_size) {
      return Set(status, TF_INVALID_ARGUMENT, "the buffer is too small for the strings");
    }
    std::memcpy(next, s.data(), s.size());
    values[i] = next;
    lengths[i] = s.size();
    next += s.size();
    storage_size -= s.size();
  }
}

void TF_OpKernelConstruction_GetAttrTensorList(TF_OpKernelConstruction* ctx, const char* attr_name,
                                               TF_Tensor** vals, int max_values,
                                               TF_Status* status) {
  const PluginAttr* attr = Find(ctx, attr_name, Kind::kTensor, Form::kList, TF_NOT_FOUND, status);
  if (attr == nullptr) return;
  for (size_t i = 0; i < attr->tensors.size() && static_cast<int>(i) < max_values; ++i) {
    vals[i] = new TF_Tensor(attr->tensors[i]);
  }
}

TF_Buffer* TF_OpKernelConstruction_GetAttrFunction(TF_OpKernelConstruction*, const char*,
                                                   TF_Status* status) {
  Set(status, TF_UNIMPLEMENTED, "Tenon does not provide functions to plug-ins");
  return nullptr;
}

}  // extern "C"
