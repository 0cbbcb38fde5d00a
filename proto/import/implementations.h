// Functions that do the same in different ways for different devices. The code that defines them
// calls one of them; TensorFlow runs the one for the device on which the call is placed.
#ifndef TENON_PROTO_IMPORT_IMPLEMENTATIONS_H_
#define TENON_PROTO_IMPORT_IMPLEMENTATIONS_H_

#include <string>

#include "env/containers.h"

namespace tenon {

namespace tf {
class FunctionDefLibrary;
}  // namespace tf

// The functions that have a better one for CPUs, and the names of these: both state the same
// interface (attribute api_implements) and have the same signature, and the other prefers CPUs
// (api_preferred_device).
HashMap<std::string, std::string> CpuImplementations(const tf::FunctionDefLibrary& library);

}  // namespace tenon

#endif  // TENON_PROTO_IMPORT_IMPLEMENTATIONS_H_
