# find_package(tenon): the library tenon::tenon, with <tenon/tenon.h> (C) and <tenon/tenon.hpp> (C++), and
# tenon::static, the same linked into the program.
include(${CMAKE_CURRENT_LIST_DIR}/tenonTargets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/tenonStatic.cmake OPTIONAL)
