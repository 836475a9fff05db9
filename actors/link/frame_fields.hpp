#pragma once

#include <capnp/dynamic.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "actors/link/worker_link_values.hpp"
#include "model/fields.hpp"

// Structs of frame.capnp of what model/fields.hpp describes. The member of a struct that a value
// goes to follows from its key; a value that is not there, because the other end is older, reads as
// the default of the schema.

namespace muster::frame_fields {

/// Its members stand among those of what it is in.
template <class T>
inline constexpr bool kInlined = std::is_same_v<T, Delays>;

/// The name of a member in frames: as in records where that is said, else as in event logs,
/// `inThisSpelling`; times have the unit Ns.
std::string frame_name(Key key, bool is_time);

/// "a time limit": the noun of a key, for a reason that goes to the other end.
std::string noun_of(Key key);

/// The members of a struct of frames that the members of a value go to, in the order of `fields`.
class FrameMembers {
 public:
  explicit FrameMembers(capnp::StructSchema schema) : schema_(schema) {}

  capnp::StructSchema::Field operator[](std::size_t at) const { return members_[at]; }

  // As an archive: finds each member.
  template <class T>
  void operator()(Key key, const T& value) {
    if constexpr (kInlined<T>) {
      fields(*this, value);
    } else {
      add(frame_name(key, std::is_same_v<T, Duration>));
    }
  }
  template <class T>
  void operator()(Key key, const std::optional<T>&) {
    add(frame_name(key, std::is_same_v<T, Duration>));
    add(frame_name(key, false) + "Set");
  }
  template <class T>
  void unless_default(Key key, const T& value, const std::type_identity_t<T>&) {
    (*this)(key, value);
  }

 private:
  void add(const std::string& name);

  capnp::StructSchema schema_;
  std::vector<capnp::StructSchema::Field> members_;
};

/// Those of a type, which always go to the same struct; they are looked up once.
template <class T>
const FrameMembers& members_of(capnp::StructSchema schema) {
  static const FrameMembers kMembers = [&] {
    FrameMembers made(schema);
    const T example{};
    fields(made, example);
    return made;
  }();
  return kMembers;
}

/// Fills a struct in, one member after another. Members without a value take no space.
class FrameWriter {
 public:
  FrameWriter(capnp::DynamicStruct::Builder out, const FrameMembers& members)
      : out_(out), members_(members) {}

  template <class T>
  void operator()(Key, const T& value) {
    if constexpr (kInlined<T>) {
      fields(*this, value);
    } else {
      put(members_[at_++], value);
    }
  }
  template <class T>
  void operator()(Key, const std::optional<T>& value) {
    put(members_[at_++], value.value_or(T{}));
    put(members_[at_++], value.has_value());
  }
  template <class T>
  void unless_default(Key key, const T& value, const std::type_identity_t<T>&) {
    (*this)(key, value);
  }

 private:
  using Field = capnp::StructSchema::Field;
  using Value = capnp::DynamicValue::Reader;

  /// Texts and bytes differ by the schema alone.
  static Value value_of(const std::string& value, capnp::Type type) {
    if (type.isData()) return capnp::Data::Reader(link_values::data(value));
    return link_values::text(value);
  }
  template <class Number>
  requires std::is_arithmetic_v<Number>
  static Value value_of(Number value, capnp::Type) { return value; }

  template <class T>
  void put(Field field, const T& value) {
    if constexpr (Described<T>) {
      put_members(out_.init(field).template as<capnp::DynamicStruct>(), value);
    } else if constexpr (std::is_enum_v<T>) {
      out_.set(field, static_cast<std::uint8_t>(value));
    } else {
      out_.set(field, value_of(value, field.getType()));
    }
  }
  void put(Field field, const std::string& value) {
    if (!value.empty()) out_.set(field, value_of(value, field.getType()));
  }
  void put(Field field, Duration value) { put(field, std::int64_t{value.count()}); }
  template <class Tag, class Number>
  void put(Field field, Id<Tag, Number> id) {
    put(field, id.value);
  }
  void put(Field field, const Resources& value) {
    link_values::put(out_.init(field, kResourceKinds).as<capnp::List<double>>(), value);
  }
  void put(Field field, const Demands& value) { put(field, value.entries()); }
  template <class T>
  void put(Field field, const std::vector<T>& values) {
    if (values.empty()) return;
    auto list =
        out_.init(field, static_cast<unsigned>(values.size())).template as<capnp::DynamicList>();
    for (unsigned i = 0; i < list.size(); ++i) put_in(list, i, values[i]);
  }
  template <class T>
  static void put_in(capnp::DynamicList::Builder& list, unsigned at, const T& value) {
    if constexpr (Described<T>) {
      put_members(list[at].template as<capnp::DynamicStruct>(), value);
    } else {
      list.set(at, value_of(value, list.getSchema().getElementType()));
    }
  }
  static void put_in(capnp::DynamicList::Builder& list, unsigned at,
                     const std::pair<std::string, std::string>& named) {
    auto entry = list[at].as<capnp::DynamicStruct>();
    const auto members = entry.getSchema().getFields();
    entry.set(members[0], value_of(named.first, members[0].getType()));
    entry.set(members[1], value_of(named.second, members[1].getType()));
  }
  template <class T>
  static void put_members(capnp::DynamicStruct::Builder out, const T& value) {
    FrameWriter writer(out, members_of<T>(out.getSchema()));
    fields(writer, value);
  }

