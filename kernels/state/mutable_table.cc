#include "kernels/state/mutable_table.h"

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

// Values are only copied, so V stands for all dtypes of its size. Entries lie side by side;
// `place_` finds them by key.
template <typename K, typename V>
class TableOf final : public MutableTable {
 public:
  TableOf(DType key_dtype, DType value_dtype) : key_dtype_(key_dtype), value_dtype_(value_dtype) {}

  DType key_dtype() const override { return key_dtype_; }
  DType value_dtype() const override { return value_dtype_; }
  int64_t size() const override {
    MutexLock lock(&mutex_);
    return std::ssize(entries_);
  }

  void Find(const void* keys, int64_t n, const void* defaults, bool default_for_each,
            void* values) const override {
    const K* const k = static_cast<const K*>(keys);
    const V* const d = static_cast<const V*>(defaults);
    V* const v = static_cast<V*>(values);
    MutexLock lock(&mutex_);
    for (int64_t i = 0; i < n; ++i) {
      const auto it = place_.find(k[i]);
      v[i] = it == place_.end() ? d[default_for_each ? i : 0] : entries_[it->second].second;
    }
  }
  void Insert(const void* keys, const void* values, int64_t n) override {
    MutexLock lock(&mutex_);
    Add(static_cast<const K*>(keys), static_cast<const V*>(values), n);
  }
  void Import(const void* keys, const void* values, int64_t n) override {
    MutexLock lock(&mutex_);
    place_.clear();
    entries_.clear();
    Add(static_cast<const K*>(keys), static_cast<const V*>(values), n);
  }
  void Remove(const void* keys, int64_t n) override {
    const K* const k = static_cast<const K*>(keys);
    MutexLock lock(&mutex_);
    for (int64_t i = 0; i < n; ++i) {
      const auto it = place_.find(k[i]);
      if (it == place_.end()) continue;
      // The last entry takes its place.
      const size_t at = it->second;
      place_.erase(it);
      if (at + 1 != entries_.size()) {
        entries_[at] = std::move(entries_.back());
        place_[entries_[at].first] = at;
      }
      entries_.pop_back();
    }
  }
  absl::Status Export(absl::FunctionRef<absl::StatusOr<Arrays>(int64_t)> allocate) const override {
    MutexLock lock(&mutex_);
    TENON_ASSIGN_OR_RETURN(const Arrays to, allocate(std::ssize(entries_)));
    K* keys = static_cast<K*>(to.keys);
    V* values = static_cast<V*>(to.values);
    for (const auto& [key, value] : entries_) {
      *keys++ = key;
      *values++ = value;
    }
    return absl::OkStatus();
  }

 private:
  void Add(const K* keys, const V* values, int64_t n) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (int64_t i = 0; i < n; ++i) {
      const auto [it, fresh] = place_.emplace(keys[i], entries_.size());
      if (fresh) {
        entries_.emplace_back(keys[i], values[i]);
      } else {
        entries_[it->second].second = values[i];
      }
    }
  }

  const DType key_dtype_, value_dtype_;
  mutable Mutex mutex_;
  std::vector<std::pair<K, V>> entries_ ABSL_GUARDED_BY(mutex_);
  HashMap<K, size_t> place_ ABSL_GUARDED_BY(mutex_);
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

// Insert or Import: `change` with keys and values of the same number.
using Change = void (MutableTable::*)(const void* keys, const void* values, int64_t n);

absl::StatusOr<std::unique_ptr<Kernel>> ChangeKernel(PrepareContext& p, Change change) {
  const int64_t n = p.input_shape(1).num_elements();
  if (p.input_shape(2).num_elements() != n) {
    return InvalidArgument("the keys have shape ", p.input_shape(1).ToString(), ", the values ",
                           p.input_shape(2).ToString());
  }
  return MakeKernel(
      [n, change, keys = p.input_dtype(1), values = p.input_dtype(2)](RunContext& run) {
        TENON_ASSIGN_OR_RETURN(MutableTable * table, TableAt(run));
        TENON_RETURN_IF_ERROR(CheckDTypes(*table, keys, values));
        (table->*change)(run.input(1), run.input(2), n);
        return absl::OkStatus();
      });
}

}  // namespace

absl::StatusOr<std::shared_ptr<MutableTable>> MakeMutableTable(DType key_dtype, DType value_dtype) {
  std::shared_ptr<MutableTable> table;
  if (value_dtype == DType::kString || SizeOf(value_dtype) != 0) {
    VisitTypes(TypeList<std::string, int32_t, int64_t>{}, key_dtype, [&]<typename K>() {
      VisitStorage(value_dtype, [&]<typename V>() {
        table = std::make_shared<TableOf<K, V>>(key_dtype, value_dtype);
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
  const int64_t defaults = p.input_shape(2).num_elements();
  if (defaults != 1 && defaults != n) {
    return InvalidArgument("the default must be a scalar or have the shape of the keys, ",
                           p.input_shape(1).ToString(), ", not ", p.input_shape(2).ToString());
  }
  const bool for_each = defaults != 1;
  return MakeKernel(
      [n, for_each, keys = p.input_dtype(1), values = p.output_dtype(0)](RunContext& run) {
        TENON_ASSIGN_OR_RETURN(const MutableTable* table, TableAt(run));
        TENON_RETURN_IF_ERROR(CheckDTypes(*table, keys, values));
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
  return MakeKernel(
      [keys = p.output_dtype(0), values = p.output_dtype(1)](RunContext& run) -> absl::Status {
        TENON_ASSIGN_OR_RETURN(const MutableTable* table, TableAt(run));
        TENON_RETURN_IF_ERROR(CheckDTypes(*table, keys, values));
        return table->Export([&](int64_t n) -> absl::StatusOr<MutableTable::Arrays> {
          MutableTable::Arrays to;
          TENON_ASSIGN_OR_RETURN(to.keys, run.AllocateOutput(0, Shape({n})));
          TENON_ASSIGN_OR_RETURN(to.values, run.AllocateOutput(1, Shape({n})));
          return to;
        });
      });
}

}  // namespace tenon
