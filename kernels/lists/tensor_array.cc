#include "kernels/lists/tensor_array.h"

#include <algorithm>
#include <utility>

#include "env/status.h"
#include "kernels/layout/copy.h"
#include "kernels/lists/list_math.h"

namespace tenon {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 28;

absl::Status CheckElements(int64_t n) {
  if (n >= 0 && n <= kMostElements) return absl::OkStatus();
  return InvalidArgument("a tensor array of ", n, " elements");
}

bool HasZeros(DType dtype) { return dtype != DType::kString && !HoldsObjects(dtype); }

}  // namespace

absl::Status TensorArray::CheckOpen() const {
  return closed_ ? InvalidArgument("the tensor array is closed") : absl::OkStatus();
}

absl::Status TensorArray::ReachLocked(int64_t size) {
  TENON_RETURN_IF_ERROR(CheckOpen());
  if (!form_.dynamic || size <= std::ssize(slots_)) return absl::OkStatus();
  TENON_RETURN_IF_ERROR(CheckElements(size));
  slots_.resize(static_cast<size_t>(size));
  return absl::OkStatus();
}

absl::Status TensorArray::Reach(int64_t size) {
  MutexLock lock(&mutex_);
  return ReachLocked(size);
}

absl::Status TensorArray::Write(int64_t index, const Item& item) {
  MutexLock lock(&mutex_);
  TENON_RETURN_IF_ERROR(CheckOpen());
  if (index >= 0) TENON_RETURN_IF_ERROR(ReachLocked(index + 1));
  if (index < 0 || index >= std::ssize(slots_)) {
    return InvalidArgument("index ", index, " of a tensor array of ", slots_.size(), " elements");
  }
  Slot& slot = slots_[static_cast<size_t>(index)];
  if (item->dtype() != form_.dtype) {
    return InvalidArgument("a tensor array of ", Name(form_.dtype), " takes no ",
                           Name(item->dtype()));
  }
  if (!form_.element.CompatibleWith(item->shape())) {
    return InvalidArgument("an element of shape ", item->shape().ToString(),
                           " for a tensor array whose elements have shape ",
                           form_.element.ToString());
  }
  if (form_.identical) form_.element = item->shape();
  if (slot.read) return InvalidArgument("element ", index, " was read before it is written");
  if (!slot.written) {
    slot = {item, item->shape(), true, false, false};
    items_->Note(item->shape());
    return absl::OkStatus();
  }
  if (!form_.gradient) return InvalidArgument("element ", index, " was written before");
  if (slot.shape != item->shape()) {
    return InvalidArgument("element ", index, " has shape ", slot.shape.ToString(),
                           "; one of shape ", item->shape().ToString(), " cannot be added to it");
  }
  if (slot.item == nullptr) {
    slot.item = item;
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(slot.item, AddItems(slot.item, item));
  return absl::OkStatus();
}

absl::StatusOr<TensorArray::Item> TensorArray::Read(int64_t index, DType dtype) {
  MutexLock lock(&mutex_);
  TENON_RETURN_IF_ERROR(CheckOpen());
  if (dtype != form_.dtype) {
    return InvalidArgument("a tensor array of ", Name(form_.dtype), " has no ", Name(dtype));
  }
  if (index < 0 || index >= std::ssize(slots_)) {
    return InvalidArgument("index ", index, " of a tensor array of ", slots_.size(), " elements");
  }
  Slot& slot = slots_[static_cast<size_t>(index)];
  if (slot.cleared) {
    return InvalidArgument("element ", index, " was read before, which cleared it");
  }
  if (!slot.written && !form_.element.IsComplete()) {
    return InvalidArgument("element ", index, " was not written, and nothing tells its shape");
  }
  Item item = slot.item;
  if (item == nullptr) {
    if (!HasZeros(form_.dtype)) {
      return InvalidArgument("element ", index, " was not written, and there are no zeros of ",
                             Name(form_.dtype));
    }
    const Shape& shape = slot.written ? slot.shape : form_.element;
    TENON_ASSIGN_OR_RETURN(Tensor zeros, Tensor::Allocate(form_.dtype, shape));
    WriteItem(nullptr, form_.dtype, zeros.num_elements(), zeros.raw());
    item = std::make_shared<const Tensor>(std::move(zeros));
    slot.item = item;
    slot.shape = item->shape();
    slot.written = true;
    items_->Note(item->shape());
  }
  slot.read = true;
  if (form_.clear) {
    slot.item = nullptr;
    slot.cleared = true;
  }
  return item;
}

void TensorArray::Mark(int64_t size) {
  MutexLock lock(&mutex_);
  marked_ = size;
}

absl::StatusOr<int64_t> TensorArray::MarkedSize() {
  MutexLock lock(&mutex_);
  TENON_RETURN_IF_ERROR(CheckOpen());
  return form_.gradient && marked_ > 0 ? marked_ : std::ssize(slots_);
}

absl::StatusOr<int64_t> TensorArray::size() {
  MutexLock lock(&mutex_);
  TENON_RETURN_IF_ERROR(CheckOpen());
  return std::ssize(slots_);
}

absl::StatusOr<Shape> TensorArray::Element(const Shape& stated) {
  MutexLock lock(&mutex_);
  TENON_ASSIGN_OR_RETURN(form_.element, MergeShapes(form_.element, stated));
  return form_.element;
}

absl::StatusOr<std::shared_ptr<TensorArray>> TensorArray::Gradient(const std::string& source,
                                                                   const Shape& outer) {
  MutexLock lock(&mutex_);
  if (form_.gradient) return InvalidArgument("an array of gradients has no gradients");
  TENON_RETURN_IF_ERROR(CheckOpen());
  form_.dynamic = false;
  std::shared_ptr<TensorArray>& gradient = gradients_[source];
  if (gradient != nullptr) return gradient;
  const auto within = [&](const Shape& element) {
    Shape shape = outer;
    for (const int64_t d : element.dims()) shape.push_back(d);
    return shape;
  };
  Form form = form_;
  form.dynamic = false;
  form.clear = true;
  form.gradient = true;
  if (form.element.has_rank()) form.element = within(form.element);
  auto made = std::make_shared<TensorArray>(std::move(form), std::ssize(slots_));
  MutexLock lock_made(&made->mutex_);
  if (outer.rank() == 0) made->items_ = items_;
  made->marked_ = marked_;
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (!slots_[i].written) continue;
    made->slots_[i].shape = within(slots_[i].shape);
    TENON_RETURN_IF_ERROR(made->slots_[i].shape.CheckedElements().status());
    made->items_->Note(made->slots_[i].shape);
    made->slots_[i].written = true;
  }
  gradient = std::move(made);
  return gradient;
}

