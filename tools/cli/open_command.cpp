#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "tools/cli/client_options.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "tools/client/api_client.hpp"

// Opens the cluster's page in the user's browser. The token goes into the address' fragment, which
// browsers send to no server; the page takes it out of the address bar.

namespace muster::cli {
namespace {

struct OpenOptions {
  client::ContextOptions where;
  std::optional<std::uint64_t> job{};
  bool print = false;
};

/// Whether the program was started and has ended well.
bool run(const char* program, const std::string& word) {
  std::string name = program;
  std::string argument = word;
  char* const words[] = {name.data(), argument.data(), nullptr};
  pid_t child = 0;
  if (posix_spawnp(&child, program, nullptr, nullptr, words, environ) != 0) return false;
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int open_page(const OpenOptions& options) {
  const client::Environment environment = client::process_environment();
  const auto cluster = client::find_cluster(options.where, environment);
  if (!cluster) {
    complain(cluster.error().message);
    return kFailed;
  }
  std::string url = cluster->api + "/#token=" + client::url_escaped(cluster->token);
  if (options.job) url += "&job=" + std::to_string(*options.job);
  const bool has_display = environment("DISPLAY") || environment("WAYLAND_DISPLAY");
  if (options.print || !has_display) {
    print_text(url + "\n");
    return kDone;
  }
  if (run("xdg-open", url)) return kDone;
  complain("no browser could be started by xdg-open; this is the address:");
  print_text(url + "\n");
  return kFailed;
}

}  // namespace

void add_open(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<OpenOptions>();
  CLI::App* command =
      app.add_subcommand("open", "Open the cluster's page, or a job on it, in a browser");
  command->add_option("job", options->job, "id of a job that the page is to show")->check(is_id());
  command->add_flag("--print", options->print,
                    "only print the address, whose end is the token; so it is without a display");
  // Without the patience of other commands: nothing is asked here that could be tried again.
  add_where_options(*command, options->where);
  command->callback([options, &exit_code] { exit_code = open_page(*options); });
}

}  // namespace muster::cli
