#include "storage/records/record_fields.hpp"

#include <cctype>

// Finds where the members of a type lie in its record, from the schema. That the two agree is
// checked here, at the first use of a type: a wrong place would be written to disk for good.

namespace muster::record_codec {
namespace {

using capnp::schema::Value;

/// The bits of a member's default: records hold the difference to it.
std::uint64_t bits_of_default(Value::Reader value) {
  switch (value.which()) {
    case Value::BOOL:
      return value.getBool() ? 1 : 0;
    case Value::INT32:
      return static_cast<std::uint32_t>(value.getInt32());
    case Value::INT64:
      return static_cast<std::uint64_t>(value.getInt64());
    case Value::UINT32:
      return value.getUint32();
    case Value::UINT64:
      return value.getUint64();
    case Value::FLOAT64:
      return std::bit_cast<std::uint64_t>(value.getFloat64());
    case Value::ENUM:
      return value.getEnum();
    default:
      return 0;
  }
}

/// How many bits of a record's data the schema gives to a member; 0: it is behind a pointer.
unsigned bits_in_schema(capnp::Type type) {
  switch (type.which()) {
    case capnp::schema::Type::BOOL:
      return 1;
    case capnp::schema::Type::ENUM:
      return 16;
    case capnp::schema::Type::INT32:
    case capnp::schema::Type::UINT32:
      return 32;
    case capnp::schema::Type::INT64:
    case capnp::schema::Type::UINT64:
    case capnp::schema::Type::FLOAT64:
      return 64;
    default:
      return 0;
  }
}

[[noreturn]] void disagree(const std::string& what) {
  check_failed("model/fields.hpp and storage/schema.capnp agree", __FILE__, __LINE__, what.c_str());
}

}  // namespace

std::string record_name(Key key) {
  if (!key.record.empty()) return std::string(key.record);
  std::string_view name = key.name;
  // The unit in a name is that of the JSON form; records hold times as nanoseconds and prices as
  // billionths.
  for (const std::string_view unit : {"_usd_h", "_per_s", "_s", "_deg"}) {
    if (!name.ends_with(unit)) continue;
    name.remove_suffix(unit.size());
    break;
  }
  std::string spelled;
  bool begins = false;
  for (const char c : name) {
    if (c != '_') spelled += begins ? static_cast<char>(std::toupper(c)) : c;
    begins = c == '_';
  }
  return spelled;
}

RecordPlan::RecordPlan(capnp::StructSchema schema)
    : schema_(schema),
      data_words_(schema.getProto().getStruct().getDataWordCount()),
      pointers_(schema.getProto().getStruct().getPointerCount()) {}

void RecordPlan::add_named(const std::string& name, unsigned bits) {
  const bool negated = name.starts_with('!');
  const std::string plain = name.substr(negated ? 1 : 0);
  KJ_IF_MAYBE (field, schema_.findFieldByName(plain)) {
    return add(*field, negated, bits);
  }
  disagree(std::string(schema_.getShortDisplayName().cStr()) + " has no member " + plain);
}

void RecordPlan::add(capnp::StructSchema::Field field, bool negated, unsigned bits) {
  const unsigned given = bits_in_schema(field.getType());
  if (given != bits) {
    disagree(std::string(field.getProto().getName().cStr()) + " takes " + std::to_string(bits) +
             " bits, and is given " + std::to_string(given));
  }
  const auto slot = field.getProto().getSlot();
  // The schema counts offsets in members of the same size.
  const std::uint32_t at = slot.getOffset();
  Place place{field, at, 0, negated, field.getType().isData(), 0};
  if (bits > 0) {
    place.offset = static_cast<std::uint32_t>(std::uint64_t{at} * bits / 8);
    place.bit = static_cast<std::uint8_t>(bits == 1 ? at % 8 : 0);
    place.standard = bits_of_default(slot.getDefaultValue());
  }
  places_.push_back(place);
}

}  // namespace muster::record_codec
