# Every library the project uses; all come from Debian 12 (tools/packages.txt).
find_package(CAF 0.17.6 REQUIRED COMPONENTS core io openssl)
find_package(OpenSSL REQUIRED)
find_package(ZLIB REQUIRED)
find_package(fmt CONFIG REQUIRED)
find_package(CapnProto CONFIG REQUIRED)
find_package(RocksDB CONFIG REQUIRED)
find_package(spdlog CONFIG REQUIRED)
find_package(CURL REQUIRED)
find_package(prometheus-cpp CONFIG REQUIRED)
find_package(tomlplusplus CONFIG REQUIRED)
find_package(nlohmann_json CONFIG REQUIRED)
find_package(CLI11 CONFIG REQUIRED)
find_package(GTest CONFIG REQUIRED)
find_package(benchmark CONFIG REQUIRED)
find_package(rapidcheck CONFIG REQUIRED)

# Of LEMON only headers are used, by one file that says why it is compiled apart.
find_path(LEMON_INCLUDE_DIR lemon/matching.h REQUIRED)

find_path(CCTZ_INCLUDE_DIR cctz/time_zone.h REQUIRED)
find_library(CCTZ_LIBRARY cctz REQUIRED)
add_library(cctz INTERFACE)
target_include_directories(cctz SYSTEM INTERFACE "${CCTZ_INCLUDE_DIR}")
target_link_libraries(cctz INTERFACE "${CCTZ_LIBRARY}")

find_path(LIBCSV_INCLUDE_DIR csv.h REQUIRED)
find_library(LIBCSV_LIBRARY csv REQUIRED)
add_library(libcsv INTERFACE)
target_include_directories(libcsv SYSTEM INTERFACE "${LIBCSV_INCLUDE_DIR}")
target_link_libraries(libcsv INTERFACE "${LIBCSV_LIBRARY}")

# What trains the classifier of long and short jobs.
find_path(LIBSVM_INCLUDE_DIR libsvm/svm.h REQUIRED)
find_library(LIBSVM_LIBRARY svm REQUIRED)
add_library(libsvm INTERFACE)
target_include_directories(libsvm SYSTEM INTERFACE "${LIBSVM_INCLUDE_DIR}")
target_link_libraries(libsvm INTERFACE "${LIBSVM_LIBRARY}")

find_path(ASIO_INCLUDE_DIR asio.hpp REQUIRED)
add_library(asio INTERFACE)
target_include_directories(asio SYSTEM INTERFACE "${ASIO_INCLUDE_DIR}")
# Whether Asio 1.22 finds aligned_alloc depends on what was included before it: say it once for all.
target_compile_definitions(asio INTERFACE ASIO_STANDALONE ASIO_HAS_STD_ALIGNED_ALLOC=1)
target_link_libraries(asio INTERFACE OpenSSL::SSL OpenSSL::Crypto Threads::Threads)

# What solves the linear programs of lower bounds. Its headers lie in coin/.
find_path(CLP_INCLUDE_DIR coin/ClpSimplex.hpp REQUIRED)
find_library(CLP_LIBRARY Clp REQUIRED)
find_library(COINUTILS_LIBRARY CoinUtils REQUIRED)
add_library(clp INTERFACE)
target_include_directories(clp SYSTEM INTERFACE "${CLP_INCLUDE_DIR}" "${CLP_INCLUDE_DIR}/coin")
target_link_libraries(clp INTERFACE "${CLP_LIBRARY}" "${COINUTILS_LIBRARY}")

# Cuts HTTP requests and answers into their parts: headers alone, of which two files use a few.
find_path(BEAST_INCLUDE_DIR boost/beast/http/basic_parser.hpp REQUIRED)
