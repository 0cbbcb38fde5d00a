// Helpers for the C functions that plug-ins call. Nothing here throws across the C boundary, except
// when memory runs out.
#ifndef TENON_RUNTIME_DEVICES_ABI_ABI_H_
#define TENON_RUNTIME_DEVICES_ABI_ABI_H_

#include <string>
#include <utility>
#include <vector>

#include "runtime/devices/objects.h"

namespace tenon {

inline void Set(TF_Status* status, TF_Code code, std::string message = "") {
  if (status == nullptr) return;
  status->code = code;
  status->message = std::move(message);
}

inline TF_StringView View(const std::string& s) { return {s.data(), s.size()}; }

// Returns false, and sets the status, unless `i` is below `n`.
inline bool InRange(int i, size_t n, const char* what, TF_Status* status) {
  if (i >= 0 && static_cast<size_t>(i) < n) {
    Set(status, TF_OK);
    return true;
  }
  Set(status, TF_OUT_OF_RANGE,
      "there is no " + std::string(what) + " " + std::to_string(i) + ": the node has " +
          std::to_string(n));
  return false;
}

// A plug-in's dimensions; none if it gives fewer than one.
inline std::vector<int64_t> Dims(const int64_t* dims, int n) {
  return n > 0 ? std::vector<int64_t>(dims, dims + n) : std::vector<int64_t>();
}

// The number of elements of a tensor with these dimensions; -1 if it overflows.
int64_t Elements(const std::vector<int64_t>& dims);

}  // namespace tenon

#endif  // TENON_RUNTIME_DEVICES_ABI_ABI_H_
