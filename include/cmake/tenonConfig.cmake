# find_package(tenon): the library tenon::tenon, with <tenon/tenon.h> (C) and <tenon/tenon.hpp> (C++).
include(${CMAKE_CURRENT_LIST_DIR}/tenonTargets.cmake)
