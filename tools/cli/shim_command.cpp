#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tools/cli/commands.hpp"
#include "workers/process/keeper/keeper.hpp"
#include "workers/process/shim/shim.hpp"
#include "workers/process/shim/shim_server.hpp"

namespace muster::cli {

std::optional<int> run_as_keeper(int argc, char** argv) {
  if (argc < 2 || std::string_view(argv[1]) != process::kKeepVerb) return std::nullopt;
  return process::keep_main(argc, argv);
}

void add_shim(CLI::App& app, int& exit_code) {
  auto folder = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("shim", "Supervise one attempt");
  command->group("");  // hidden: not for people
  command->add_option("attempt_dir", *folder, "the attempt's folder")->required();
  command->callback([folder, &exit_code] { exit_code = take_over_attempt(*folder); });

  auto attempts = std::make_shared<std::string>();
  auto room = std::make_shared<std::string>();
  CLI::App* server =
      app.add_subcommand(kShimServerVerb, "Fork the shims of a worker, which calls it");
  server->group("");
  server->add_option("attempts", *attempts, "the folder of the attempts' folders")->required();
  server->add_option("room", *room, "room for a longer name in a list of processes")->required();
  server->callback([attempts, &exit_code] { exit_code = serve_shims(*attempts); });
}

}  // namespace muster::cli
