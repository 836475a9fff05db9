// Reads measured services of the past and writes the file that policies predict sizes from.

#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <string>

#include "learning/services/past_services.hpp"
#include "model/rounded_text.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "tools/client/printable.hpp"
#include "tools/train/past_services.hpp"

namespace muster::cli {
namespace {

struct TrainServicesOptions {
  std::string input;
  std::string out;
  std::uint32_t most = kMostPastServices;
};

int run_command(const TrainServicesOptions& options) {
  if (!can_write(options.out)) return kFailed;
  const auto measured = train::read_past_services(options.input, options.most);
  if (!measured) {
    complain(measured.error().message);
    return measured.error().code == ConfigError::unreadable ? kFailed : kUsage;
  }
  const std::string text = past_services_text(measured->services);
  if (!write_output(options.out, [&](std::ostream& out) { out << text; })) return kFailed;
  if (options.out == "-") return kDone;
  std::string said =
      fmt::format("{}, measured at {}", count_text(measured->services.size(), "service"),
                  count_text(measured->rows, "size"));
  if (measured->left_out > 0) said += fmt::format("; the first {} left out", measured->left_out);
  std::cout << client::printable_lines(
      fmt::format("{}\nto predict from them: --policy lrasched,history={}\n", said, options.out));
  return kDone;
}

}  // namespace

void add_train_services(CLI::App& train, int& exit_code) {
  auto options = std::make_shared<TrainServicesOptions>();
  CLI::App* command = train.add_subcommand(
      "services", "Learn from measured services how large a replica has to be");
  command
      ->add_option("file", options->input,
                   "CSV file with a row for each size of each service: service, cores, memory_gib, "
                   "performance (greater is better); - for standard input")
      ->required();
  command->add_option("--out", options->out, "the file to write; - for standard output")
      ->required();
  command->add_option("--most", options->most, "services to keep, the last ones of the file")
      ->check(CLI::Range(std::uint32_t{1}, kMostPastServices))
      ->capture_default_str();
  command->callback([options, &exit_code] { exit_code = run_command(*options); });
}

}  // namespace muster::cli