  capnp::DynamicStruct::Builder out_;
  const FrameMembers& members_;
  std::size_t at_ = 0;
};

/// Sets a value from a struct that anybody may have written. The first thing that is out of range
/// is the problem: one reason is enough to end the link.
class FrameReader {
 public:
  FrameReader(capnp::DynamicStruct::Reader in, const FrameMembers& members, std::string& problem)
      : in_(in), members_(members), problem_(problem) {}

  template <class T>
  void operator()(Key key, T& value) {
    if constexpr (kInlined<T>) {
      fields(*this, value);
    } else {
      get(key, in_.get(members_[at_++]), value);
    }
  }
  template <class T>
  void operator()(Key key, std::optional<T>& value) {
    T read{};
    (*this)(key, read);
    bool is_set = false;
    (*this)(key, is_set);
    if (is_set) value = std::move(read);
  }
  template <class T>
  void unless_default(Key key, T& value, const std::type_identity_t<T>&) {
    (*this)(key, value);
  }

 private:
  using Value = capnp::DynamicValue::Reader;

  template <class T>
  T checked(Key key, const Expected<T, LinkError>& read) {
    if (read) return read.value();
    if (problem_.empty()) problem_ = noun_of(key) + read.error().message;
    return {};
  }

  template <class T>
  void get(Key key, const Value& from, T& value) {
    if constexpr (std::is_enum_v<T>) {
      const auto number = from.as<std::uint8_t>();
      if (number < kEnumerators<T>) {
        value = static_cast<T>(number);
      } else if (problem_.empty()) {
        problem_ = noun_of(key) + " that there is not";
      }
    } else if constexpr (Described<T>) {
      const auto members = from.as<capnp::DynamicStruct>();
      FrameReader reader(members, members_of<T>(members.getSchema()), problem_);
      fields(reader, value);
    } else {
      value = from.as<T>();
    }
  }
  void get(Key key, const Value& from, double& value);
  void get(Key key, const Value& from, Duration& value) {
    value = checked(key, link_values::read_span(from.as<std::int64_t>(), ""));
  }
  template <class Tag, class Number>
  void get(Key key, const Value& from, Id<Tag, Number>& id) {
    get(key, from, id.value);
  }
  void get(Key, const Value& from, std::string& value) {
    value = from.getType() == capnp::DynamicValue::DATA
                ? link_values::bytes(from.as<capnp::Data>())
                : std::string(link_values::view(from.as<capnp::Text>()));
  }
  void get(Key key, const Value& from, Resources& value) {
    value = checked(key, link_values::read_resources(from.as<capnp::List<double>>(), ""));
  }
  void get(Key key, const Value& from, Demands& value) {
    std::vector<FamilyDemand> entries;
    get(key, from, entries);
    value = Demands(std::move(entries));
  }
  void get(Key key, const Value& from, std::pair<std::string, std::string>& named) {
    const auto entry = from.as<capnp::DynamicStruct>();
    const auto members = entry.getSchema().getFields();
    get(key, entry.get(members[0]), named.first);
    get(key, entry.get(members[1]), named.second);
  }
  template <class T>
  void get(Key key, const Value& from, std::vector<T>& values) {
    for (const Value each : from.as<capnp::DynamicList>()) get(key, each, values.emplace_back());
  }

  capnp::DynamicStruct::Reader in_;
  const FrameMembers& members_;
  std::string& problem_;
  std::size_t at_ = 0;
};

/// Fills the struct in with what the value's `fields` name.
template <class Builder, Described T>
void put_fields(Builder out, const T& value) {
  capnp::DynamicStruct::Builder dynamic = capnp::toDynamic(out);
  FrameWriter writer(dynamic, members_of<T>(dynamic.getSchema()));
  fields(writer, value);
}
/// The value that was put there; `malformed` with the reason when it cannot be so.
template <Described T, class Reader>
Expected<T, LinkError> get_fields(Reader in) {
  const capnp::DynamicStruct::Reader dynamic = capnp::toDynamic(in);
  T value{};
  std::string problem;
  FrameReader reader(dynamic, members_of<T>(dynamic.getSchema()), problem);
  fields(reader, value);
  if (!problem.empty()) return link_values::malformed(problem);
  return value;
}

}  // namespace muster::frame_fields
