# tenon_layer(NAME [LINK lib…]): all sources of the current folder (tests apart) as one object
# library `tenon_NAME`. Object libraries, so that rows which register themselves are never dropped
# by the linker.
function(tenon_layer NAME)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  if(sources)
    add_library(tenon_${NAME} OBJECT ${sources})
    target_include_directories(tenon_${NAME} PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(tenon_${NAME} PUBLIC tenon_options ${ARG_LINK})
    set_property(GLOBAL APPEND PROPERTY TENON_LAYERS tenon_${NAME})
  else()
    add_library(tenon_${NAME} INTERFACE)
    target_link_libraries(tenon_${NAME} INTERFACE ${ARG_LINK})
  endif()
endfunction()

# Links every layer whole into an executable or library.
function(tenon_link_all TARGET)
  get_property(layers GLOBAL PROPERTY TENON_LAYERS)
  target_link_libraries(${TARGET} PRIVATE ${layers})
  foreach(layer ${layers})
    target_sources(${TARGET} PRIVATE $<TARGET_OBJECTS:${layer}>)
  endforeach()
endfunction()

add_library(tenon_options INTERFACE)
target_compile_options(tenon_options INTERFACE -Wall -Wextra -Wno-unused-parameter -Wno-maybe-uninitialized -fno-math-errno)
if(TENON_SANITIZE)
  target_compile_options(tenon_options INTERFACE -fsanitize=${TENON_SANITIZE} -fno-omit-frame-pointer -g)
  target_link_options(tenon_options INTERFACE -fsanitize=${TENON_SANITIZE})
endif()
