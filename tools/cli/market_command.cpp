#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "config/catalog_file.hpp"
#include "config/numbers.hpp"
#include "config/price_series_file.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "tools/client/printable.hpp"
#include "tools/market/describe.hpp"
#include "tools/market/generate.hpp"
#include "tools/market/series.hpp"
#include "tools/market/tick_shape.hpp"
#include "tools/market/weekly_stats.hpp"

namespace muster::cli {
namespace {

struct MarketOptions {
  std::string input;
  std::string output = "-";
  std::string catalog;
  std::string stats;
  std::string ticks;
  std::string region;
  std::string family;
  std::string type;
  std::string zone;
  std::string from;
  std::string to;
  std::uint64_t seed = 1;
  bool cheapest_zone = false;
  bool cap = false;
};

int failed(const std::string& message) {
  complain(message);
  return kFailed;
}

/// Days beyond which cloud.prices takes no row.
constexpr market::Seconds kMostDays =
    std::chrono::duration_cast<std::chrono::seconds>(kLongestSeries).count() / market::kDay;

/// Those days that are given, or a complaint.
bool read_days(const MarketOptions& options, market::Seconds& from, market::Seconds& to) {
  for (const auto& [name, text, day] :
       {std::tuple{"--from", &options.from, &from}, std::tuple{"--to", &options.to, &to}}) {
    if (text->empty()) continue;
    const auto parsed = market::parse_day(*text);
    if (!parsed) {
      complain(fmt::format("{} has to be a day such as 2017-06-05; it is '{}'", name, *text));
      return false;
    }
    *day = *parsed;
  }
  if (options.from.empty() || options.to.empty()) return true;
  if (from >= to) complain("--to has to be later than --from");
  return from < to;
}

/// Why there can be no file of these times; empty: there can.
std::string why_no_file(const MarketOptions& options, market::Seconds from, market::Seconds to) {
  if (from >= to) {
    return options.to.empty() ? fmt::format("has no ticks from {} on", options.from)
                              : fmt::format("has no ticks before {}", options.to);
  }
  if (to - from <= kMostDays * market::kDay) return {};
  return fmt::format("{} days are more than the {} that cloud.prices takes; give --from and --to",
                     (to - from) / market::kDay, kMostDays);
}

bool write_series(const MarketOptions& options, const market::SeriesMap& series,
                  market::Seconds zero) {
  return write_output(options.output,
                      [&](std::ostream& out) { market::write_prices(series, zero, out); });
}

int run_convert(const MarketOptions& options) {
  market::TickFilter filter;
  if (!options.type.empty()) filter.type = options.type;
  if (!options.zone.empty()) filter.zone = options.zone;
  const auto series = market::read_ticks(options.input, filter);
  if (!series) return failed(series.error().message);
  market::Seconds from = std::numeric_limits<market::Seconds>::max();
  market::Seconds to = 0;
  for (const auto& [key, ticks] : series.value()) {
    from = std::min(from, ticks.front().at);
    to = std::max(to, ticks.back().at + 1);
  }
  if (!read_days(options, from, to)) return kUsage;
  const std::string why = why_no_file(options, from, to);
  if (!why.empty()) return failed(options.input + ": " + why);
  const market::SeriesMap part = market::cut(series.value(), from, to);
  if (part.empty()) return failed(options.input + ": has no ticks before " + options.to);
  return write_series(options, part, from) ? kDone : kFailed;
}

/// The variant of a market that is asked for.
market::SeriesMap variant(const MarketOptions& options, market::SeriesMap series,
                          const Catalog& catalog) {
  if (!options.zone.empty()) series = market::one_zone(series, market::zone_letter(options.zone));
  if (options.cheapest_zone) series = market::cheapest_zone(series);
  if (options.cap) series = market::capped_at_on_demand(series, catalog);
  return series;
}

/// Whether the statistics say anything of the days that are asked for; says so when they do not
/// reach over all of them, for weeks that they lack are made like the nearest one that they have.
bool covers(const market::WeeklyStats& stats, const market::MarketRequest& request,
            const std::string& file) {
  const market::StatsSpan span = market::span_of(stats);
  const std::string has = fmt::format("{}: has weeks from {} to {}", file,
                                      market::day_text(span.from), market::day_text(span.to));
  const std::string asked =
      fmt::format("{} to {}", market::day_text(request.from), market::day_text(request.to));
  if (request.to <= span.from || request.from >= span.to) {
    complain(fmt::format("{}: --from and --to have to be among these; they are {}", has, asked));
    return false;
  }
  if (request.from < span.from || request.to > span.to) {
    complain(fmt::format("{}: of {} the others are made like the nearest week", has, asked));
  }
  return true;
}

int run_generate(const MarketOptions& options) {
  market::MarketRequest request;
  request.seed = options.seed;
  if (!read_days(options, request.from, request.to)) return kUsage;
  const std::string why = why_no_file(options, request.from, request.to);
  if (!why.empty()) {
    complain(why);
    return kUsage;
  }
  const auto catalog = load_catalog(options.catalog);
  if (!catalog) return failed(catalog.error().message);
  const auto stats = market::read_weekly_stats(options.stats, {options.region, options.family});
  if (!stats) return failed(stats.error().message);
  if (!covers(stats.value(), request, options.stats)) return kFailed;
  const auto ticks = market::read_ticks(options.ticks);
  if (!ticks) return failed(ticks.error().message);
  const auto shape = market::shape_of(ticks.value(), catalog.value());
  if (!shape) return failed(options.ticks + ": " + shape.error().message);
  const auto made = market::generate(stats.value(), shape.value(), catalog.value(), request);
  if (!made) return failed(options.stats + ": " + made.error().message);
  const market::SeriesMap series = variant(options, made->series, catalog.value());
  if (series.empty()) {
    std::set<std::string> zones;
    for (const auto& [key, prices] : made->series) zones.insert(key.zone);
    return failed(fmt::format("--zone: there is no zone '{}'; there are: {}", options.zone,
                              fmt::join(zones, ", ")));
  }
  if (!write_series(options, series, request.from)) return kFailed;
  // Standard output holds one document at a time.
  if (options.output != "-") std::cout << client::printable_lines(market::fit_table(made->weeks));
  return kDone;
}

/// A length of time in seconds; absent: `fallback`.
std::optional<market::Seconds> seconds_of(const std::string& text, market::Seconds fallback) {
  if (text.empty()) return fallback;
  const auto length = parse_duration(text);
  if (!length || *length < Duration::zero()) return std::nullopt;
  return std::chrono::duration_cast<std::chrono::seconds>(*length).count();
}

int run_describe(const MarketOptions& options) {
  const auto catalog = load_catalog(options.catalog);
  if (!catalog) return failed(catalog.error().message);
  const auto prices = load_price_series(options.input, catalog.value());
  if (!prices) return failed(prices.error().message);
  const market::SeriesMap series = market::spot_series(prices.value());
  if (series.empty()) return failed(options.input + ": has no spot prices");
  market::Seconds last = 0;
  for (const auto& [key, ticks] : series) {
    const InstanceType& type = catalog.value()[*catalog->find(key.type)];
    if (type.capacity[Resource::cpu] <= 0) {
      return failed(fmt::format("{}: {} has no vCPUs to compare by", options.catalog, key.type));
    }
    last = std::max(last, ticks.back().at + 1);
  }
  const auto from = seconds_of(options.from, 0);
  const auto to = seconds_of(options.to, last);
  if (!from || !to || *from >= *to) {
    complain(
        fmt::format("--from and --to have to be lengths of time such as 57d, the second the "
                    "longer one; they are '{}' and '{}'",
                    options.from.empty() ? "0s" : options.from,
                    options.to.empty() ? fmt::format("{}s", last) : options.to));
    return kUsage;
  }
  if (market::cut(series, *from, *to).empty()) {
    return failed(options.input + ": has no spot prices between --from and --to");
  }
  std::cout << client::printable_lines(
      market::facts_table(market::describe(series, catalog.value(), *from, *to)));
  return kDone;
}

void add_convert_ticks(CLI::App& market, int& exit_code) {
  auto options = std::make_shared<MarketOptions>();
  CLI::App* command =
      market.add_subcommand("convert", "Turn recorded ticks into a file for cloud.prices");
  command->add_option("ticks", options->input, "CSV of ticks, packed or not; - for standard input")
      ->required();
  command->add_option("output", options->output, "the CSV to write; - for standard output");
  command->add_option("--type", options->type, "only this instance type");
  command->add_option("--zone", options->zone, "only this zone: a, us-west-2a, use1-az4, ...");
  command->add_option("--from", options->from,
                      "first day; 0 s of the file is its 00:00 UTC, or else the first tick");
  command->add_option("--to", options->to, "the day before which it ends");
  command->callback([options, &exit_code] { exit_code = run_convert(*options); });
}

void add_generate(CLI::App& market, int& exit_code) {
  auto options = std::make_shared<MarketOptions>();
  CLI::App* command = market.add_subcommand(
      "generate", "Make up a spot market that has the statistics of a real one");
  command->add_option("--stats", options->stats, "CSV of weekly statistics")->required();
  command->add_option("--ticks", options->ticks, "CSV of ticks: their gaps, spikes and sizes")
      ->required();
  command->add_option("--catalog", options->catalog, "on-demand prices of the types")->required();
  command->add_option("--region", options->region, "region of the statistics")->required();
  command->add_option("--family", options->family, "family of types, such as m4")->required();
  command->add_option("--from", options->from, "first day; 0 s is its 00:00 UTC")->required();
  command->add_option("--to", options->to, "the day before which it ends")->required();
  command->add_option("--seed", options->seed, "another seed, another market")
      ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()))
      ->capture_default_str();
  command->add_option("--out", options->output, "the CSV to write; - for standard output")
      ->required();
  auto* zone =
      command->add_option("--zone", options->zone, "only this zone: a, us-west-2a, use1-az4, ...");
  command->add_flag("--cheapest-zone", options->cheapest_zone, "of each type the cheapest zone")
      ->excludes(zone);
  command->add_flag("--cap-at-on-demand", options->cap, "no price above the on-demand one");
  command->callback([options, &exit_code] { exit_code = run_generate(*options); });
}

void add_describe(CLI::App& market, int& exit_code) {
  auto options = std::make_shared<MarketOptions>();
  CLI::App* command = market.add_subcommand("describe", "Describe a file for cloud.prices");
  command->add_option("prices", options->input, "the file")->required();
  command->add_option("--catalog", options->catalog, "vCPUs and on-demand prices of the types")
      ->required();
  command->add_option("--from", options->from, "leave out what is before, such as 57d");
  command->add_option("--to", options->to, "leave out what is after");
  command->callback([options, &exit_code] { exit_code = run_describe(*options); });
}

}  // namespace

void add_market(CLI::App& app, int& exit_code) {
  CLI::App* market = app.add_subcommand("market", "Series of spot prices: convert, make, describe");
  market->require_subcommand(1);
  add_convert_ticks(*market, exit_code);
  add_generate(*market, exit_code);
  add_describe(*market, exit_code);
}

}  // namespace muster::cli
