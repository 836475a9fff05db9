# Finds the C++ Actor Framework of Debian, which ships no CMake package of its own.
# Imported targets: CAF::core, CAF::io, CAF::openssl.
include(FindPackageHandleStandardArgs)
find_package(Threads REQUIRED)
find_path(CAF_INCLUDE_DIR caf/config.hpp)
if(CAF_INCLUDE_DIR)
  file(STRINGS "${CAF_INCLUDE_DIR}/caf/config.hpp" caf_version_line
       REGEX "^#define CAF_VERSION [0-9]+")
  string(REGEX MATCH "[0-9]+$" caf_version_number "${caf_version_line}")
  math(EXPR caf_major "${caf_version_number} / 10000")
  math(EXPR caf_minor "(${caf_version_number} / 100) % 100")
  math(EXPR caf_patch "${caf_version_number} % 100")
  set(CAF_VERSION "${caf_major}.${caf_minor}.${caf_patch}")
endif()
set(caf_needs_core Threads::Threads)
set(caf_needs_io CAF::core)
set(caf_needs_openssl CAF::io OpenSSL::SSL)
if("openssl" IN_LIST CAF_FIND_COMPONENTS)
  find_package(OpenSSL REQUIRED)
endif()
foreach(component IN LISTS CAF_FIND_COMPONENTS)
  find_library(CAF_${component}_LIBRARY NAMES caf_${component})
  if(CAF_${component}_LIBRARY AND CAF_INCLUDE_DIR)
    set(CAF_${component}_FOUND TRUE)
    if(NOT TARGET CAF::${component})
      add_library(CAF::${component} UNKNOWN IMPORTED)
      set_target_properties(
        CAF::${component}
        PROPERTIES IMPORTED_LOCATION "${CAF_${component}_LIBRARY}"
                   INTERFACE_INCLUDE_DIRECTORIES "${CAF_INCLUDE_DIR}"
                   INTERFACE_LINK_LIBRARIES "${caf_needs_${component}}")
    endif()
  endif()
endforeach()
find_package_handle_standard_args(CAF REQUIRED_VARS CAF_INCLUDE_DIR VERSION_VAR CAF_VERSION
                                  HANDLE_COMPONENTS)
