#include "tools/cli/hand_over.hpp"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"

namespace muster::cli {

int hand_over(char** argv) {
  std::error_code error;
  // Links are followed, so that a link to muster, wherever it lies, need not have one beside it.
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path full = self.parent_path() / "muster-full";
  if (!error) execv(full.c_str(), argv);
  // Reached only when that has failed.
  if (!error) error.assign(errno, std::generic_category());
  complain("cannot run " + full.string() + ", which does all that needs no cluster to ask: " +
           error.message() + "; it has to stay beside muster");
  return kFailed;
}

}  // namespace muster::cli
