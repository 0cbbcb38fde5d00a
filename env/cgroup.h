// The CPUs that a container's limits allow.
#ifndef TENON_ENV_CGROUP_H_
#define TENON_ENV_CGROUP_H_

#include <string>

namespace tenon {

// The quota of this process's cgroup and those above it (v1 and v2), in CPUs, rounded up; a large
// number if there is none. Read again at each call. `root` is a folder with the system's proc/ and
// sys/ (for tests); "" is the system itself.
int CgroupCpus(const std::string& root = "");

}  // namespace tenon

#endif  // TENON_ENV_CGROUP_H_
