#include "kernels/lists/tensor_map.h"

#include <map>
#include <string>
#include <utility>

#include "env/status.h"
#include "kernels/interface/types.h"
#include "kernels/layout/copy.h"
#include "kernels/lists/changed_object.h"
#include "kernels/lists/tensor_list.h"
#include "kernels/strings/tensor_message.h"

namespace tenon {
namespace {

using SharedTensor = std::shared_ptr<const Tensor>;

struct TensorMap final : Object {
  struct Entry {
    SharedTensor key, value;
  };
  std::map<std::string, Entry> entries;  // by the key's message: dtype, shape and bytes
};

absl::StatusOr<const TensorMap*> MapOf(const RunContext& run) {
  const auto* map = dynamic_cast<const TensorMap*>(run.input<ObjectPtr>(0)->get());
  if (map == nullptr) return InvalidArgument("expected the handle of a tensor map");
  return map;
}

// The key in input 1.
class Key {
 public:
  static absl::StatusOr<Key> Of(const PrepareContext& p) {
    if (HoldsObjects(p.input_dtype(1))) {
      return Unimplemented("keys of ", Name(p.input_dtype(1)));
    }
    return Key(p.input_dtype(1), p.input_shape(1));
  }
  std::string Message(const RunContext& run) const {
    return SerializeTensorMessage(dtype_, shape_, run.input(1));
  }
  absl::StatusOr<SharedTensor> Kept(const RunContext& run) const {
    return Keep(dtype_, shape_, run.input(1));
  }

 private:
  Key(DType dtype, const Shape& shape) : dtype_(dtype), shape_(shape) {}

  DType dtype_;
  Shape shape_;
};

absl::Status NoSuchKey() { return InvalidArgument("the map does not have the key"); }

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> EmptyMapKernel(PrepareContext&) {
  return MakeKernel([](RunContext& run) {
    *run.output<ObjectPtr>(0) = std::make_shared<TensorMap>();
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> MapSizeKernel(PrepareContext&) {
  return MakeKernel([](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const TensorMap* map, MapOf(run));
    *run.output<int32_t>(0) = static_cast<int32_t>(map->entries.size());
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> MapInsertKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Key key, Key::Of(p));
  p.AllowInPlace(0, 0);
  return MakeKernel([key, value = InputSpec(p, 2)](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const TensorMap* map, MapOf(run));
    TensorMap::Entry entry;
    TENON_ASSIGN_OR_RETURN(entry.key, key.Kept(run));
    TENON_ASSIGN_OR_RETURN(entry.value, Keep(value.dtype, value.shape, run.input(2)));
    return ChangeObject(run, *map, [&](TensorMap& changed) {
      changed.entries[key.Message(run)] = std::move(entry);
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> MapLookupKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Key key, Key::Of(p));
  return MakeKernel([key, dtype = p.output_dtype(0)](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const TensorMap* map, MapOf(run));
    const auto it = map->entries.find(key.Message(run));
    if (it == map->entries.end()) return NoSuchKey();
    const SharedTensor& value = it->second.value;
    if (value->dtype() != dtype) {
      return InvalidArgument("the key has a value of ", Name(value->dtype()), ", not of ",
                             Name(dtype));
    }
    TENON_ASSIGN_OR_RETURN(void* out, run.AllocateOutput(0, value->shape()));
    WriteItem(value, dtype, value->num_elements(), out);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> MapEraseKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Key key, Key::Of(p));
  p.AllowInPlace(0, 0);
  return MakeKernel([key](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const TensorMap* map, MapOf(run));
    return ChangeObject(run, *map, [&](TensorMap& changed) {
      return changed.entries.erase(key.Message(run)) == 1 ? absl::OkStatus() : NoSuchKey();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> MapHasKeyKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Key key, Key::Of(p));
  return MakeKernel([key](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const TensorMap* map, MapOf(run));
    *run.output<bool>(0) = map->entries.count(key.Message(run)) > 0;
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> MapStackKeysKernel(PrepareContext& p) {
  return MakeKernel([dtype = p.output_dtype(0)](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const TensorMap* map, MapOf(run));
    if (map->entries.empty()) return InvalidArgument("the map has no keys");
    const Shape& item = map->entries.begin()->second.key->shape();
    for (const auto& [message, entry] : map->entries) {
      if (entry.key->dtype() != dtype) {
        return InvalidArgument("a key is of ", Name(entry.key->dtype()), ", not of ", Name(dtype));
      }
      if (entry.key->shape() != item) {
        return InvalidArgument("keys have shapes ", item.ToString(), " and ",
                               entry.key->shape().ToString());
      }
    }
    Shape shape({static_cast<int64_t>(map->entries.size())});
    for (const int64_t d : item.dims()) shape.push_back(d);
    TENON_RETURN_IF_ERROR(shape.CheckedElements().status());
    TENON_ASSIGN_OR_RETURN(void* out, run.AllocateOutput(0, shape));
    int64_t at = 0;
    for (const auto& [message, entry] : map->entries) {
      WriteItem(entry.key, dtype, item.num_elements(), ElementAddress(out, dtype, at));
      at += item.num_elements();
    }
    return absl::OkStatus();
  });
}

}  // namespace tenon
