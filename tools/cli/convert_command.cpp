#include <fmt/format.h>

#include <memory>
#include <string>

#include "config/text_file.hpp"
#include "replay/workload/formats.hpp"
#include "replay/workload/row_spool.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"

namespace muster::cli {
namespace {

struct ConvertOptions {
  std::string from;
  std::string input;
  std::string output = "-";
  std::uint32_t max_jobs = 0;
  bool skip_bad = false;
};

/// Says what of the input is not in the output.
void tell_left_out(const std::string& input, const replay::LeftOut& left_out) {
  std::uint64_t rows = 0;
  for (const auto* counted : {&left_out.by_reason, &left_out.bad}) {
    for (const auto& [reason, count] : *counted) rows += count;
  }
  const std::string sum =
      rows == 0 ? ""
                : fmt::format("{} {} no {}: ", rows, rows == 1 ? "row is" : "rows are",
                              rows == 1 ? "job" : "jobs");
  const std::string text = left_out.text();
  if (!text.empty()) complain(fmt::format("{}: {}{}", text_file_name(input), sum, text));
  if (!left_out.first_bad.empty()) complain("the first bad row: " + left_out.first_bad);
}

int run_command(const ConvertOptions& options) {
  // Before the reading, which may take long.
  if (!can_write(options.output)) return kFailed;
  WorkloadConfig config;
  config.format = options.from;
  config.path = options.input;
  config.skip_bad = options.skip_bad;
  replay::RowSpool rows;
  const auto facts = replay::stream_trace(options.from, config, rows);
  if (!facts) {
    complain(facts.error().message);
    return kFailed;
  }
  bool read = true;
  const bool written = write_or_drop(options.output, [&](std::ostream& out) {
    return read = rows.write(facts.value(), options.max_jobs, out);
  });
  if (!read) complain(rows.failure());
  if (!read || !written) return kFailed;
  tell_left_out(options.input, facts->left_out);
  return kDone;
}

}  // namespace

void add_convert(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ConvertOptions>();
  CLI::App* command =
      app.add_subcommand("convert", "Convert a workload to Muster's own workload CSV, row by row");
  command->add_option("--from", options->from, "format of the input")
      ->required()
      ->check(CLI::IsMember(replay::names_of(replay::trace_formats())));
  command->add_option("input", options->input, "the workload; - for standard input")->required();
  command->add_option("output", options->output, "the CSV to write; - for standard output");
  command
      ->add_option("--max-jobs", options->max_jobs,
                   "number of jobs to take, from the first; 0: all")
      ->check(CLI::Range(0, 10'000'000));
  command->add_flag("--skip-bad", options->skip_bad,
                    "skip rows that are wrong, and say how many and of which fields");
  command->callback([options, &exit_code] { exit_code = run_command(*options); });
}

}  // namespace muster::cli
