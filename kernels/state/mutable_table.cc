#include "kernels/state/mutable_table.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "env/containers.h"
#include "env/mutex.h"
#include "env/status.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

// Values are only copied, so V stands for all dtypes of its size. Key i and its value lie at place
// i of their arrays; `place_` finds them by key.
template <typename K, typename V>
class TableOf final : public MutableTable {
 public:
  TableOf(DType key_dtype, DType value_dtype, const Shape& value_shape)
      : key_dtype_(key_dtype),
        value_dtype_(value_dtype),
        value_shape_(value_shape),
        width_(value_shape.num_elements()) {}

  DType key_dtype() const override { return key_dtype_; }
  DType value_dtype() const override { return value_dtype_; }
  const Shape& value_shape() const override { return value_shape_; }
  int64_t size() const override {
    MutexLock lock(&mutex_);
    return std::ssize(keys_);
  }

  void Find(const void* keys, int64_t n, const void* defaults, bool default_for_each,
            void* values) const override {
    const K* const k = static_cast<const K*>(keys);
    const V* const d = static_cast<const V*>(defaults);
    V* const v = static_cast<V*>(values);
    MutexLock lock(&mutex_);
    for (int64_t i = 0; i < n; ++i) {
      const auto it = place_.find(k[i]);
      CopyValue(it == place_.end() ? d + (default_for_each ? i * width_ : 0) : At(it->second),
                v + i * width_);
    }
  }
  void Insert(const void* keys, const void* values, int64_t n) override {
    MutexLock lock(&mutex_);
    Add(static_cast<const K*>(keys), static_cast<const V*>(values), n);
  }
  void Import(const void* keys, const void* values, int64_t n) override {
    MutexLock lock(&mutex_);
    place_.clear();
    keys_.clear();
    values_.clear();
    Add(static_cast<const K*>(keys), static_cast<const V*>(values), n);
  }
  void Remove(const void* keys, int64_t n) override {
    const K* const k = static_cast<const K*>(keys);
    MutexLock lock(&mutex_);
    for (int64_t i = 0; i < n; ++i) {
      const auto it = place_.find(k[i]);
      if (it == place_.end()) continue;
      // The last entry takes its place.
      const int64_t at = it->second, last = std::ssize(keys_) - 1;
      place_.erase(it);
      if (at != last) {
        keys_[static_cast<size_t>(at)] = std::move(keys_.back());
        CopyValue(At(last), At(at));
        place_[keys_[static_cast<size_t>(at)]] = at;
      }
      keys_.pop_back();
      values_.resize(static_cast<size_t>(last * width_));
    }
  }
  absl::Status Export(absl::FunctionRef<absl::StatusOr<Arrays>(int64_t)> allocate) const override {
    MutexLock lock(&mutex_);
    TENON_ASSIGN_OR_RETURN(const Arrays to, allocate(std::ssize(keys_)));
    std::copy(keys_.begin(), keys_.end(), static_cast<K*>(to.keys));
    std::copy(values_.begin(), values_.end(), static_cast<V*>(to.values));
    return absl::OkStatus();
  }

 private:
  const V* At(int64_t place) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return values_.data() + place * width_;
  }
  V* At(int64_t place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return values_.data() + place * width_;
  }
  void CopyValue(const V* from, V* to) const {
    if (width_ == 1) {
      *to = *from;
    } else {
      std::copy_n(from, width_, to);
    }
  }
  void Add(const K* keys, const V* values, int64_t n) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (int64_t i = 0; i < n; ++i, values += width_) {
      const auto [it, fresh] = place_.emplace(keys[i], std::ssize(keys_));
      if (fresh) {
        keys_.push_back(keys[i]);
        values_.insert(values_.end(), values, values + width_);
      } else {
        CopyValue(values, At(it->second));
      }
    }
  }

  const DType key_dtype_, value_dtype_;
  const Shape value_shape_;
  const int64_t width_;  // elements of a value
  mutable Mutex mutex_;
  std::vector<K> keys_ ABSL_GUARDED_BY(mutex_);
  std::vector<V> values_ ABSL_GUARDED_BY(mutex_);
  HashMap<K, int64_t> place_ ABSL_GUARDED_BY(mutex_);
};

// The table behind input 0.
absl::StatusOr<MutableTable*> TableAt(RunContext& run) {
  const ObjectPtr* handle = run.input<ObjectPtr>(0);
  auto* table = handle == nullptr ? nullptr : dynamic_cast<MutableTable*>(handle->get());
  if (table == nullptr) return InvalidArgument("expected the handle of a table that can change");
  return table;
}

absl::Status CheckDTypes(const MutableTable& table, DType keys, DType values) {
  if (table.key_dtype() == keys && table.value_dtype() == values) return absl::OkStatus();
  return InvalidArgument("the table maps ", Name(table.key_dtype()), " to ",
                         Name(table.value_dtype()), ", not ", Name(keys), " to ", Name(values));
}

absl::Status CheckValueShape(const MutableTable& table, const Shape& shape) {
  if (table.value_shape() == shape) return absl::OkStatus();
  return InvalidArgument("the table's values have shape ", table.value_shape().ToString(), ", not ",
                         shape.ToString());
}

