#pragma once

#include <capnp/any.h>
#include <capnp/schema.h>

#include <bit>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "model/fields.hpp"
#include "storage/records/record_parts.hpp"

// Records of what model/fields.hpp describes. Which member of a record a value goes to follows from
// its key. All of them are looked up once for each type, down to where their bytes are: Cap'n
// Proto's own dynamic values are built anew for each access, which is five times as slow. For the
// codec alone.

namespace muster::record_codec {

static_assert(std::endian::native == std::endian::little, "records are little-endian");

/// A type without a record of its own: its members stand among those of the struct that it is in.
template <class T>
inline constexpr bool kInlined = std::is_same_v<T, Delays> || std::is_same_v<T, GeoPoint>;
/// A member behind a pointer, which says by itself whether it is set.
template <class T>
inline constexpr bool kApart = Described<T> && !kInlined<T>;
template <class T>
inline constexpr bool kApart<std::vector<T>> = true;
template <>
inline constexpr bool kApart<std::string> = true;
template <>
inline constexpr bool kApart<Resources> = true;
template <>
inline constexpr bool kApart<Demands> = true;
template <>
inline constexpr bool kApart<ElasticEpochs> = true;
/// Types of instances are kept by name.
template <>
inline constexpr bool kApart<TypeId> = true;

/// How many bits of a record's data a value takes; 0: it is behind a pointer.
template <class T>
constexpr unsigned bits_of() {
  if constexpr (kApart<T>) {
    return 0;
  } else if constexpr (std::is_same_v<T, bool>) {
    return 1;
  } else if constexpr (std::is_enum_v<T>) {
    return 16;
  } else {
    return 8 * sizeof(T);
  }
}

/// Name of a key in records: without its unit, `inThisSpelling`.
std::string record_name(Key key);

/// The members of a record that the members of a value go to, in the order of `fields`.
class RecordPlan {
 public:
  struct Place {
    capnp::StructSchema::Field field;
    std::uint32_t offset = 0;    ///< of the byte among the record's data, or of the pointer
    std::uint8_t bit = 0;        ///< of a flag, in its byte
    bool negated = false;        ///< of a flag: kept the other way round
    bool is_data = false;        ///< bytes, which need not be text
    std::uint64_t standard = 0;  ///< the bits of its default, with which its bits are combined
  };

  explicit RecordPlan(capnp::StructSchema schema);
  /// A single member, which is the value.
  template <class T>
  static RecordPlan of_one(capnp::StructSchema::Field field) {
    RecordPlan plan(field.getContainingStruct());
    plan.add(field, false, bits_of<T>());
    return plan;
  }

  const Place& operator[](std::size_t at) const { return places_[at]; }
  const std::vector<Place>& places() const { return places_; }
  std::uint16_t data_words() const { return data_words_; }
  std::uint16_t pointers() const { return pointers_; }

  // As an archive: finds the place of each member.
  template <class T>
  void operator()(Key key, const T& value) {
    if constexpr (kInlined<T>) {
      fields(*this, value);
    } else {
      add_named(record_name(key), bits_of<T>());
    }
  }
  template <class T>
  void operator()(Key key, const std::optional<T>&) {
    if (!kApart<T>) add_named(record_name(key) + "Set", 1);
    const T example{};
    (*this)(key, example);
  }
  template <class T>
  void unless_default(Key key, const T& value, const std::type_identity_t<T>&) {
    (*this)(key, value);
  }
  template <class T>
  void alternative(Key key, const auto&) {
    add_named(record_name(key), bits_of<T>());
  }
  void optional_id(Key key, const auto& id) { (*this)(key, id); }
  void figure(Key key, double value) { (*this)(key, value); }

 private:
  void add_named(const std::string& name, unsigned bits);
  void add(capnp::StructSchema::Field field, bool negated, unsigned bits);

