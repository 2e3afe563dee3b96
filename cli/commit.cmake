# Writes the source's commit into a header, at build time: cmake -DSOURCE=... -DHEADER=... -P commit.cmake
# Outside a repository the commit is that of the environment's DISTMAP_COMMIT, or "". The file is touched only when it changes, so
# that nothing is built again.
execute_process(COMMAND git -C "${SOURCE}" describe --always --dirty --abbrev=12
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit "$ENV{DISTMAP_COMMIT}")
endif()
set(text "#define CLI_COMMIT \"${commit}\"\n")
set(before "")
if(EXISTS "${HEADER}")
  file(READ "${HEADER}" before)
endif()
if(NOT before STREQUAL text)
  file(WRITE "${HEADER}" "${text}")
endif()
