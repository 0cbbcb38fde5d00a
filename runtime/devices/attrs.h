// A node's attributes in the form that a plug-in's kernel reads.
#ifndef TENON_RUNTIME_DEVICES_ATTRS_H_
#define TENON_RUNTIME_DEVICES_ATTRS_H_

#include <map>
#include <string>

#include "graph/attr.h"
#include "runtime/devices/objects.h"

namespace tenon {

std::map<std::string, PluginAttr> PluginAttrs(const AttrMap& attrs);

// A tensor in host memory that shares its memory with `tensor`.
TF_Tensor HostTensor(const Tensor& tensor);

}  // namespace tenon

#endif  // TENON_RUNTIME_DEVICES_ATTRS_H_