  capnp::StructSchema schema_;
  std::vector<Place> places_;
  std::uint16_t data_words_;
  std::uint16_t pointers_;
};

/// The plan for values of the type, which always go to records of the same schema.
template <class T>
const RecordPlan& plan_of(capnp::StructSchema schema) {
  static const RecordPlan kPlan = [&] {
    RecordPlan made(schema);
    const T example{};
    fields(made, example);
    return made;
  }();
  return kPlan;
}
/// The plan for values of the type behind the member.
template <class T>
const RecordPlan& plan_of(const RecordPlan::Place& place) {
  static const RecordPlan& kPlan = [&]() -> const RecordPlan& {
    const capnp::Type type = place.field.getType();
    return plan_of<T>(type.isList() ? type.asList().getStructElementType() : type.asStruct());
  }();
  return kPlan;
}

/// Fills a record in, one member after another. The catalog may be absent where no type is named.
class RecordWriter {
 public:
  RecordWriter(capnp::AnyStruct::Builder out, const RecordPlan& plan, const Catalog* catalog)
      : data_(out.getDataSection()),
        pointers_(out.getPointerSection()),
        plan_(plan),
        catalog_(catalog) {}

  template <class T>
  void operator()(Key, const T& value) {
    put(value);
  }
  template <class T>
  void operator()(Key, const std::optional<T>& value) {
    if constexpr (kApart<T>) {
      put_apart(value ? &*value : nullptr);
    } else {
      put(value.has_value());
      put(value.value_or(T{}));
    }
  }
  template <class T>
  void unless_default(Key, const T& value, const std::type_identity_t<T>& standard) {
    // A member that is not apart has its place anyway.
    if (kApart<T> && value == standard) return skip();
    put(value);
  }
  template <class T>
  void alternative(Key, const auto& value) {
    put_apart(std::get_if<T>(&value));
  }
  void optional_id(Key, const auto& id) { put(id); }
  void figure(Key, double value) { put(value); }

 private:
  const RecordPlan::Place& next() { return plan_[at_++]; }
  void skip() { ++at_; }
  capnp::AnyPointer::Builder pointer() { return pointers_[next().offset]; }

  template <class Bits>
  void set(Bits bits) {
    const RecordPlan::Place& place = next();
    // Cap'n Proto stores each value XORed with its default, so that a record of zeros is one of
    // defaults; the reader undoes it likewise.
    bits ^= static_cast<Bits>(place.standard);
    std::memcpy(data_.begin() + place.offset, &bits, sizeof bits);
  }
  template <class T>
  void put_apart(const T* value) {
    if (value == nullptr) return skip();
    put(*value);
  }

