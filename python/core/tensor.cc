#include "python/core/tensor.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string_view.h>

#include <cstdint>
#include <string>

#include "python/core/status.h"

namespace nb = nanobind;

namespace tenon::python {
namespace {

// May run on any thread, when a variable or a pending call drops the memory.
void ReleaseBuffer(void* argument) {
  if (!Py_IsInitialized()) return;
  const PyGILState_STATE state = PyGILState_Ensure();
  Py_buffer* const buffer = static_cast<Py_buffer*>(argument);
  PyBuffer_Release(buffer);
  delete buffer;
  PyGILState_Release(state);
}

int GetBuffer(PyObject* self, Py_buffer* view, int flags) {
  Tensor* const tensor = nb::inst_ptr<Tensor>(self);
  if (tensor->dtype().size == 0) {
    PyErr_SetString(PyExc_BufferError, "a tensor of strings has no buffer");
    return -1;
  }
  if (!tensor->dtype().in_buffers && (flags & PyBUF_FORMAT) != 0) {
    PyErr_Format(PyExc_BufferError, "the buffer protocol has no %s", tensor->dtype().name);
    return -1;
  }
  if (tensor->read_only() && (flags & PyBUF_WRITABLE) != 0) {
    PyErr_SetString(PyExc_BufferError, "this tensor is a view of read-only memory");
    return -1;
  }
  static char nothing;
  view->buf = tensor->data() == nullptr ? &nothing : tensor->data();
  view->len = static_cast<Py_ssize_t>(tenon_tensor_bytes(tensor->get()));
  view->itemsize = static_cast<Py_ssize_t>(tensor->dtype().size);
  view->readonly = tensor->read_only() ? 1 : 0;
  view->format = (flags & PyBUF_FORMAT) ? const_cast<char*>(tensor->dtype().format) : nullptr;
  view->ndim = tensor->rank();
  static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
  view->shape = (flags & PyBUF_ND)
                    ? reinterpret_cast<Py_ssize_t*>(const_cast<int64_t*>(tensor->dims()))
                    : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? tensor->strides() : nullptr;
  view->suboffsets = nullptr;
  view->internal = nullptr;
  view->obj = self;
  Py_INCREF(self);
  return 0;
}

PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(GetBuffer)}, {0, nullptr}};

using Exported = nb::ndarray<nb::device::cpu>;

nb::dlpack::dtype DlpackDType(const DTypeInfo& dtype) {
  using Code = nb::dlpack::dtype_code;
  Code code = Code::Int;
  if (dtype.kind == 'f') code = Code::Float;
  if (dtype.kind == 'u') code = dtype.dtype == TENON_BFLOAT16 ? Code::Bfloat : Code::UInt;
  if (dtype.kind == 'b') code = Code::Bool;
  if (dtype.kind == 'c') code = Code::Complex;
  return {static_cast<uint8_t>(code), static_cast<uint8_t>(dtype.size * 8), 1};
}

const DTypeInfo* FromDlpack(nb::dlpack::dtype dtype) {
  if (dtype.lanes != 1) return nullptr;
  for (const char* name :
       {"float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8",
        "uint16", "uint32", "uint64", "bool", "complex64", "complex128"}) {
    const DTypeInfo* const info = FindDType(name);
    if (DlpackDType(*info) == dtype) return info;
  }
  return nullptr;
}

// A capsule; it keeps `self`.
nb::object ToDlpack(nb::handle self, nb::kwargs options) {
  Tensor& tensor = *nb::inst_ptr<Tensor>(self);
  if (tensor.dtype().size == 0) throw nb::buffer_error("DLPack has no strings");
  if (tensor.dtype().size == 1 && !tensor.dtype().in_buffers) {
    throw nb::buffer_error("DLPack has no elements of 4 bits, or of 8 bits with an exponent");
  }
  if (options.contains("copy") && PyObject_IsTrue(nb::object(options["copy"]).ptr()) == 1) {
    return nb::object(self.attr("numpy")().attr("copy")()).attr("__dlpack__")();
  }
  const std::vector<size_t> shape(tensor.dims(), tensor.dims() + tensor.rank());
  return nb::cast(Exported(tensor.data(), shape.size(), shape.data(), self, nullptr,
                           DlpackDType(tensor.dtype())));
}

