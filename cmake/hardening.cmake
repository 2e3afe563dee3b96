# DISTMAP_HARDENED: what makes an error in memory harder to use, where the compiler and the linker have it. Files come from
# strangers, so it is on by default; kernels lose nothing that can be measured (docs/internals.md).
#   -fstack-protector-strong   a function with arrays notices when its return address was written over
#   _FORTIFY_SOURCE=3          the C library's copies check the size of what they write into, where the compiler knows it
#   -fcf-protection (x86), -mbranch-protection (arm)    the processor refuses jumps to places that are no targets
#   PIE, RELRO, BIND_NOW       addresses are random, and the tables of functions are read-only once the program runs
# Sanitizers have their own checks, which the second would hide; builds without optimisation have none of it.
option(DISTMAP_HARDENED "Stack protector, _FORTIFY_SOURCE, control-flow protection, PIE, RELRO, BIND_NOW" ON)

include(CheckPIESupported)
check_pie_supported(LANGUAGES C)

# Nothing that is built remembers the folder it was built in: the same sources give the same bytes anywhere. (Sanitizers and gcov
# name files by their whole paths.)
include(CheckCCompilerFlag)
if(NOT DISTMAP_SANITIZE AND NOT DISTMAP_COVERAGE)
  check_c_compiler_flag(-ffile-prefix-map=/a=/b DISTMAP_HAS_PREFIX_MAP)
  if(DISTMAP_HAS_PREFIX_MAP)
    add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.;-ffile-prefix-map=${PROJECT_BINARY_DIR}=build>")
  endif()
endif()

if(NOT DISTMAP_HARDENED)
  return()
endif()
include(CheckCSourceCompiles)
include(CheckLinkerFlag)
include(CMakePushCheckState)

# On where the compiler takes it.
function(distmap_harden flag name)
  check_c_compiler_flag("-Werror ${flag}" ${name})
  if(${name})
    add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${flag}>")
  endif()
endfunction()
distmap_harden(-fstack-protector-strong DISTMAP_HAS_STACK_PROTECTOR)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  distmap_harden(-fcf-protection=full DISTMAP_HAS_FLOW_PROTECTION)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  distmap_harden(-mbranch-protection=standard DISTMAP_HAS_FLOW_PROTECTION)
endif()

if(NOT DISTMAP_SANITIZE AND NOT DISTMAP_COVERAGE)
  # The C library says by a warning that it takes a level for a lower one.
  cmake_push_check_state(RESET)
  set(CMAKE_REQUIRED_FLAGS "-O2 -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
  check_c_source_compiles("#include <string.h>\nint main(void) { char a[4]; memset(a, 0, 4); return a[0]; }" DISTMAP_HAS_FORTIFY_3)
  cmake_pop_check_state()
  set(optimised $<CONFIG:Release,RelWithDebInfo,MinSizeRel>)
  add_compile_options("$<$<AND:$<COMPILE_LANGUAGE:C,CXX>,${optimised}>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=$<IF:$<BOOL:${DISTMAP_HAS_FORTIFY_3}>,3,2>>")
  string(COMPARE NOTEQUAL "${CMAKE_BUILD_TYPE}" Debug DISTMAP_HAS_FORTIFY)
endif()

check_linker_flag(C LINKER:-z,relro,-z,now DISTMAP_HAS_BIND_NOW)
if(DISTMAP_HAS_BIND_NOW)
  add_link_options(LINKER:-z,relro,-z,now)
endif()
