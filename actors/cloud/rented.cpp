#include "actors/cloud/rented.hpp"

#include <nlohmann/json.hpp>
#include <optional>

namespace muster {
namespace {

using Json = nlohmann::ordered_json;

Json seconds_or_null(const std::optional<Instant>& when) {
  return when ? Json(to_seconds(*when)) : Json(nullptr);
}

}  // namespace

RentState state_of(const RentedRecord& record) {
  if (record.refused) return RentState::refused;
  if (record.gone_at) return RentState::gone;
  if (record.ending) return RentState::ending;
  return record.up_at ? RentState::up : RentState::ordered;
}

std::string_view name_of(RentState state) {
  switch (state) {
    case RentState::ordered:
      return "ordered";
    case RentState::up:
      return "up";
    case RentState::ending:
      return "ending";
    case RentState::gone:
      return "gone";
    case RentState::refused:
      return "refused";
  }
  return "?";
}

std::string to_json(const RentedAnswer& answer) {
  Json rented = Json::array();
  for (const RentedRecord* record : answer.shown) {
    rented.push_back({{"instance", record->instance.value},
                      {"type", record->type},
                      {"market", std::string(name_of(record->market))},
                      {"state", std::string(name_of(state_of(*record)))},
                      {"up_s", seconds_or_null(record->up_at)},
                      {"gone_s", seconds_or_null(record->gone_at)},
                      {"notice_s", seconds_or_null(record->notice)},
                      {"usd_h", record->price.usd_h()},
                      {"usd", charge_of(*record, answer.now).usd()}});
  }
  const Json document = {{"rented", std::move(rented)},
                         {"total_usd", answer.total.usd()},
                         {"launched", answer.launched}};
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace muster