  void put(bool value) {
    const RecordPlan::Place& place = next();
    const bool bit = value != place.negated;
    // The record is zero to begin with: a bit is only ever set, never cleared.
    const bool flips = bit != (place.standard != 0);
    if (flips) data_[place.offset] |= static_cast<kj::byte>(1U << place.bit);
  }
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void put(Number value) {
    if constexpr (std::is_same_v<Number, double>) {
      set(std::bit_cast<std::uint64_t>(value));
    } else {
      set(static_cast<std::make_unsigned_t<Number>>(value));
    }
  }
  void put(Duration value) { put(std::int64_t{value.count()}); }
  void put(Instant value) { put(nanos(value)); }
  void put(Price value) { put(value.nano_usd_h()); }
  template <class Tag, class Number>
  void put(Id<Tag, Number> id) {
    put(id.value);
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void put(Enum value) { set(static_cast<std::uint16_t>(to_record(value))); }

  void put(TypeId id) { put(type_name(id, *catalog_)); }
  void put(const std::string& value) {
    if (value.empty()) return skip();
    const RecordPlan::Place& place = next();
    if (place.is_data) return pointers_[place.offset].setAs<capnp::Data>(bytes(value));
    pointers_[place.offset].setAs<capnp::Text>(text(value));
  }
  void put(const Resources& value) {
    record_codec::put(pointer().initAs<record::Amounts>(), value);
  }
  void put(const Demands& value) { put(value.entries()); }
  void put(const ElasticEpochs& value) {
    const auto all = value.all();
    put(std::vector<ElasticEpoch>(all.begin(), all.end()));
  }
  void put(const std::vector<double>& values) {
    if (values.empty()) return skip();
    auto list = pointer().initAs<capnp::List<double>>(length(values));
    for (unsigned i = 0; i < list.size(); ++i) list.set(i, values[i]);
  }
  void put(const std::vector<std::string>& values) {
    if (values.empty()) return skip();
    auto list = pointer().initAs<capnp::List<capnp::Text>>(length(values));
    for (unsigned i = 0; i < list.size(); ++i) list.set(i, text(values[i]));
  }
  void put(const std::vector<std::pair<std::string, double>>& figures) {
    if (figures.empty()) return skip();
    auto list = pointer().initAs<capnp::List<record::Figure>>(length(figures));
    for (unsigned i = 0; i < list.size(); ++i) {
      list[i].setName(text(figures[i].first));
      list[i].setValue(figures[i].second);
    }
  }
  void put(const std::vector<std::pair<std::string, std::string>>& variables) {
    if (variables.empty()) return skip();
    auto list = pointer().initAs<capnp::List<record::Variable>>(length(variables));
    for (unsigned i = 0; i < list.size(); ++i) {
      list[i].setName(text(variables[i].first));
      list[i].setValue(text(variables[i].second));
    }
  }
  template <Described T>
  void put(const std::vector<T>& values) {
    if (values.empty()) return skip();
    const RecordPlan& plan = plan_of<T>(plan_[at_]);
    auto list = pointer().initAsListOfAnyStruct(plan.data_words(), plan.pointers(), length(values));
    for (unsigned i = 0; i < list.size(); ++i) {
      RecordWriter inner(list[i], plan, catalog_);
      fields(inner, values[i]);
    }
  }
  template <Described T>
  void put(const T& value) {
    if constexpr (kInlined<T>) {
      fields(*this, value);
    } else {
      const RecordPlan& plan = plan_of<T>(plan_[at_]);
      RecordWriter inner(pointer().initAsAnyStruct(plan.data_words(), plan.pointers()), plan,
                         catalog_);
      fields(inner, value);
    }
  }

  kj::ArrayPtr<kj::byte> data_;
  capnp::List<capnp::AnyPointer>::Builder pointers_;
  const RecordPlan& plan_;
  const Catalog* catalog_;
  std::size_t at_ = 0;
};

/// Sets a value from a record. A member that the record lacks, because it is older, has its
/// default.
class RecordReader {
 public:
  RecordReader(capnp::AnyStruct::Reader in, const RecordPlan& plan, const Catalog* catalog)
      : data_(in.getDataSection()),
        pointers_(in.getPointerSection()),
        plan_(plan),
        catalog_(catalog) {}

  template <class T>
  void operator()(Key, T& value) {
    get(value);
  }
  template <class T>
  void operator()(Key, std::optional<T>& value) {
    if constexpr (kApart<T>) {
      if (!is_there()) return skip();
      get(value.emplace());
    } else {
      bool there = false;
      get(there);
      T found{};
      get(found);
      if (there) value = found;
    }
  }
  template <class T>
  void unless_default(Key, T& value, const std::type_identity_t<T>& standard) {
    if constexpr (kApart<T>) {
      if (!is_there()) {
        value = standard;
        return skip();
      }
    }
    get(value);
  }
  template <class T>
  void alternative(Key, auto& value) {
    if (!is_there()) return skip();
    get(value.template emplace<T>());
  }
  void optional_id(Key, auto& id) { get(id); }
  void figure(Key, double& value) { get(value); }

 private:
  const RecordPlan::Place& next() { return plan_[at_++]; }
  void skip() { ++at_; }
  bool is_there() const {
    const RecordPlan::Place& place = plan_[at_];
    return place.offset < pointers_.size() && !pointers_[place.offset].isNull();
  }
  capnp::AnyPointer::Reader pointer() {
    const RecordPlan::Place& place = next();
    return place.offset < pointers_.size() ? pointers_[place.offset] : capnp::AnyPointer::Reader();
  }
  template <class Bits>
  Bits take() {
    const RecordPlan::Place& place = next();
    Bits bits = 0;
    // A record of an earlier version has a shorter data section; bits of 0 are then the default.
    if (place.offset + sizeof bits <= data_.size()) {
      std::memcpy(&bits, data_.begin() + place.offset, sizeof bits);
    }
    return bits ^ static_cast<Bits>(place.standard);
  }

