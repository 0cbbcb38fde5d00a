# cmake -DREADELF=… -DLIBRARY=libtenon.so -DTEMPLATES=… -DOUTPUT=… -P linked_libraries.cmake: writes the files for
# programs that link libtenon.a, or that use pkg-config. They name the libraries that the shared one needs.
execute_process(COMMAND ${READELF} -dW ${LIBRARY} OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "[][]" "|" dynamic "${dynamic}")  # unequal brackets would join the items of lists
string(REGEX MATCHALL "Shared library: .lib[^|]+\\.so" needed "${dynamic}")
list(TRANSFORM needed REPLACE "Shared library: .lib(.+)\\.so" "\\1")
list(REMOVE_ITEM needed c)
list(TRANSFORM needed PREPEND "-l")
set(TENON_LIBRARIES "${needed}")
configure_file(${TEMPLATES}/tenonStatic.cmake.in ${OUTPUT}/tenonStatic.cmake @ONLY)
list(JOIN needed " " TENON_LIBRARIES)
# From the folder of .pc files to the prefix, so that an installed tree may be moved.
file(RELATIVE_PATH TENON_PREFIX /prefix/${LIBDIR}/pkgconfig /prefix)
configure_file(${TEMPLATES}/tenon.pc.in ${OUTPUT}/tenon.pc @ONLY)
configure_file(${TEMPLATES}/tenon-static.pc.in ${OUTPUT}/tenon-static.pc @ONLY)
