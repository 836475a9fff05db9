#include <memory>
#include <string>

#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "tools/replay/workload/formats.hpp"
#include "tools/replay/workload/workload.hpp"

namespace muster::cli {
namespace {

struct ConvertOptions {
  std::string from;
  std::string input;
  std::string output = "-";
  std::uint32_t max_jobs = 0;
};

int run_command(const ConvertOptions& options) {
  WorkloadConfig config;
  config.format = options.from;
  config.path = options.input;
  config.max_jobs = options.max_jobs;
  // The seed is of no effect: only formats that are read from files are offered.
  const auto workload = replay::read_workload(config, 0);
  if (!workload) {
    complain(workload.error().message);
    return kFailed;
  }
  const bool written = write_output(options.output, [&](std::ostream& out) {
    replay::write_workload_csv(workload.value(), out);
  });
  return written ? kDone : kFailed;
}

}  // namespace

void add_convert(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ConvertOptions>();
  CLI::App* command =
      app.add_subcommand("convert", "Convert a workload to Muster's own workload CSV");
  command->add_option("--from", options->from, "format of the input")
      ->required()
      ->check(CLI::IsMember(replay::names_of(replay::trace_formats())));
  command->add_option("input", options->input, "the workload")->required();
  command->add_option("output", options->output, "the CSV to write; - for standard output");
  command->add_option("--max-jobs", options->max_jobs, "only the first so many jobs; 0: all")
      ->check(CLI::Range(0, 10'000'000));
  command->callback([options, &exit_code] { exit_code = run_command(*options); });
}

}  // namespace muster::cli
