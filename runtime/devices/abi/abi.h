// Helpers of the C functions that plug-ins call. Nothing here throws across the C border but for
// want of memory.
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

// False, and a status, unless `i` is below `n`.
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

// A plug-in's dimensions; none where it says less than one.
inline std::vector<int64_t> Dims(const int64_t* dims, int n) {
  return n > 0 ? std::vector<int64_t>(dims, dims + n) : std::vector<int64_t>();
}

// Elements of a tensor of these dimensions; -1 where that does not fit.
int64_t Elements(const std::vector<int64_t>& dims);

}  // namespace tenon

#endif  // TENON_RUNTIME_DEVICES_ABI_ABI_H_
