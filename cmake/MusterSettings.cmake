# Compiler, linker and cache settings for every target of the project.
set(MUSTER_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize takes them (empty: none)")

# For builds from nothing: most of a compiler run is headers. Without it a change compiles one file.
option(MUSTER_UNITY "Compile the sources of each library at once" OFF)

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror)
# g++ 12 sees overlaps and overruns in std::string that are not there (GCC bugs 105651, 105329).
add_compile_options(-Wno-restrict -Wno-array-bounds)
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overflow>
                    $<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overread>)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  # Assertions are part of the product: the plain -O2 keeps them, -DNDEBUG is not wanted.
  set(CMAKE_CXX_FLAGS_RELEASE "-O2")
endif()
if(MUSTER_SANITIZE)
  add_compile_options(-fsanitize=${MUSTER_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${MUSTER_SANITIZE})
  # With its instrumentation g++ 12 takes parts of the standard library for uninitialised.
  add_compile_options(-Wno-maybe-uninitialized)
  if(MUSTER_SANITIZE MATCHES "undefined")
    # CAF binds null references in its actor start-up code; that check would stop every run.
    add_compile_options(-fno-sanitize=null -fno-sanitize-recover=undefined)
  endif()
endif()

find_program(MUSTER_MOLD mold)
if(MUSTER_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
find_program(MUSTER_CCACHE ccache)
if(MUSTER_CCACHE)
  set(sloppiness "CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime")
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env ${sloppiness} ${MUSTER_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env ${sloppiness} ${MUSTER_CCACHE})
endif()
