// A node's attributes as a plug-in's kernel reads them.
#ifndef TENON_RUNTIME_DEVICES_ATTRS_H_
#define TENON_RUNTIME_DEVICES_ATTRS_H_

#include <map>
#include <string>

#include "graph/attr.h"
#include "runtime/devices/objects.h"

namespace tenon {

std::map<std::string, PluginAttr> PluginAttrs(const AttrMap& attrs);

// A tensor of the host, sharing its memory.
TF_Tensor HostTensor(const Tensor& tensor);

}  // namespace tenon

#endif  // TENON_RUNTIME_DEVICES_ATTRS_H_
