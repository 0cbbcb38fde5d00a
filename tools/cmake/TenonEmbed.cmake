# tenon_embed(TARGET FILE NAME): makes a text file a constant of the target's code: tenon::NAME, an array of char, and
# tenon::NAMESize. Done when CMake runs, which a change of the file causes.
function(tenon_embed TARGET FILE NAME)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${FILE})
  file(READ ${FILE} text)
  set(source ${PROJECT_BINARY_DIR}/embedded/${NAME}.cc)
  file(WRITE ${source}.new "#include <cstddef>
namespace tenon {
extern const char ${NAME}[];
extern const std::size_t ${NAME}Size;
const char ${NAME}[] = R\"~embedded~(${text})~embedded~\";
const std::size_t ${NAME}Size = sizeof(${NAME}) - 1;
}  // namespace tenon
")
  file(COPY_FILE ${source}.new ${source} ONLY_IF_DIFFERENT)
  target_sources(${TARGET} PRIVATE ${source})
  set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()
