// Lookup tables that a model changes while it runs. Sessions hold them by name, like variables;
// handles (scalars of dtype resource) point to them.
#ifndef TENON_KERNELS_STATE_MUTABLE_TABLE_H_
#define TENON_KERNELS_STATE_MUTABLE_TABLE_H_

#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "graph/object.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Attributes that import sets on the handle's node: the contents in the checkpoint, [n] each
// (absent: the table starts empty).
inline constexpr char kInitialKeysAttr[] = "_initial_keys";
inline constexpr char kInitialValuesAttr[] = "_initial_values";
// On a table's node, and on those that read it: the shape of each value, if they are no scalars.
// The values in the checkpoint are then [n] + value shape.
inline constexpr char kValueShapeAttr[] = "_value_shape";

// A map from scalars to tensors of one shape. Any number of threads may use it at once; each call
// sees all of another call's changes or none.
class MutableTable : public Object {
 public:
  virtual DType key_dtype() const = 0;
  virtual DType value_dtype() const = 0;
  virtual const Shape& value_shape() const = 0;
  virtual int64_t size() const = 0;
  // `keys` are an array of `n` elements, `values` of `n` values. `defaults` has one value, or `n`
  // with `default_for_each`.
  virtual void Find(const void* keys, int64_t n, const void* defaults, bool default_for_each,
                    void* values) const = 0;
  // Replaces the values of keys that are there already; of equal keys, the last one counts.
  virtual void Insert(const void* keys, const void* values, int64_t n) = 0;
  // Clears the table first.
  virtual void Import(const void* keys, const void* values, int64_t n) = 0;
  // Keys that are not there are ignored.
  virtual void Remove(const void* keys, int64_t n) = 0;
  // Calls `allocate` with the number of entries, and fills what it returns, in any order.
  struct Arrays {
    void* keys;
    void* values;
  };
  virtual absl::Status Export(
      absl::FunctionRef<absl::StatusOr<Arrays>(int64_t entries)> allocate) const = 0;
};

// Keys are strings, int32 or int64, values any dtype of up to 16 bytes or strings. Unimplemented
// for others; InvalidArgument for a shape that is not complete.
absl::StatusOr<std::shared_ptr<MutableTable>> MakeMutableTable(DType key_dtype, DType value_dtype,
                                                               const Shape& value_shape);

// Kernels whose input 0 is a table's handle. At run time, InvalidArgument if it is none, or has
// other dtypes or value shapes than the inputs or outputs.
absl::StatusOr<std::unique_ptr<Kernel>> MutableTableFindKernel(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> MutableTableInsertKernel(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> MutableTableImportKernel(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> MutableTableRemoveKernel(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> MutableTableSizeKernel(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> MutableTableExportKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_STATE_MUTABLE_TABLE_H_
