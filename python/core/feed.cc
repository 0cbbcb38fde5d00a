#include "python/core/feed.h"

namespace nb = nanobind;

namespace tenon::python {

Feed MakeFeed(nb::handle value, const DTypeInfo* expected, nb::handle name, bool cast) {
  Feed feed;
  if (value.is_none()) return feed;
  if (nb::isinstance<Tensor>(value)) {
    const Tensor& tensor = *nb::inst_ptr<Tensor>(value);
    if (expected == nullptr || &tensor.dtype() == expected) {
      feed.tensor = tensor.get();
      feed.keep = nb::borrow(value);
      return feed;
    }
  } else if (expected != nullptr && expected->size != 0) {
    bool read_only = false;
    feed.owned = ViewBuffer(value, expected, read_only);
    if (feed.owned != nullptr) {
      feed.tensor = feed.owned.get();
      return feed;
    }
  }
  static nb::handle tensor_for =
      nb::object(nb::module_::import_("tenon._feeds").attr("tensor_for")).release();
  feed.keep = tensor_for(value, expected == nullptr ? "" : expected->name, name, cast);
  feed.tensor = nb::cast<const Tensor&>(feed.keep).get();
  return feed;
}

}  // namespace tenon::python
