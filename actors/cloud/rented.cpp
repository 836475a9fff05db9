#include "actors/cloud/rented.hpp"

namespace muster {

RentState state_of(const RentedRecord& record) {
  if (record.refused) return RentState::refused;
  if (record.gone_at) return RentState::gone;
  if (record.ending) return RentState::ending;
  return record.up_at ? RentState::up : RentState::ordered;
}

RentedInstance view_of(const RentedRecord& record, Instant now) {
  return {record.instance,  record.type,          record.market,
          state_of(record), record.up_at,         record.gone_at,
          record.notice,    record.price.usd_h(), charge_of(record, now).usd()};
}

}  // namespace muster
