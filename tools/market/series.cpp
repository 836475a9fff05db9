#include "tools/market/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ostream>

#include "config/csv.hpp"

namespace muster::market {
namespace {

constexpr std::array<CsvColumn, 4> kTickColumns = {{{"timestamp_utc", true},
                                                    {"instance_type", true},
                                                    {"availability_zone", true},
                                                    {"usd_per_hour", true}}};
constexpr NumberRange kPrices{.low = 0, .high = 1e5, .above_low = true};
/// What a decimal price may differ by from the binary number it is read as, in millionths.
constexpr double kNear = 1e-3;

/// The number of `text` that has `length` digits from `at` on.
std::optional<int> digits(std::string_view text, std::size_t at, std::size_t length) {
  int number = 0;
  for (const char c : text.substr(at, length)) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  return number;
}

/// "us-west-2" of "us-west-2a".
std::string_view region_of(std::string_view zone) {
  return zone.substr(0, zone.size() - zone_letter(zone).size());
}

/// Series are told apart by their zones' letters, which each region has.
void check_region(CsvReader& reader, std::string_view zone, std::string& region) {
  if (region.empty()) region = region_of(zone);
  if (region_of(zone) == region) return;
  reader.complain("availability_zone",
                  fmt::format("'{}' is not in {} as those before; one region at a time can be read",
                              zone, region));
}

void read_tick(CsvReader& reader, const TickFilter& filter, std::string& region,
               SeriesMap& series) {
  const auto at = parse_utc(reader.text("timestamp_utc"));
  if (!at) {
    reader.complain("timestamp_utc", fmt::format("has to be a time such as 2016-02-25T11:58:59Z; "
                                                 "it is '{}'",
                                                 reader.text("timestamp_utc")));
  }
  SeriesKey key{reader.needed_text("instance_type"),
                zone_letter(reader.needed_text("availability_zone"))};
  const double micro = reader.number("usd_per_hour", kPrices) * kMicro;
  const auto price = static_cast<std::int64_t>(std::llround(micro));
  if (std::abs(micro - static_cast<double>(price)) > kNear) {
    reader.complain("usd_per_hour", "has to be a multiple of 0.000001");
  }
  if (!at || (filter.type && *filter.type != key.type)) return;
  if (filter.zone && *filter.zone != key.zone) return;
  check_region(reader, reader.text("availability_zone"), region);
  series[std::move(key)].push_back({*at, price});
}

/// Of ticks at one time the last in the file counts, and alone: times rise.
void order_by_time(std::vector<Tick>& ticks) {
  std::stable_sort(ticks.begin(), ticks.end(),
                   [](const Tick& a, const Tick& b) { return a.at < b.at; });
  std::size_t kept = 0;
  for (const Tick& tick : ticks) {
    const bool again = kept > 0 && ticks[kept - 1].at == tick.at;
    ticks[again ? kept - 1 : kept++] = tick;
  }
  ticks.resize(kept);
}

}  // namespace

std::optional<Seconds> parse_day(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  const auto year = digits(text, 0, 4);
  const auto month = digits(text, 5, 2);
  const auto day = digits(text, 8, 2);
  if (!year || !month || !day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{*year},
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return Seconds{std::chrono::sys_days{date}.time_since_epoch().count()} * kDay;
}

std::optional<Seconds> parse_utc(std::string_view text) {
  if (text.size() != 20 || text[10] != 'T' || text[13] != ':' || text[16] != ':') {
    return std::nullopt;
  }
  const auto day = parse_day(text.substr(0, 10));
  const auto hour = digits(text, 11, 2);
  const auto minute = digits(text, 14, 2);
  const auto second = digits(text, 17, 2);
  if (text[19] != 'Z' || !day || !hour || !minute || !second) return std::nullopt;
  if (*hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
  return *day + *hour * 3600 + *minute * 60 + *second;
}

std::string day_text(Seconds at) {
  const std::chrono::sys_days days{
      std::chrono::days{static_cast<int>(at / kDay - (at % kDay < 0 ? 1 : 0))}};
  const std::chrono::year_month_day date{days};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

std::string zone_letter(std::string_view zone) {
  const std::size_t digit = zone.find_last_of("0123456789");
  return std::string(digit == std::string_view::npos ? zone : zone.substr(digit + 1));
}

Expected<SeriesMap, ConfigError> read_ticks(const std::filesystem::path& file,
                                            const TickFilter& filter) {
  auto stream = CsvStream::open(file);
  if (!stream) return Failure<ConfigError>{stream.error().code, stream.error().message};
  ErrorList errors;
  CsvReader reader(stream.value(), kTickColumns, errors);
  SeriesMap series;
  std::string region;
  // A file may have hundreds of thousands of rows: one that is wrong is enough to say so.
  while (errors.empty()) {
    const auto row = stream->next();
    if (!row) return Failure<ConfigError>{row.error().code, row.error().message};
    if (row.value() == nullptr || !reader.select(*row.value())) break;
    read_tick(reader, filter, region, series);
  }
  if (errors.empty() && series.empty()) {
    errors.add({file.string()}, "", "has no ticks of what is asked for");
  }
  if (!errors.empty()) return Failure<ConfigError>{ConfigError::invalid, errors.text()};
  for (auto& [key, ticks] : series) order_by_time(ticks);
  return series;
}

SeriesMap cut(const SeriesMap& series, Seconds from, Seconds to) {
  SeriesMap part;
  for (const auto& [key, ticks] : series) {
    if (ticks.empty() || ticks.front().at >= to) continue;
    std::vector<Tick>& kept = part[key];
    kept.push_back({from, ticks.front().price});
    for (const Tick& tick : ticks) {
      if (tick.at >= to) break;
      if (tick.at <= from) {
        kept.front().price = tick.price;
      } else {
        kept.push_back(tick);
      }
    }
  }
  return part;
}

void write_prices(const SeriesMap& series, Seconds zero, std::ostream& out) {
  struct Row {
    const SeriesKey* key = nullptr;
    Tick tick;
  };
  std::vector<Row> rows;
  for (const auto& [key, ticks] : series) {
    for (const Tick& tick : ticks) rows.push_back({&key, tick});
  }
  // By time; stable, so that the order of the keys, not that of addresses, settles ties.
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.tick.at < b.tick.at; });
  out << "time_s,type,market,zone,price_usd_h,available\n";
  for (const Row& row : rows) {
    const SeriesKey& key = *row.key;
    const std::int64_t micro = row.tick.price;
    std::string price = fmt::format("{}.{:06}", micro / 1'000'000, micro % 1'000'000);
    if (micro % kQuantum == 0) price.resize(price.size() - 2);
    out << fmt::format("{},{},spot,{},{},1\n", row.tick.at - zero, csv_field(key.type),
                       csv_field(key.zone), price);
  }
}

}  // namespace muster::market