Tensor MakeFromDlpack(nb::handle object) {
  using Imported = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
  Imported array;
  if (!nb::try_cast(object, array, /*convert=*/false)) {
    const std::string type = nb::type_name(object.type()).c_str();
    throw nb::type_error(
        ("a " + type + " cannot be viewed by DLPack as a C-contiguous tensor on the CPU").c_str());
  }
  const DTypeInfo* const dtype = FromDlpack(array.dtype());
  if (dtype == nullptr) throw nb::type_error("DLPack: a dtype that no tensor has");
  std::vector<int64_t> dims;
  for (size_t i = 0; i < array.ndim(); ++i) dims.push_back(static_cast<int64_t>(array.shape(i)));
  auto* const keep = new Imported(array);
  const auto release = [](void* argument) {
    if (!Py_IsInitialized()) return;
    const PyGILState_STATE state = PyGILState_Ensure();
    delete static_cast<Imported*>(argument);
    PyGILState_Release(state);
  };
  tenon_tensor* tensor = nullptr;
  tenon_status* const status =
      tenon_tensor_view(dtype->dtype, dims.data(), static_cast<int>(dims.size()),
                        const_cast<void*>(static_cast<const void*>(array.data())), array.nbytes(),
                        release, keep, &tensor);
  if (status != nullptr) delete keep;
  Check(status);
  return Tensor(OwnedTensor(tensor), /*read_only=*/true);
}

Tensor MakeFromStrings(nb::list strings, const std::vector<int64_t>& dims) {
  tenon_tensor* made = nullptr;
  Check(tenon_tensor_create(TENON_STRING, dims.data(), static_cast<int>(dims.size()), &made));
  OwnedTensor tensor(made);
  if (static_cast<int64_t>(strings.size()) != tenon_tensor_num_elements(made)) {
    throw nb::value_error("as many strings as the shape has elements are needed");
  }
  int64_t i = 0;
  for (nb::handle item : strings) {
    const char* data = nullptr;
    Py_ssize_t size = 0;
    if (PyBytes_Check(item.ptr())) {
      if (PyBytes_AsStringAndSize(item.ptr(), const_cast<char**>(&data), &size) != 0) {
        nb::raise_python_error();
      }
    } else if (PyUnicode_Check(item.ptr())) {
      data = PyUnicode_AsUTF8AndSize(item.ptr(), &size);
      if (data == nullptr) nb::raise_python_error();
    } else {
      const std::string type = nb::type_name(item.type()).c_str();
      throw nb::type_error(("a string tensor needs str or bytes, not " + type).c_str());
    }
    Check(tenon_tensor_set_string(made, i++, data, static_cast<size_t>(size)));
  }
  return Tensor(std::move(tensor), /*read_only=*/false);
}

nb::list ToList(const tenon_tensor* tensor) {
  nb::list strings;
  for (int64_t i = 0; i < tenon_tensor_num_elements(tensor); ++i) {
    const char* data = nullptr;
    size_t size = 0;
    Check(tenon_tensor_get_string(tensor, i, &data, &size));
    strings.append(nb::bytes(data, size));
  }
  return strings;
}

// Objects of NumPy, found once and kept for the life of the process.
struct Numpy {
  nb::object ndarray = nb::module_::import_("numpy").attr("ndarray");
  nb::object helpers = nb::module_::import_("tenon._numpy");
  nb::object dtypes[64];  // by tenon_dtype

  static Numpy& Get() {
    static Numpy* const numpy = new Numpy;
    return *numpy;
  }
  PyObject* DType(const DTypeInfo& info) {
    nb::object& dtype = dtypes[info.dtype];
    if (!dtype.is_valid()) dtype = helpers.attr("dtype_of")(info.name);
    return dtype.ptr();
  }
};

nb::object ArrayOf(nb::handle tensor_object) {
  const Tensor& tensor = *nb::inst_ptr<Tensor>(tensor_object);
  Numpy& numpy = Numpy::Get();
  const nb::tuple shape = ShapeTuple(tensor.get());
  if (tensor.dtype().size == 0) {
    return numpy.helpers.attr("string_array")(ToList(tensor.get()), shape);
  }
  PyObject* const arguments[] = {shape.ptr(), numpy.DType(tensor.dtype()), tensor_object.ptr()};
  PyObject* const array = PyObject_Vectorcall(numpy.ndarray.ptr(), arguments, 3, nullptr);
  if (array == nullptr) nb::raise_python_error();
  return nb::steal(array);
}

}  // namespace

const DTypeInfo& Tensor::dtype() const {
  const DTypeInfo* const info = FindDType(tenon_tensor_dtype(get()));
  if (info == nullptr) throw nb::type_error("a tensor of a dtype that Python has no use for");
  return *info;
}

Py_ssize_t* Tensor::strides() {
  if (strides_.empty()) {
    strides_.resize(static_cast<size_t>(rank()) + 1);  // never empty
    Py_ssize_t stride = static_cast<Py_ssize_t>(dtype().size);
    for (int i = rank() - 1; i >= 0; --i) {
      strides_[static_cast<size_t>(i)] = stride;
      stride *= dims()[i];
    }
  }
  return strides_.data();
}

