#pragma once

#include <filesystem>
#include <string>

namespace muster::test {

/// The root of the project's sources that the tests were built from.
std::filesystem::path source_dir();

/// The program of the given name that was built with the running one.
std::filesystem::path built_program(const std::string& name);

}  // namespace muster::test
