// The C interface over runtime/eager/eager.h.
#include <algorithm>
#include <string>
#include <vector>

#include "env/flags.h"
#include "env/status.h"
#include "include/c_api_types.h"
#include "runtime/eager/eager.h"

struct tenon_attrs {
  tenon::AttrMap attrs;
};
struct tenon_eager {
  std::unique_ptr<tenon::Eager> eager;
};
struct tenon_handle {
  tenon::EagerHandle handle;
};

namespace {

using tenon::AttrValue;
using tenon::DType;
using tenon::Guard;
using tenon::InvalidArgument;
using tenon::Shape;
using tenon::Tensor;

// `make` returns absl::StatusOr<AttrValue>.
template <typename Make>
tenon_status* Set(tenon_attrs* attrs, const char* name, Make make) {
  return Guard([&]() -> absl::Status {
    if (attrs == nullptr || name == nullptr) return InvalidArgument("null argument");
    absl::StatusOr<AttrValue> value = make();
    if (!value.ok()) return tenon::Annotate(value.status(), absl::StrCat("attribute '", name, "'"));
    attrs->attrs[name] = *std::move(value);
    return absl::OkStatus();
  });
}

template <typename T, typename C>
absl::StatusOr<AttrValue> ListOf(const C* values, size_t count) {
  if (values == nullptr && count > 0) return InvalidArgument("null argument");
  std::vector<T> list;
  for (size_t i = 0; i < count; ++i) list.push_back(static_cast<T>(values[i]));
  return AttrValue(std::move(list));
}

absl::StatusOr<Shape> PartialShape(const int64_t* dims, int rank) {
  if (rank == -1) return Shape::Unknown();
  return tenon::ShapeFromDims(dims, rank);
}

absl::StatusOr<tenon::Eager*> Context(tenon_eager* eager) {
  if (eager != nullptr) return eager->eager.get();
  return tenon::eager::DefaultContext();
}

absl::Status CreateEager(const tenon_eager_options* given, tenon_eager** out) {
  if (out == nullptr) return InvalidArgument("null argument");
  const tenon_eager_options defaults = TENON_EAGER_OPTIONS_INIT;
  TENON_ASSIGN_OR_RETURN(const tenon_eager_options wanted, tenon::ReadStruct(given, defaults));
  tenon::SessionOptions options;
  TENON_ASSIGN_OR_RETURN(options.flags, tenon::Flags::FromEnvironment());
  if (wanted.onednn_opts >= 0) options.flags->onednn_opts = wanted.onednn_opts != 0;
  if (wanted.threads < 0) return InvalidArgument("threads must not be negative");
  options.threads = wanted.threads;
  auto eager = std::make_unique<tenon_eager>();
  TENON_ASSIGN_OR_RETURN(eager->eager, tenon::Eager::Create(options));
  *out = eager.release();
  return absl::OkStatus();
}

// The common part of Execute and Submit. T: Tensor or EagerHandle; C: the C struct around it.
template <typename T, typename C, typename Call>
absl::Status RunCall(tenon_eager* eager, const char* op, const C* const* inputs, int num_inputs,
                     const tenon_attrs* attrs, C** outputs, int* num_outputs, T C::*member,
                     Call call) {
  if (op == nullptr || num_inputs < 0 || (num_inputs > 0 && inputs == nullptr) ||
      num_outputs == nullptr || (*num_outputs > 0 && outputs == nullptr)) {
    return InvalidArgument("null argument");
  }
  absl::InlinedVector<T, 4> in;
  for (int i = 0; i < num_inputs; ++i) {
    if (inputs[i] == nullptr) return InvalidArgument("op '", op, "': input ", i, " is null");
    in.push_back(inputs[i]->*member);
  }
  TENON_ASSIGN_OR_RETURN(tenon::Eager* const context, Context(eager));
  static const tenon::AttrMap* const none = new tenon::AttrMap;
  TENON_ASSIGN_OR_RETURN(std::vector<T> out,
                         call(*context, absl::MakeConstSpan(in), attrs ? attrs->attrs : *none));
  if (out.size() > static_cast<size_t>(std::max(*num_outputs, 0))) {
    return InvalidArgument("op '", op, "' has ", out.size(), " outputs, but there is room for ",
                           *num_outputs);
  }
  absl::InlinedVector<std::unique_ptr<C>, 4> made;
  for (T& t : out) made.push_back(std::unique_ptr<C>(new C{std::move(t)}));
  for (size_t i = 0; i < made.size(); ++i) outputs[i] = made[i].release();
  *num_outputs = static_cast<int>(made.size());
  return absl::OkStatus();
}

}  // namespace

