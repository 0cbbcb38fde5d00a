// Values that callers feed, as tensors: views where possible.
#ifndef TENON_PYTHON_CORE_FEED_H_
#define TENON_PYTHON_CORE_FEED_H_

#include <nanobind/nanobind.h>

#include "python/core/tensor.h"

namespace tenon::python {

// A tensor for one call, and what keeps it.
struct Feed {
  const tenon_tensor* tensor = nullptr;  // null: nothing is fed
  OwnedTensor owned;
  nanobind::object keep;
};

// `value` as a tensor of dtype `expected` (null: any). None feeds nothing. A C-contiguous buffer or
// DLPack object of that dtype is viewed. Anything else goes to tenon._feeds.tensor_for, which
// converts what may be converted, and otherwise raises TypeError with `name`, what came, and what
// is expected.
Feed MakeFeed(nanobind::handle value, const DTypeInfo* expected, nanobind::handle name, bool cast);

}  // namespace tenon::python

#endif  // TENON_PYTHON_CORE_FEED_H_
