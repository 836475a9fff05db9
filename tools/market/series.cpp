#include "tools/market/series.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ostream>
#include <set>

#include "config/csv.hpp"
#include "config/text_file.hpp"
#include "config/time_text.hpp"

namespace muster::market {
namespace {

constexpr std::array<CsvColumn, 4> kTickColumns = {{{"timestamp_utc", true},
                                                    {"instance_type", true},
                                                    {"availability_zone", true},
                                                    {"usd_per_hour", true}}};
constexpr NumberRange kPrices{.low = 0, .high = 1e5, .above_low = true};
/// Most difference of a decimal price from the binary number it is read as, in millionths.
constexpr double kNear = 1e-3;

bool is_letter(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The number that the text is when it is made of digits alone.
std::optional<int> digits(std::string_view text) {
  int number = 0;
  for (const char c : text) {
    if (!is_digit(c)) return std::nullopt;
    number = number * 10 + (c - '0');
  }
  return number;
}

/// Where the name of the zone itself begins in the name of a zone with its region.
std::size_t own_part(std::string_view zone) {
  const std::size_t size = zone.size();
  // "us-west-2a"
  if (size > 2 && is_letter(zone[size - 1]) && is_digit(zone[size - 2])) return size - 1;
  // "use1-az4", which is the same zone in all accounts; "us-central1-a"; "westeurope-2"
  const std::size_t dash = zone.rfind('-');
  return dash == std::string_view::npos || dash + 1 == size ? 0 : dash + 1;
}

/// "us-west-2" of "us-west-2a".
std::string_view region_of(std::string_view zone) {
  return zone.substr(0, own_part(zone));
}

/// Series are told apart by their zones' letters, which each region has.
void check_region(CsvReader& reader, std::string_view zone, std::string& region) {
  if (region.empty()) region = region_of(zone);
  if (region_of(zone) == region) return;
  reader.complain("availability_zone",
                  fmt::format("'{}' is not in {} as those before; one region at a time can be read",
                              zone, region));
}

/// `met` are the zones of what is asked for.
void read_tick(CsvReader& reader, const TickFilter& filter, std::set<std::string>& met,
               std::string& region, SeriesMap& series) {
  const Moment moment = reader.moment("timestamp_utc");
  // Prices hold from a whole second on.
  const Seconds at = std::chrono::floor<std::chrono::seconds>(moment.at).count();
  SeriesKey key{reader.needed_text("instance_type"),
                zone_letter(reader.needed_text("availability_zone"))};
  const double micro = reader.number("usd_per_hour", kPrices) * kMicro;
  const auto price = static_cast<std::int64_t>(std::llround(micro));
  if (std::abs(micro - static_cast<double>(price)) > kNear) {
    reader.complain("usd_per_hour", "has to be a multiple of 0.000001");
  }
  if (filter.type && *filter.type != key.type) return;
  met.insert(key.zone);
  if (filter.zone && zone_letter(*filter.zone) != key.zone) return;
  check_region(reader, reader.text("availability_zone"), region);
  series[std::move(key)].push_back({at, price});
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
  // Days of any year, which those of points in time to the nanosecond are not.
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  const auto year = digits(text.substr(0, 4));
  const auto month = digits(text.substr(5, 2));
  const auto day = digits(text.substr(8, 2));
  if (!year || !month || !day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{*year},
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return Seconds{std::chrono::sys_days{date}.time_since_epoch().count()} * kDay;
}

std::string day_text(Seconds at) {
  const std::chrono::sys_days days{
      std::chrono::days{static_cast<int>(at / kDay - (at % kDay < 0 ? 1 : 0))}};
  const std::chrono::year_month_day date{days};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

std::string zone_letter(std::string_view zone) {
  return std::string(zone.substr(own_part(zone)));
}

Expected<SeriesMap, ConfigError> read_ticks(const std::filesystem::path& file,
                                            const TickFilter& filter) {
  auto stream = CsvStream::open(file);
  if (!stream) return Failure<ConfigError>{stream.error().code, stream.error().message};
  ErrorList errors;
  CsvReader reader(stream.value(), kTickColumns, errors);
  SeriesMap series;
  std::string region;
  std::set<std::string> met;
  // A file may have hundreds of thousands of rows: one that is wrong is enough to say so.
  while (errors.empty()) {
    const auto row = stream->next();
    if (!row) return Failure<ConfigError>{row.error().code, row.error().message};
    if (row.value() == nullptr || !reader.select(*row.value())) break;
    read_tick(reader, filter, met, region, series);
  }
  if (errors.empty() && series.empty()) {
    std::string message = "has no ticks";
    if (filter.type) message += fmt::format(" of type '{}'", *filter.type);
    if (filter.zone) message += fmt::format(" in zone '{}'", *filter.zone);
    if (filter.zone && !met.empty()) {
      message += fmt::format("; it has the {} {}", met.size() == 1 ? "zone" : "zones",
                             fmt::join(met, ", "));
    }
    errors.add({text_file_name(file)}, "", message);
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
    // Prices before the first one that was recorded are not known.
    kept.push_back({std::max(from, ticks.front().at), ticks.front().price});
    for (const Tick& tick : ticks) {
      if (tick.at >= to) break;
      if (tick.at <= from) {
        kept.front().price = tick.price;
      } else if (tick.at > kept.back().at) {
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