tenon_attrs* tenon_attrs_create(void) { return new (std::nothrow) tenon_attrs; }
void tenon_attrs_free(tenon_attrs* attrs) { delete attrs; }
tenon_status* tenon_attrs_set_int(tenon_attrs* attrs, const char* name, int64_t value) {
  return Set(attrs, name, [&] { return AttrValue(value); });
}
tenon_status* tenon_attrs_set_float(tenon_attrs* attrs, const char* name, float value) {
  return Set(attrs, name, [&] { return AttrValue(value); });
}
tenon_status* tenon_attrs_set_bool(tenon_attrs* attrs, const char* name, int value) {
  return Set(attrs, name, [&] { return AttrValue(value != 0); });
}
tenon_status* tenon_attrs_set_string(tenon_attrs* attrs, const char* name, const char* data,
                                     size_t size) {
  return Set(attrs, name, [&]() -> absl::StatusOr<AttrValue> {
    if (data == nullptr && size > 0) return InvalidArgument("null argument");
    return AttrValue(size == 0 ? std::string() : std::string(data, size));
  });
}
tenon_status* tenon_attrs_set_type(tenon_attrs* attrs, const char* name, tenon_dtype value) {
  return Set(attrs, name, [&] { return AttrValue(static_cast<DType>(value)); });
}
tenon_status* tenon_attrs_set_shape(tenon_attrs* attrs, const char* name, const int64_t* dims,
                                    int rank) {
  return Set(attrs, name, [&]() -> absl::StatusOr<AttrValue> {
    TENON_ASSIGN_OR_RETURN(Shape shape, PartialShape(dims, rank));
    return AttrValue(std::move(shape));
  });
}
tenon_status* tenon_attrs_set_tensor(tenon_attrs* attrs, const char* name,
                                     const tenon_tensor* value) {
  return Set(attrs, name, [&]() -> absl::StatusOr<AttrValue> {
    if (value == nullptr) return InvalidArgument("null argument");
    // A copy, because the caller may overwrite its own tensor.
    TENON_ASSIGN_OR_RETURN(Tensor copy, value->tensor.Clone());
    return AttrValue(std::move(copy));
  });
}
tenon_status* tenon_attrs_set_ints(tenon_attrs* attrs, const char* name, const int64_t* values,
                                   size_t count) {
  return Set(attrs, name, [&] { return ListOf<int64_t>(values, count); });
}
tenon_status* tenon_attrs_set_floats(tenon_attrs* attrs, const char* name, const float* values,
                                     size_t count) {
  return Set(attrs, name, [&] { return ListOf<float>(values, count); });
}
tenon_status* tenon_attrs_set_strings(tenon_attrs* attrs, const char* name,
                                      const char* const* values, const size_t* sizes,
                                      size_t count) {
  return Set(attrs, name, [&]() -> absl::StatusOr<AttrValue> {
    if (count > 0 && (values == nullptr || sizes == nullptr))
      return InvalidArgument("null argument");
    std::vector<std::string> list;
    for (size_t i = 0; i < count; ++i) {
      if (values[i] == nullptr && sizes[i] > 0) return InvalidArgument("null argument");
      list.emplace_back(values[i] == nullptr ? "" : values[i], sizes[i]);
    }
    return AttrValue(std::move(list));
  });
}
tenon_status* tenon_attrs_set_types(tenon_attrs* attrs, const char* name, const tenon_dtype* values,
                                    size_t count) {
  return Set(attrs, name, [&] { return ListOf<DType>(values, count); });
}
tenon_status* tenon_attrs_set_shapes(tenon_attrs* attrs, const char* name,
                                     const int64_t* const* dims, const int* ranks, size_t count) {
  return Set(attrs, name, [&]() -> absl::StatusOr<AttrValue> {
    if (count > 0 && (dims == nullptr || ranks == nullptr)) return InvalidArgument("null argument");
    std::vector<Shape> list;
    for (size_t i = 0; i < count; ++i) {
      TENON_ASSIGN_OR_RETURN(Shape shape, PartialShape(dims[i], ranks[i]));
      list.push_back(std::move(shape));
    }
    return AttrValue(std::move(list));
  });
}

tenon_status* tenon_eager_create(const tenon_eager_options* options, tenon_eager** eager) {
  return Guard([&] { return CreateEager(options, eager); });
}
void tenon_eager_free(tenon_eager* eager) { delete eager; }

tenon_status* tenon_eager_execute(tenon_eager* eager, const char* op,
                                  const tenon_tensor* const* inputs, int num_inputs,
                                  const tenon_attrs* attrs, tenon_tensor** outputs,
                                  int* num_outputs) {
  return Guard([&] {
    return RunCall(eager, op, inputs, num_inputs, attrs, outputs, num_outputs,
                   &tenon_tensor::tensor,
                   [op](tenon::Eager& context, absl::Span<const Tensor> in,
                        const tenon::AttrMap& a) { return context.Execute(op, in, a); });
  });
}

tenon_status* tenon_handle_create(const tenon_tensor* tensor, tenon_handle** handle) {
  return Guard([&]() -> absl::Status {
    if (tensor == nullptr || handle == nullptr) return InvalidArgument("null argument");
    *handle = new tenon_handle{tenon::EagerHandle(tensor->tensor)};
    return absl::OkStatus();
  });
}
void tenon_handle_free(tenon_handle* handle) { delete handle; }
int tenon_handle_ready(const tenon_handle* handle) { return handle->handle.ready() ? 1 : 0; }
tenon_status* tenon_handle_read(const tenon_handle* handle, tenon_tensor** tensor) {
  return Guard([&]() -> absl::Status {
    if (handle == nullptr || tensor == nullptr) return InvalidArgument("null argument");
    TENON_ASSIGN_OR_RETURN(Tensor value, handle->handle.Read());
    *tensor = new tenon_tensor{std::move(value)};
    return absl::OkStatus();
  });
}

tenon_status* tenon_eager_submit(tenon_eager* eager, const char* op,
                                 const tenon_handle* const* inputs, int num_inputs,
                                 const tenon_attrs* attrs, tenon_handle** outputs,
                                 int* num_outputs) {
  return Guard([&] {
    return RunCall(eager, op, inputs, num_inputs, attrs, outputs, num_outputs,
                   &tenon_handle::handle,
                   [op](tenon::Eager& context, absl::Span<const tenon::EagerHandle> in,
                        const tenon::AttrMap& a) { return context.Submit(op, in, a); });
  });
}