// Of the table that the node reads.
Shape ValueShapeOf(const PrepareContext& p) {
  const Shape* shape = p.node().attr<Shape>(kValueShapeAttr);
  return shape == nullptr ? Shape() : *shape;
}

// Insert or Import: `change` with keys and values of the same number.
using Change = void (MutableTable::*)(const void* keys, const void* values, int64_t n);

absl::StatusOr<std::unique_ptr<Kernel>> ChangeKernel(PrepareContext& p, Change change) {
  const Shape &keys_shape = p.input_shape(1), &values_shape = p.input_shape(2);
  const absl::Span<const int64_t> dims = values_shape.dims();
  const size_t rank = keys_shape.dims().size();
  if (dims.size() < rank || dims.first(rank) != keys_shape.dims()) {
    return InvalidArgument("the keys have shape ", keys_shape.ToString(), ", the values ",
                           values_shape.ToString());
  }
  return MakeKernel([n = keys_shape.num_elements(), value_shape = Shape(dims.subspan(rank)), change,
                     keys = p.input_dtype(1), values = p.input_dtype(2)](RunContext& run) {
    TENON_ASSIGN_OR_RETURN(MutableTable * table, TableAt(run));
    TENON_RETURN_IF_ERROR(CheckDTypes(*table, keys, values));
    TENON_RETURN_IF_ERROR(CheckValueShape(*table, value_shape));
    (table->*change)(run.input(1), run.input(2), n);
    return absl::OkStatus();
  });
}

}  // namespace

absl::StatusOr<std::shared_ptr<MutableTable>> MakeMutableTable(DType key_dtype, DType value_dtype,
                                                               const Shape& value_shape) {
  TENON_RETURN_IF_ERROR(value_shape.CheckedElements().status());
  std::shared_ptr<MutableTable> table;
  if (value_dtype == DType::kString || SizeOf(value_dtype) != 0) {
    VisitTypes(TypeList<std::string, int32_t, int64_t>{}, key_dtype, [&]<typename K>() {
      VisitStorage(value_dtype, [&]<typename V>() {
        table = std::make_shared<TableOf<K, V>>(key_dtype, value_dtype, value_shape);
      });
    });
  }
  if (table == nullptr) {
    return Unimplemented("tables from ", Name(key_dtype), " to ", Name(value_dtype));
  }
  return table;
}

absl::StatusOr<std::unique_ptr<Kernel>> MutableTableFindKernel(PrepareContext& p) {
  const int64_t n = p.input_shape(1).num_elements();
  const Shape value_shape = ValueShapeOf(p);
  const Shape& defaults = p.input_shape(2);
  const bool one = value_shape.rank() == 0 ? defaults.num_elements() == 1 : defaults == value_shape;
  if (!one && defaults != p.output_shape(0)) {
    return InvalidArgument("the default must have the shape of a value, ", value_shape.ToString(),
                           ", or of all values, ", p.output_shape(0).ToString(), ", not ",
                           defaults.ToString());
  }
  return MakeKernel([n, for_each = !one, value_shape, keys = p.input_dtype(1),
                     values = p.output_dtype(0)](RunContext& run) {
    TENON_ASSIGN_OR_RETURN(const MutableTable* table, TableAt(run));
    TENON_RETURN_IF_ERROR(CheckDTypes(*table, keys, values));
    TENON_RETURN_IF_ERROR(CheckValueShape(*table, value_shape));
    table->Find(run.input(1), n, run.input(2), for_each, run.output(0));
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> MutableTableInsertKernel(PrepareContext& p) {
  return ChangeKernel(p, &MutableTable::Insert);
}

absl::StatusOr<std::unique_ptr<Kernel>> MutableTableImportKernel(PrepareContext& p) {
  return ChangeKernel(p, &MutableTable::Import);
}

absl::StatusOr<std::unique_ptr<Kernel>> MutableTableRemoveKernel(PrepareContext& p) {
  return MakeKernel([n = p.input_shape(1).num_elements(),
                     keys = p.input_dtype(1)](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(MutableTable * table, TableAt(run));
    TENON_RETURN_IF_ERROR(CheckDTypes(*table, keys, table->value_dtype()));
    table->Remove(run.input(1), n);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> MutableTableSizeKernel(PrepareContext&) {
  return MakeKernel([](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const MutableTable* table, TableAt(run));
    *run.output<int64_t>(0) = table->size();
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> MutableTableExportKernel(PrepareContext& p) {
  return MakeKernel([keys = p.output_dtype(0), values = p.output_dtype(1),
                     value_shape = ValueShapeOf(p)](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const MutableTable* table, TableAt(run));
    TENON_RETURN_IF_ERROR(CheckDTypes(*table, keys, values));
    TENON_RETURN_IF_ERROR(CheckValueShape(*table, value_shape));
    return table->Export([&](int64_t n) -> absl::StatusOr<MutableTable::Arrays> {
      Shape shape = value_shape;
      shape.insert(0, n);
      MutableTable::Arrays to;
      TENON_ASSIGN_OR_RETURN(to.keys, run.AllocateOutput(0, Shape({n})));
      TENON_ASSIGN_OR_RETURN(to.values, run.AllocateOutput(1, shape));
      return to;
    });
  });
}

}  // namespace tenon