  void get(bool& value) {
    const RecordPlan::Place& place = next();
    const bool set = place.offset < data_.size() && ((data_[place.offset] >> place.bit) & 1U) != 0;
    value = (set != (place.standard != 0)) != place.negated;
  }
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void get(Number& value) {
    if constexpr (std::is_same_v<Number, double>) {
      value = std::bit_cast<double>(take<std::uint64_t>());
    } else {
      value = static_cast<Number>(take<std::make_unsigned_t<Number>>());
    }
  }
  void get(Duration& value) { value = Duration{take_nanos()}; }
  void get(Instant& value) { value = instant(take_nanos()); }
  void get(Price& value) { value = Price::from_nano_usd_h(take_nanos()); }
  std::int64_t take_nanos() { return static_cast<std::int64_t>(take<std::uint64_t>()); }
  template <class Tag, class Number>
  void get(Id<Tag, Number>& id) {
    get(id.value);
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void get(Enum& value) {
    using Record = decltype(to_record(value));
    value = from_record<Enum>(static_cast<Record>(take<std::uint16_t>()));
  }

  void get(TypeId& id) { id = type_named(string_of(pointer().getAs<capnp::Text>()), *catalog_); }
  void get(std::string& value) {
    const bool is_data = plan_[at_].is_data;
    const auto found = pointer();
    value = is_data ? string_of(found.getAs<capnp::Data>()) : string_of(found.getAs<capnp::Text>());
  }
  void get(Resources& value) { value = record_codec::get(pointer().getAs<record::Amounts>()); }
  void get(Demands& value) {
    std::vector<FamilyDemand> entries;
    get(entries);
    value = Demands(std::move(entries));
  }
  void get(ElasticEpochs& value) {
    std::vector<ElasticEpoch> all;
    get(all);
    value = ElasticEpochs(std::move(all));
  }
  void get(std::vector<double>& values) {
    const auto list = pointer().getAs<capnp::List<double>>();
    values.reserve(list.size());
    for (const double each : list) values.push_back(each);
  }
  void get(std::vector<std::string>& values) {
    const auto list = pointer().getAs<capnp::List<capnp::Text>>();
    values.reserve(list.size());
    for (const auto each : list) values.push_back(string_of(each));
  }
  void get(std::vector<std::pair<std::string, double>>& figures) {
    for (const auto each : pointer().getAs<capnp::List<record::Figure>>()) {
      figures.emplace_back(string_of(each.getName()), each.getValue());
    }
  }
  void get(std::vector<std::pair<std::string, std::string>>& variables) {
    for (const auto each : pointer().getAs<capnp::List<record::Variable>>()) {
      variables.emplace_back(string_of(each.getName()), string_of(each.getValue()));
    }
  }
  template <Described T>
  void get(std::vector<T>& values) {
    const RecordPlan& plan = plan_of<T>(plan_[at_]);
    const auto list = pointer().getAs<capnp::AnyList>().as<capnp::List<capnp::AnyStruct>>();
    values.reserve(list.size());
    for (const auto each : list) {
      RecordReader inner(each, plan, catalog_);
      fields(inner, values.emplace_back());
    }
  }
  template <Described T>
  void get(T& value) {
    if constexpr (kInlined<T>) {
      fields(*this, value);
    } else {
      const RecordPlan& plan = plan_of<T>(plan_[at_]);
      RecordReader inner(pointer().getAs<capnp::AnyStruct>(), plan, catalog_);
      fields(inner, value);
    }
  }

  kj::ArrayPtr<const kj::byte> data_;
  capnp::List<capnp::AnyPointer>::Reader pointers_;
  const RecordPlan& plan_;
  const Catalog* catalog_;
  std::size_t at_ = 0;
};

/// Fills the record in with what the value's `fields` name.
template <class Builder, Described T>
void put_fields(Builder out, const T& value) {
  RecordWriter writer(capnp::toAny(std::move(out)),
                      plan_of<T>(capnp::Schema::from<typename Builder::Builds>()), nullptr);
  fields(writer, value);
}
/// The value that was put there.
template <Described T, class Reader>
T get_fields(Reader in) {
  T value{};
  RecordReader reader(capnp::toAny(in), plan_of<T>(capnp::Schema::from<typename Reader::Reads>()),
                      nullptr);
  fields(reader, value);
  return value;
}

}  // namespace muster::record_codec