void TensorArray::Close() {
  MutexLock lock(&mutex_);
  slots_.clear();
  closed_ = true;
}

void TensorArray::Items::Note(const Shape& item) {
  MutexLock lock(&mutex);
  if (!any) common = item;
  if (common != item) common = Shape::Unknown();
  any = true;
}

Shape TensorArray::CommonShape() const {
  MutexLock lock(&items_->mutex);
  return items_->common;
}

bool TensorArray::empty() const {
  MutexLock lock(&items_->mutex);
  return !items_->any;
}

namespace {

absl::StatusOr<TensorArray*> ArrayAt(const RunContext& run) {
  const ObjectPtr* handle = run.input<ObjectPtr>(0);
  auto* array = handle == nullptr ? nullptr : dynamic_cast<TensorArray*>(handle->get());
  if (array == nullptr) return InvalidArgument("expected the handle of a tensor array");
  return array;
}

// Passes the flow on; only the order of ops depends on it.
void PassFlow(const RunContext& run, int from, int to) {
  if (run.output(to) != run.input(from)) *run.output<float>(to) = *run.input<float>(from);
}

Shape WithoutFirst(const Shape& shape) {
  return shape.rank() == 0 ? shape : Shape(shape.dims().subspan(1));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> NewArrayKernel(PrepareContext& p) {
  TensorArray::Form form;
  TENON_ASSIGN_OR_RETURN(form.dtype, p.attrs().Type("dtype"));
  TENON_ASSIGN_OR_RETURN(form.element, p.attrs().ShapeOf("element_shape"));
  form.identical = p.attrs().Bool("identical_element_shapes", false);
  form.dynamic = p.attrs().Bool("dynamic_size", false);
  form.clear = p.attrs().Bool("clear_after_read", true);
  return MakeKernel([form](RunContext& run) -> absl::Status {
    const int64_t size = *run.input<int32_t>(0);
    TENON_RETURN_IF_ERROR(CheckElements(size));
    *run.output<ObjectPtr>(0) = std::make_shared<TensorArray>(form, size);
    *run.output<float>(1) = 0;
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> ArrayGradientKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(std::string source, p.attrs().String("source"));
  const int64_t outer = p.num_inputs() > 2 ? p.input_shape(2).num_elements() : 0;
  p.AllowInPlace(1, 1);
  return MakeKernel([source, outer](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(TensorArray* const array, ArrayAt(run));
    Shape shape;
    for (int64_t i = 0; i < outer; ++i) {
      const int64_t d = run.input<int32_t>(2)[i];
      if (d < 0) return InvalidArgument("a shape with a dimension of ", d);
      shape.push_back(d);
    }
    TENON_ASSIGN_OR_RETURN(auto gradient, array->Gradient(source, shape));
    *run.output<ObjectPtr>(0) = std::move(gradient);
    PassFlow(run, 1, 1);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> ArrayWriteKernel(PrepareContext& p) {
  p.AllowInPlace(3, 0);
  return MakeKernel([item = InputSpec(p, 2)](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(TensorArray* const array, ArrayAt(run));
    TENON_ASSIGN_OR_RETURN(const auto kept, Keep(item.dtype, item.shape, run.input(2)));
    TENON_RETURN_IF_ERROR(array->Write(*run.input<int32_t>(1), kept));
    PassFlow(run, 3, 0);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> ArrayReadKernel(PrepareContext& p) {
  return MakeKernel(
      [dtype = p.output_dtype(0), planned = p.output_shape(0)](RunContext& run) -> absl::Status {
        TENON_ASSIGN_OR_RETURN(TensorArray* const array, ArrayAt(run));
        TENON_ASSIGN_OR_RETURN(const auto item, array->Read(*run.input<int32_t>(1), dtype));
        TENON_ASSIGN_OR_RETURN(void* out, OutputOfShape(run, 0, planned, item->shape()));
        WriteItem(item, dtype, item->num_elements(), out);
        return absl::OkStatus();
      });
}

absl::StatusOr<std::unique_ptr<Kernel>> ArrayGatherKernel(PrepareContext& p) {
  const int64_t count = p.input_shape(1).num_elements();
  TENON_ASSIGN_OR_RETURN(const Shape stated, p.attrs().ShapeOf("element_shape"));
  return MakeKernel([=, dtype = p.output_dtype(0),
                     planned = p.output_shape(0)](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(TensorArray* const array, ArrayAt(run));
    TENON_ASSIGN_OR_RETURN(Shape element, array->Element(stated));
    if (count == 0 && !element.IsComplete()) {
      return Unimplemented("no element of unknown shape: ", element.ToString());
    }
    std::vector<TensorArray::Item> items;
    for (int64_t i = 0; i < count; ++i) {
      TENON_ASSIGN_OR_RETURN(auto item, array->Read(run.input<int32_t>(1)[i], dtype));
      if (!element.CompatibleWith(item->shape()) || (i > 0 && item->shape() != items[0]->shape())) {
        return InvalidArgument("element ", run.input<int32_t>(1)[i], " has shape ",
                               item->shape().ToString(), ", not ",
                               (i > 0 ? items[0]->shape() : element).ToString());
      }
      items.push_back(std::move(item));
    }
    if (count > 0) element = items[0]->shape();
    Shape shape({count});
    for (const int64_t d : element.dims()) shape.push_back(d);
    TENON_RETURN_IF_ERROR(shape.CheckedElements().status());
    TENON_ASSIGN_OR_RETURN(void* out, OutputOfShape(run, 0, planned, shape));
    const int64_t n = element.num_elements();
    for (int64_t i = 0; i < count; ++i) {
      WriteItem(items[static_cast<size_t>(i)], dtype, n, ElementAddress(out, dtype, i * n));
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> ArrayScatterKernel(PrepareContext& p) {
  const TensorSpec value = InputSpec(p, 2);
  const int64_t count = p.input_shape(1).num_elements();
  if (value.shape.rank() < 1) return InvalidArgument("the value must be at least a vector");
  if (value.shape.dim(0) != count) {
    return InvalidArgument(count, " indices for ", value.shape.dim(0), " rows");
  }
  p.AllowInPlace(3, 0);
  return MakeKernel([value, count](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(TensorArray* const array, ArrayAt(run));
    const int32_t* indices = run.input<int32_t>(1);
    for (int64_t i = 0; i < count; ++i) {
      TENON_RETURN_IF_ERROR(array->Reach(int64_t{indices[i]} + 1));
    }
    TENON_ASSIGN_OR_RETURN(const auto kept, Keep(value.dtype, value.shape, run.input(2)));
    for (int64_t i = 0; i < count; ++i) {
      TENON_RETURN_IF_ERROR(array->Write(indices[i], RowsOf(kept, i, 1, /*single=*/true)));
    }
    PassFlow(run, 3, 0);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> ArrayConcatKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Shape stated, p.attrs().ShapeOf("element_shape_except0"));
  return MakeKernel([stated, dtype = p.output_dtype(0)](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(TensorArray* const array, ArrayAt(run));
    TENON_ASSIGN_OR_RETURN(const int64_t count, array->MarkedSize());
    if (count == 0 && !stated.IsComplete()) {
      return Unimplemented("no element of unknown shape: ", stated.ToString());
    }
    Shape rest = stated;
    std::vector<TensorArray::Item> items;
    int64_t rows = 0;
    for (int64_t i = 0; i < count; ++i) {
      TENON_ASSIGN_OR_RETURN(auto item, array->Read(i, dtype));
      if (item->shape().rank() < 1) {
        return InvalidArgument("element ", i, " is a scalar; only vectors and more can be joined");
      }
      const Shape shape = WithoutFirst(item->shape());
      if (i == 0 ? !rest.CompatibleWith(shape) : rest != shape) {
        return InvalidArgument("element ", i, " has shape ", item->shape().ToString(),
                               ", which without its first dimension is not ", rest.ToString());
      }
      rest = shape;
      if (__builtin_add_overflow(rows, item->shape().dim(0), &rows)) {
        return InvalidArgument("too many rows");
      }
      items.push_back(std::move(item));
    }
    Shape shape({rows});
    for (const int64_t d : rest.dims()) shape.push_back(d);
    TENON_RETURN_IF_ERROR(shape.CheckedElements().status());
    TENON_ASSIGN_OR_RETURN(void* out, run.AllocateOutput(0, shape));
    TENON_ASSIGN_OR_RETURN(void* lengths, run.AllocateOutput(1, Shape({count})));
    int64_t begin = 0;
    for (size_t i = 0; i < items.size(); ++i) {
      WriteItem(items[i], dtype, items[i]->num_elements(), ElementAddress(out, dtype, begin));
      begin += items[i]->num_elements();
      static_cast<int64_t*>(lengths)[i] = items[i]->shape().dim(0);
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> ArraySplitKernel(PrepareContext& p) {
  const TensorSpec value = InputSpec(p, 1);
  const int64_t pieces = p.input_shape(2).num_elements();
  if (value.shape.rank() < 1) return InvalidArgument("the value must be at least a vector");
  p.AllowInPlace(3, 0);
  return MakeKernel([value, pieces](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(TensorArray* const array, ArrayAt(run));
    const int64_t* lengths = run.input<int64_t>(2);
    int64_t rows = 0;
    for (int64_t i = 0; i < pieces; ++i) {
      if (lengths[i] < 0 || lengths[i] > value.shape.dim(0) - rows) {
        return InvalidArgument("lengths[", i, "] = ", lengths[i], " of ", value.shape.dim(0),
                               " rows, ", rows, " of which are taken");
      }
      rows += lengths[i];
    }
    if (rows != value.shape.dim(0)) {
      return InvalidArgument("the lengths add up to ", rows, ", but there are ", value.shape.dim(0),
                             " rows");
    }
    TENON_RETURN_IF_ERROR(array->Reach(pieces));
    TENON_ASSIGN_OR_RETURN(const int64_t size, array->size());
    if (size != pieces) {
      return InvalidArgument(pieces, " lengths for a tensor array of ", size, " elements");
    }
    TENON_ASSIGN_OR_RETURN(const auto kept, Keep(value.dtype, value.shape, run.input(1)));
    array->Mark(size);
    int64_t begin = 0;
    for (int64_t i = 0; i < pieces; ++i) {
      TENON_RETURN_IF_ERROR(array->Write(i, RowsOf(kept, begin, lengths[i], /*single=*/false)));
      begin += lengths[i];
    }
    PassFlow(run, 3, 0);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> ArraySizeKernel(PrepareContext&) {
  return MakeKernel([](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(TensorArray* const array, ArrayAt(run));
    TENON_ASSIGN_OR_RETURN(const int64_t size, array->size());
    *run.output<int32_t>(0) = static_cast<int32_t>(size);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> ArrayCloseKernel(PrepareContext&) {
  return MakeKernel([](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(TensorArray* const array, ArrayAt(run));
    array->Close();
    return absl::OkStatus();
  });
}

}  // namespace tenon
