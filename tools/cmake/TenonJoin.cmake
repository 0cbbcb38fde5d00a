# tenon_join(TARGET FILE): builds the archive FILE from every layer, as one object: ops that register themselves
# stay, and everything but the C functions is local, as in the shared library.
function(tenon_join TARGET FILE)
  get_property(layers GLOBAL PROPERTY TENON_LAYERS)
  list(TRANSFORM layers REPLACE "(.+)" "$<FILTER:$<TARGET_OBJECTS:\\1>,EXCLUDE,gch$>" OUTPUT_VARIABLE objects)
  cmake_path(GET FILE PARENT_PATH folder)
  set(object ${folder}/${TARGET}.o)
  file(GENERATE OUTPUT ${object}.list CONTENT "$<JOIN:${objects},\n>\n")
  add_custom_command(
    OUTPUT ${FILE}
    COMMAND ${CMAKE_CXX_COMPILER} -r -nostdlib -Wl,--force-group-allocation -o ${object} @${object}.list
    COMMAND ${CMAKE_OBJCOPY} --strip-unneeded --wildcard "--keep-global-symbol=tenon_*" ${object}
    COMMAND ${CMAKE_COMMAND} -E rm -f ${FILE}
    COMMAND ${CMAKE_AR} rcs ${FILE} ${object}
    COMMAND ${CMAKE_COMMAND} -E rm -f ${object}
    DEPENDS ${objects} VERBATIM COMMENT "Joining ${FILE}")
  add_custom_target(${TARGET} ALL DEPENDS ${FILE})
endfunction()
