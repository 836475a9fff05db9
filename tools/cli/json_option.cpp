#include "tools/cli/json_option.hpp"

namespace muster::cli {

void add_json_option(CLI::App& command, std::string& json, const std::string& document) {
  // A word that a required argument still needs is not taken for the FILE.
  command
      .add_option("--json", json,
                  document + " as JSON: to the standard output, or into the FILE that is given")
      ->expected(0, 1)
      ->type_name("FILE")
      ->option_text("[FILE]")
      ->default_str("-");
}

}  // namespace muster::cli
