#include "config/price_series_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "config/csv.hpp"
#include "config/shipped_file.hpp"

namespace muster {
namespace {

constexpr std::array<CsvColumn, 7> kPriceColumns = {{{"time_s", true},
                                                     {"type", true},
                                                     {"market", true},
                                                     {"zone", true},
                                                     {"price_usd_h", true},
                                                     {"available", true},
                                                     {"revoke", false}}};
constexpr NumberRange kPrices{.low = 0, .high = 1e5};

bool flag(CsvReader& reader, std::string_view column) {
  const std::string& text = reader.text(column);
  if (text == "1") return true;
  if (text != "0") reader.complain(column, fmt::format("has to be 0 or 1; it is '{}'", text));
  return false;
}

PricePoint read_step(CsvReader& reader, const Catalog& catalog) {
  PricePoint step;
  step.at = reader.seconds("time_s", kLongestSeries);
  Offering& offering = step.offering;
  offering.type = reader.needed_text("type");
  const auto type = catalog.find(offering.type);
  if (!type && !offering.type.empty()) {
    reader.complain("type", fmt::format("the catalog has no type '{}'", offering.type));
  }
  const std::string& market = reader.needed_text("market");
  if (market == name_of(Market::spot)) {
    offering.market = Market::spot;
    if (type && !catalog[*type].spot) {
      reader.complain("market", fmt::format("the catalog has no spot price of '{}', so nothing "
                                            "of it is rented on that market",
                                            offering.type));
    }
  } else if (market != name_of(Market::on_demand) && !market.empty()) {
    reader.complain("market", fmt::format("has to be spot or on-demand; it is '{}'", market));
  }
  offering.zone = reader.text("zone");
  offering.price = Price::from_usd_h(reader.number("price_usd_h", kPrices));
  offering.available = flag(reader, "available");
  if (reader.has("revoke")) step.revoke = flag(reader, "revoke");
  if (step.revoke && offering.market != Market::spot) {
    reader.complain("revoke", "only spot instances are taken back");
  }
  return step;
}

}  // namespace

Expected<PriceSeries, ConfigError> load_price_series(const std::filesystem::path& file,
                                                     const Catalog& catalog) {
  auto stream = CsvStream::open(prices_path(file));
  if (!stream) return Failure<ConfigError>{stream.error().code, stream.error().message};
  ErrorList errors;
  CsvReader reader(stream.value(), kPriceColumns, errors);
  PriceSeries series;
  std::map<std::pair<std::string, Market>, bool> in_zones;
  // A series may be long: the first row that is wrong ends the reading.
  while (errors.empty()) {
    const auto row = stream->next();
    if (!row) return Failure<ConfigError>{row.error().code, row.error().message};
    if (row.value() == nullptr) break;
    if (!reader.select(*row.value())) break;
    series.steps.push_back(read_step(reader, catalog));
    const Offering& offering = series.steps.back().offering;
    const bool has_zone = !offering.zone.empty();
    const auto first = in_zones.try_emplace({offering.type, offering.market}, has_zone).first;
    if (first->second == has_zone) continue;
    reader.complain("zone", fmt::format("{} has rows {} before, of the same market", offering.type,
                                        has_zone ? "without a zone" : "with zones"));
  }
  if (errors.empty() && series.steps.empty()) errors.add({file.string()}, "", "has no rows");
  if (!errors.empty()) return Failure<ConfigError>{ConfigError::invalid, errors.text()};
  // Stable: of steps at one time the last in the file counts.
  std::stable_sort(series.steps.begin(), series.steps.end(),
                   [](const PricePoint& a, const PricePoint& b) { return a.at < b.at; });
  return series;
}

}  // namespace muster
