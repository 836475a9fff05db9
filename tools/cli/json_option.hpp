#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace muster::cli {

/// Adds `--json [FILE]`: the command's result as a document. `json` is empty without the option,
/// "-" (the standard output) without a FILE, as write_output() takes it. `document` is the noun for
/// --help: "the list".
void add_json_option(CLI::App& command, std::string& json, const std::string& document);

}  // namespace muster::cli
