#include "kernels/lists/list_math.h"

#include <utility>

#include "env/status.h"
#include "kernels/interface/types.h"
#include "kernels/lists/tensor_list.h"

namespace tenon {
namespace {

using Item = std::shared_ptr<const Tensor>;

absl::StatusOr<ObjectPtr> AddLists(const ObjectPtr& a, const ObjectPtr& b);
absl::StatusOr<ObjectPtr> ZerosLikeList(const ObjectPtr& x);

}  // namespace

absl::StatusOr<Item> AddItems(const Item& a, const Item& b) {
  if (a == nullptr || b == nullptr) return a == nullptr ? b : a;
  if (a->shape() != b->shape()) {
    return InvalidArgument("lists whose tensors have shapes ", a->shape().ToString(), " and ",
                           b->shape().ToString(), " cannot be added");
  }
  TENON_ASSIGN_OR_RETURN(Tensor sum, Tensor::Allocate(a->dtype(), a->shape()));
  const int64_t n = a->num_elements();
  if (a->dtype() == DType::kVariant) {
    for (int64_t i = 0; i < n; ++i) {
      TENON_ASSIGN_OR_RETURN(sum.data<ObjectPtr>()[i],
                             AddLists(a->data<ObjectPtr>()[i], b->data<ObjectPtr>()[i]));
    }
    return std::make_shared<const Tensor>(std::move(sum));
  }
  const bool known = VisitTypes(Numbers{}, a->dtype(), [&]<typename T>() {
    const T* x = a->data<T>();
    const T* y = b->data<T>();
    T* out = sum.data<T>();
    for (int64_t i = 0; i < n; ++i) {
      out[i] = static_cast<T>(WrapAdd(ToCompute(x[i]), ToCompute(y[i])));
    }
  });
  if (!known) return InvalidArgument("lists of ", Name(a->dtype()), " cannot be added");
  return std::make_shared<const Tensor>(std::move(sum));
}

absl::StatusOr<Item> ZerosLikeItem(const Item& x) {
  if (x == nullptr) return x;
  TENON_ASSIGN_OR_RETURN(Tensor zeros, Tensor::Allocate(x->dtype(), x->shape()));
  if (x->dtype() == DType::kVariant) {
    for (int64_t i = 0; i < x->num_elements(); ++i) {
      TENON_ASSIGN_OR_RETURN(zeros.data<ObjectPtr>()[i], ZerosLikeList(x->data<ObjectPtr>()[i]));
    }
  } else {
    WriteItem(nullptr, x->dtype(), x->num_elements(), zeros.raw());
  }
  return std::make_shared<const Tensor>(std::move(zeros));
}

namespace {

absl::StatusOr<ObjectPtr> AddLists(const ObjectPtr& a, const ObjectPtr& b) {
  if (const auto* summand = dynamic_cast<const Summand*>(a.get())) return summand->Plus(b);
  TENON_ASSIGN_OR_RETURN(const TensorList* const x, ListAt(&a));
  TENON_ASSIGN_OR_RETURN(const TensorList* const y, ListAt(&b, x->dtype));
  if (x->items.size() != y->items.size()) {
    return InvalidArgument("lists of ", x->items.size(), " and ", y->items.size(),
                           " tensors cannot be added");
  }
  auto sum = std::make_shared<TensorList>();
  sum->dtype = x->dtype;
  TENON_ASSIGN_OR_RETURN(sum->element_shape, MergeShapes(x->element_shape, y->element_shape));
  if (x->common == y->common) sum->common = x->common;
  for (size_t i = 0; i < x->items.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(Item item, AddItems(x->items[i], y->items[i]));
    sum->items.push_back(std::move(item));
  }
  return ObjectPtr(std::move(sum));
}

absl::StatusOr<ObjectPtr> ZerosLikeList(const ObjectPtr& x) {
  if (const auto* summand = dynamic_cast<const Summand*>(x.get())) return summand->Zeros();
  TENON_ASSIGN_OR_RETURN(const TensorList* const list, ListAt(&x));
  auto zeros = std::make_shared<TensorList>();
  zeros->dtype = list->dtype;
  zeros->element_shape = list->element_shape;
  zeros->common = list->common;
  Item last;  // tensors in lists do not change, so those of one shape share their zeros
  for (const Item& item : list->items) {
    const bool same = item != nullptr && last != nullptr && list->dtype != DType::kVariant &&
                      item->shape() == last->shape();
    if (!same) {
      TENON_ASSIGN_OR_RETURN(last, ZerosLikeItem(item));
    }
    zeros->items.push_back(last);
  }
  return ObjectPtr(std::move(zeros));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> AddVariants(PrepareContext& p) {
  const int inputs = p.num_inputs();
  const int64_t n = p.output_shape(0).num_elements();
  return MakeKernel([inputs, n](RunContext& run) -> absl::Status {
    for (int64_t k = 0; k < n; ++k) {
      ObjectPtr sum = run.input<ObjectPtr>(0)[k];
      for (int i = 1; i < inputs; ++i) {
        TENON_ASSIGN_OR_RETURN(sum, AddLists(sum, run.input<ObjectPtr>(i)[k]));
      }
      run.output<ObjectPtr>(0)[k] = std::move(sum);
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> ZerosLikeVariants(PrepareContext& p) {
  const int64_t n = p.output_shape(0).num_elements();
  return MakeKernel([n](RunContext& run) -> absl::Status {
    for (int64_t k = 0; k < n; ++k) {
      TENON_ASSIGN_OR_RETURN(run.output<ObjectPtr>(0)[k],
                             ZerosLikeList(run.input<ObjectPtr>(0)[k]));
    }
    return absl::OkStatus();
  });
}

}  // namespace tenon
