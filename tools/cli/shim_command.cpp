#include <memory>
#include <string>

#include "tools/cli/commands.hpp"
#include "workers/process/shim.hpp"

namespace muster::cli {

void add_shim(CLI::App& app, int& exit_code) {
  auto folder = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("shim", "Supervise one attempt; workers call it");
  command->group("");  // hidden: not for people
  command->add_option("attempt_dir", *folder, "the attempt's folder")->required();
  command->callback([folder, &exit_code] {
    std::string program = "muster";
    std::string verb = "shim";
    char* words[] = {program.data(), verb.data(), folder->data(), nullptr};
    exit_code = shim_main(3, words);
  });
}

}  // namespace muster::cli