OwnedTensor ViewBuffer(nb::handle object, const DTypeInfo* expected, bool& read_only) {
  if (!PyObject_CheckBuffer(object.ptr())) return nullptr;
  auto buffer = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(object.ptr(), buffer.get(), PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    return nullptr;
  }
  const DTypeInfo* const given = DTypeOfBuffer(*buffer);
  tenon_tensor* tensor = nullptr;
  tenon_status* status = nullptr;
  if (given != nullptr && (expected == nullptr || ReadsAs(*given, *expected))) {
    const DTypeInfo& dtype = expected == nullptr ? *given : *expected;
    read_only = buffer->readonly != 0;
    status = tenon_tensor_view(dtype.dtype, reinterpret_cast<const int64_t*>(buffer->shape),
                               buffer->ndim, buffer->buf, static_cast<size_t>(buffer->len),
                               ReleaseBuffer, buffer.get(), &tensor);
  }
  if (tensor == nullptr) {
    PyBuffer_Release(buffer.get());
  } else {
    buffer.release();  // ReleaseBuffer frees it
  }
  Check(status);
  return OwnedTensor(tensor);
}

nb::tuple ShapeTuple(const tenon_tensor* tensor) {
  const int rank = tenon_tensor_rank(tensor);
  const int64_t* const dims = tenon_tensor_dims(tensor);
  nb::object shape = nb::steal(PyTuple_New(rank));
  for (int i = 0; i < rank; ++i) PyTuple_SetItem(shape.ptr(), i, PyLong_FromLongLong(dims[i]));
  return nb::borrow<nb::tuple>(shape);
}

nb::object ToNumpy(OwnedTensor tensor) {
  return ArrayOf(nb::cast(Tensor(std::move(tensor), /*read_only=*/false)));
}

void AddTensor(nb::module_& module) {
  nb::class_<Tensor>(module, "Tensor", nb::type_slots(slots),
                     "A tensor. Other libraries read it without a copy: by the buffer protocol "
                     "(NumPy, memoryview),\n"
                     "by DLPack (torch, jax), or by `numpy()`.")
      .def_static(
          "from_buffer",
          [](nb::handle object, std::string_view dtype) {
            const DTypeInfo* const expected = dtype.empty() ? nullptr : FindDType(dtype);
            bool read_only = false;
            OwnedTensor tensor = ViewBuffer(object, expected, read_only);
            if (tensor == nullptr) {
              throw nb::type_error("not a C-contiguous buffer of elements of this dtype");
            }
            return Tensor(std::move(tensor), read_only);
          },
          nb::arg("object"), nb::arg("dtype") = "",
          "A view of a C-contiguous buffer: an array, a memoryview. `dtype` reads the elements as\n"
          "another dtype of their size: uint16 as bfloat16. TypeError if it does not fit.")
      .def_static(
          "from_dlpack", MakeFromDlpack, nb::arg("object"),
          "A view of a C-contiguous tensor of another library. TypeError if it is not on the CPU.")
      .def_static(
          "from_strings",
          [](nb::list strings, nb::tuple shape) {
            std::vector<int64_t> dims;
            for (nb::handle dim : shape) dims.push_back(nb::cast<int64_t>(dim));
            return MakeFromStrings(strings, dims);
          },
          nb::arg("strings"), nb::arg("shape"),
          "A string tensor from a list of str or bytes in row-major order, copied.")
      .def_prop_ro(
          "dtype", [](const Tensor& tensor) { return tensor.dtype().name; },
          "TensorFlow's name of the dtype: \"float32\", \"string\", \"bfloat16\".")
      .def_prop_ro(
          "shape", [](const Tensor& tensor) { return ShapeTuple(tensor.get()); },
          "The dimensions, a tuple.")
      .def(
          "numpy", [](nb::handle self) { return ArrayOf(self); },
          "A NumPy array that shares the memory; strings are copied, as bytes objects.")
      .def(
          "__array__",
          [](nb::handle self, nb::object dtype, nb::object copy) {
            const nb::object array = ArrayOf(self);
            return nb::module_::import_("tenon._numpy").attr("as_asked")(array, dtype, copy);
          },
          nb::arg("dtype").none() = nb::none(), nb::arg("copy").none() = nb::none())
      .def("__repr__",
           [](nb::handle self) {
             return nb::module_::import_("tenon._numpy").attr("tensor_repr")(self);
           })
      .def("__len__",
           [](const Tensor& tensor) {
             if (tensor.rank() == 0) throw nb::type_error("a scalar has no length");
             return tensor.dims()[0];
           })
      .def("__dlpack__", ToDlpack)
      .def("__dlpack_device__", [](nb::handle) { return nb::make_tuple(1, 0); });
}

}  // namespace tenon::python
