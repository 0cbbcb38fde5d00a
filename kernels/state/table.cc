#include "kernels/state/table.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "env/containers.h"
#include "env/status.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

using KeyTypes = TypeList<std::string, int32_t, int64_t>;

// Position by key; of equal keys, the first one counts.
template <typename K>
class Index final : public DerivedConstant {
 public:
  Index(const K* keys, int64_t n) {
    positions_.reserve(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) positions_.emplace(keys[i], i);
  }
  // -1: none.
  int64_t TableFindKernel(const K& key) const {
    const auto it = positions_.find(key);
    return it == positions_.end() ? -1 : it->second;
  }
  size_t bytes() const override { return positions_.capacity() * (sizeof(K) + sizeof(int64_t)); }

 private:
  HashMap<K, int64_t> positions_;
};

template <typename V>
void Pick(RunContext& run, int64_t i, int64_t position) {
  run.output<V>(0)[i] = position < 0 ? run.input<V>(1)[0] : run.input<V>(3)[position];
}

using PickFn = void (*)(RunContext& run, int64_t i, int64_t position);

// Values are copied, so only their size matters.
PickFn PickFor(DType dtype) {
  if (dtype == DType::kString) return Pick<std::string>;
  switch (SizeOf(dtype)) {
    case 1:
      return Pick<uint8_t>;
    case 2:
      return Pick<uint16_t>;
    case 4:
      return Pick<uint32_t>;
    case 8:
      return Pick<uint64_t>;
  }
  return nullptr;
}

template <typename K>
absl::StatusOr<std::unique_ptr<Kernel>> MakeFind(PrepareContext& p, PickFn pick) {
  const int64_t n = p.input_shape(0).num_elements(), size = p.input_shape(2).num_elements();
  std::shared_ptr<const Index<K>> shared;
  if (Constant* keys = p.constant(2)) {
    TENON_ASSIGN_OR_RETURN(
        std::shared_ptr<const DerivedConstant> form,
        keys->Derive("table index",
                     [](const Tensor& t) -> absl::StatusOr<std::shared_ptr<const DerivedConstant>> {
                       return std::make_shared<Index<K>>(t.data<K>(), t.num_elements());
                     }));
    shared = std::static_pointer_cast<const Index<K>>(std::move(form));
    p.InputNotRead(2);
  }
  return MakeKernel([n, size, shared, pick](RunContext& run) {
    std::shared_ptr<const Index<K>> index = shared;
    if (index == nullptr) index = std::make_shared<Index<K>>(run.input<K>(2), size);
    const K* keys = run.input<K>(0);
    for (int64_t i = 0; i < n; ++i) pick(run, i, index->TableFindKernel(keys[i]));
    return absl::OkStatus();
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> TableFindKernel(PrepareContext& p) {
  const PickFn pick = PickFor(p.output_dtype(0));
  if (pick == nullptr) return Unimplemented("values of ", Name(p.output_dtype(0)));
  absl::StatusOr<std::unique_ptr<Kernel>> kernel =
      Unimplemented("keys of ", Name(p.input_dtype(0)));
  VisitTypes(KeyTypes{}, p.input_dtype(0), [&]<typename K>() { kernel = MakeFind<K>(p, pick); });
  return kernel;
}

}  // namespace tenon
