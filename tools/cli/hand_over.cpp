#include "tools/cli/hand_over.hpp"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "tools/cli/commands.hpp"
#include "tools/cli/full_program.hpp"
#include "tools/cli/output.hpp"

namespace muster::cli {

int hand_over(char** argv) {
  std::error_code error;
  const std::filesystem::path full = full_program(error);
  if (!error) execv(full.c_str(), argv);
  // Reached only when that has failed.
  if (!error) error.assign(errno, std::generic_category());
  complain("cannot run " + full.string() + ", which does all that needs no cluster to ask: " +
           error.message() + "; it has to stay beside muster");
  return kFailed;
}

}  // namespace muster::cli
