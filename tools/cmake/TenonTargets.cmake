# CMake would treat precompiled headers as system headers, which hides warnings in our own.
set(CMAKE_PCH_PROLOGUE "")

# tenon_layer(NAME [LINK lib…] [PCH header… | PCH_OF layer] [FOLDERS folder…] [EXCLUDE folder…] [OPTIMIZE way] [TOGETHER n]
#             [APART folder…]):
# all sources of the current folder (tests apart) as one object library `tenon_NAME`. Object libraries, so that
# rows which register themselves are never dropped by the linker. PCH: headers to compile once, those that most of
# the sources include; PCH_OF: another target's, which must be optimized in the same way, because GCC compiles with the
# optimization of the precompiled header.
# FOLDERS: the sources of these folders only; EXCLUDE: all but those of these folders.
# OPTIMIZE: less than -O3 (tenon_optimize).
# TOGETHER: compiles the sources of a folder in batches of n (tenon_batches), but for the folders APART.
function(tenon_layer NAME)
  cmake_parse_arguments(ARG "" "PCH_OF;OPTIMIZE;TOGETHER" "LINK;PCH;FOLDERS;EXCLUDE;APART" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  if(ARG_FOLDERS)
    list(JOIN ARG_FOLDERS "|" folders)
    list(FILTER sources INCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/(${folders})/")
  endif()
  foreach(folder ${ARG_EXCLUDE})
    list(FILTER sources EXCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${folder}/")
  endforeach()
  foreach(folder ${TENON_WITHOUT_OPS})
    list(FILTER sources EXCLUDE REGEX "^${PROJECT_SOURCE_DIR}/(kernels|ops)/${folder}/")
  endforeach()
  if(sources)
    if(ARG_TOGETHER)
      tenon_batches(sources ${ARG_TOGETHER} APART ${ARG_APART} SOURCES ${sources})
    endif()
    add_library(tenon_${NAME} OBJECT ${sources})
    target_include_directories(tenon_${NAME} PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(tenon_${NAME} PUBLIC tenon_options ${ARG_LINK})
    if(ARG_OPTIMIZE)
      tenon_optimize(tenon_${NAME} ${ARG_OPTIMIZE})
    endif()
    set_property(GLOBAL APPEND PROPERTY TENON_LAYERS tenon_${NAME})
    list(LENGTH sources count)
    if(ARG_PCH AND count GREATER 1)  # for a single batch it would only cost
      tenon_pch(tenon_${NAME} ${ARG_PCH})
    elseif(ARG_PCH_OF)
      target_precompile_headers(tenon_${NAME} REUSE_FROM tenon_${ARG_PCH_OF})
    endif()
  else()
    add_library(tenon_${NAME} INTERFACE)
    target_link_libraries(tenon_${NAME} INTERFACE ${ARG_LINK})
  endif()
endfunction()

# tenon_optimize(TARGET once|loops): less than -O3 in a release, for a third less compile time. `once` is for code that
# seldom runs, such as reading and rewriting a model; `loops` also vectorizes loops and inlines functions.
function(tenon_optimize TARGET WAY)
  set(options -O1)
  if(WAY STREQUAL loops AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    list(APPEND options -fstrict-aliasing -finline-functions -ftree-vectorize -fvect-cost-model=dynamic)
  elseif(WAY STREQUAL loops)
    set(options -O2)
  endif()
  target_compile_options(${TARGET} PRIVATE "$<$<CONFIG:Release>:${options}>")
endfunction()

# tenon_hardened(TARGET): of what reads files and messages of strangers: overflows of the stack and of buffers whose
# size is known end the process. The rest does without, which would cost a planned step up to 17 % (docs/TRUST.md).
function(tenon_hardened TARGET)
  target_compile_options(${TARGET} PRIVATE
    $<$<CONFIG:Release>:-fstack-protector-strong;-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>)
endfunction()

# tenon_batches(RESULT N [APART folder or file…] SOURCES file…): sets RESULT to generated sources that include the given
# ones, up to N of one folder each. A small source takes most of its time for templates that all of its
# neighbors instantiate too: 20 at a time take three fifths of the time of 4 to 6. Where most of the time goes into
# loops over elements (kernels, ops), large batches gain nothing. Names in anonymous namespaces must differ within a folder; sources
# that are APART stay as they are. Vector code (_simd.cc, which has options of its own and which Highway
# includes once per instruction set) gets batches of its own, FOLDER/simd_K.cc, wherever it is not APART: Highway's headers take more time than
# most of these sources. The generated text names no absolute path, for ccache.
# With TENON_BATCHES off, RESULT is the sources themselves.
function(tenon_batches RESULT N)
  cmake_parse_arguments(ARG "" "" "APART;SOURCES" ${ARGN})
  if(NOT TENON_BATCHES)
    set(${RESULT} ${ARG_SOURCES} PARENT_SCOPE)
    return()
  endif()
  list(SORT ARG_SOURCES)
  set(result "")
  set(batches "")
  foreach(source ${ARG_SOURCES})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE name)
    cmake_path(GET name PARENT_PATH folder)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE below)
    set(file ${below})
    cmake_path(GET below PARENT_PATH below)
    if((below AND below IN_LIST ARG_APART) OR file IN_LIST ARG_APART)
      list(APPEND result ${source})
      continue()
    endif()
    if(name MATCHES "_simd.cc$")
      set(kind ${folder}/simd_)
    else()
      set(kind ${folder}/)
    endif()
    # text_FOLDER_K is what batch K of the folder holds; size_FOLDER counts the folder's sources.
    if(NOT DEFINED size_${kind})
      set(size_${kind} 0)
    endif()
    math(EXPR k "${size_${kind}} / ${N}")
    math(EXPR size_${kind} "${size_${kind}} + 1")
    list(APPEND batches ${kind}${k})
    string(APPEND text_${kind}${k} "#include \"${name}\"\n")
  endforeach()
  list(REMOVE_DUPLICATES batches)
  foreach(batch ${batches})
    if(batch MATCHES "/simd_[0-9]+$")
      # Highway includes the batch once per instruction set. Its sources name themselves for that, hence the second definition.
      set(again "#undef HWY_TARGET_INCLUDE\n#define HWY_TARGET_INCLUDE \"batches/${batch}.cc\"\n")
      string(CONCAT text_${batch} "${again}" "#include \"hwy/foreach_target.h\"\n#include \"hwy/highway.h\"\n" "${text_${batch}}" "${again}")
    endif()
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/batches/${batch}.cc CONTENT "${text_${batch}}" @ONLY)
    # A type in an anonymous namespace is only suspicious in a header.
    set_source_files_properties(${PROJECT_BINARY_DIR}/batches/${batch}.cc PROPERTIES COMPILE_OPTIONS -Wno-subobject-linkage)
    list(APPEND result ${PROJECT_BINARY_DIR}/batches/${batch}.cc)
  endforeach()
  set(${RESULT} ${result} PARENT_SCOPE)
endfunction()

# tenon_pch(TARGET header…): precompiles <header> or "dir/header.h", spelled as in the sources, so
# that the generated file names no absolute path and ccache knows it again in another clone.
function(tenon_pch TARGET)
  list(TRANSFORM ARGN REPLACE "^([^<].*)$" "\"\\1\"" OUTPUT_VARIABLE headers)
  target_precompile_headers(${TARGET} PRIVATE ${headers})
endfunction()

# tenon_shared_pch(NAME LINK lib… [OPTIMIZE way] PCH header…): a precompiled header of its own, for all layers that are PCH_OF NAME.
function(tenon_shared_pch NAME)
  cmake_parse_arguments(ARG "" "OPTIMIZE" "LINK;PCH" ${ARGN})
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/batches/no_code.cc CONTENT "")
  add_library(tenon_${NAME} OBJECT ${PROJECT_BINARY_DIR}/batches/no_code.cc)
  target_include_directories(tenon_${NAME} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(tenon_${NAME} PUBLIC tenon_options ${ARG_LINK})
  if(ARG_OPTIMIZE)
    tenon_optimize(tenon_${NAME} ${ARG_OPTIMIZE})
  endif()
  tenon_pch(tenon_${NAME} ${ARG_PCH})
endfunction()

# tenon_link_all(TARGET [EXCLUDE layer…]): links every layer whole into an executable or library, but
# for those excluded.
function(tenon_link_all TARGET)
  cmake_parse_arguments(ARG "" "" "EXCLUDE" ${ARGN})
  get_property(layers GLOBAL PROPERTY TENON_LAYERS)
  foreach(layer ${ARG_EXCLUDE})
    list(REMOVE_ITEM layers tenon_${layer})
  endforeach()
  target_link_libraries(${TARGET} PRIVATE ${layers})
  foreach(layer ${layers})
    target_sources(${TARGET} PRIVATE $<TARGET_OBJECTS:${layer}>)
  endforeach()
  if(TENON_PORTABLE)
    # The only symbol newer than libstdc++ 11 (GLIBCXX_3.4.29), and std::call_once; see the files in env/portable.
    target_link_options(${TARGET} PRIVATE -Wl,--wrap=_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE
                        -Wl,--wrap=_ZSt15__once_callable,--wrap=_ZSt11__once_call,--wrap=__once_proxy)
  endif()
endfunction()

add_library(tenon_options INTERFACE)
target_compile_options(tenon_options INTERFACE -Wall -Wextra -Wno-unused-parameter -Wno-maybe-uninitialized -fno-math-errno)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # By default GCC collects garbage so often that files with many templates take a sixth longer.
  target_compile_options(tenon_options INTERFACE --param=ggc-min-heapsize=500000 --param=ggc-min-expand=200)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  target_compile_options(tenon_options INTERFACE -Wno-unknown-warning-option)  # GCC's, above
endif()
if(TENON_SANITIZE MATCHES thread)
  # Eigen's own parallel regions tell ThreadSanitizer nothing of their barriers (env/team.cc).
  target_compile_definitions(tenon_options INTERFACE EIGEN_DONT_PARALLELIZE)
endif()
if(TENON_SANITIZE)
  target_compile_options(tenon_options INTERFACE -fsanitize=${TENON_SANITIZE} -fno-omit-frame-pointer -g)
  target_link_options(tenon_options INTERFACE -fsanitize=${TENON_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    # Debian's leveldb has no type information, which checks of vtables and function types need. Checks of every
    # pointer take a third of all compile time; AddressSanitizer sees most of what they would.
    target_compile_options(tenon_options INTERFACE -fno-sanitize=vptr,function,null,alignment,object-size,pointer-overflow
                           -gline-tables-only)
    target_link_options(tenon_options INTERFACE -fno-sanitize=vptr,function)
    if(TENON_SANITIZE MATCHES address)
      target_compile_definitions(tenon_options INTERFACE __SANITIZE_ADDRESS__)  # as GCC does
    endif()
  endif()
endif()
if(TENON_FUZZ)
  target_compile_options(tenon_options INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(tenon_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
