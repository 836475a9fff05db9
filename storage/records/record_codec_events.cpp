#include <deque>

#include "storage/records/record_fields.hpp"

// Batches of events as records. Where each kind of event's body lies is looked up in the schema
// once; after that an event is written and read by offsets.

namespace muster {
namespace {

using record_codec::instant;
using record_codec::nanos;
using record_codec::plan_of;
using record_codec::RecordPlan;
using record_codec::RecordReader;
using record_codec::RecordWriter;

constexpr std::size_t kKinds = std::variant_size_v<EventBody>;

/// Where the body of each kind of event goes. Kinds keep their numbers on disk, which are those of
/// the schema's union and not the positions in EventBody.
struct EventPlan {
  struct Kind {
    std::uint16_t number = 0;
    std::uint32_t pointer = 0;         ///< which one leads to the body's record
    const RecordPlan* body = nullptr;  ///< of that record, or of the union's member itself
    bool is_record = false;
  };
  std::vector<Kind> kinds;             ///< by position in EventBody
  std::vector<std::size_t> by_number;  ///< position in EventBody by number; kKinds: not known
  std::size_t number_at = 0;           ///< byte of the union's number among an event's data

  EventPlan() {
    const capnp::StructSchema schema = capnp::Schema::from<record::Event>();
    number_at = 2 * std::size_t{schema.getProto().getStruct().getDiscriminantOffset()};
    add_kinds(schema);
  }

 private:
  template <std::size_t kAt = 0>
  void add_kinds(capnp::StructSchema schema) {
    using Body = std::variant_alternative_t<kAt, EventBody>;
    const auto field = schema.getFieldByName(record_codec::record_name(kEventNames[kAt]));
    Kind kind;
    kind.number = field.getProto().getDiscriminantValue();
    kind.is_record = field.getType().isStruct();
    // Lists that stand side by side are put there by hand.
    if constexpr (!std::is_same_v<Body, Measured>) {
      kind.pointer = field.getProto().getSlot().getOffset();
      kind.body = kind.is_record ? &plan_of<Body>(field.getType().asStruct()) : &plan_of_one(field);
    }
    if (by_number.size() <= kind.number) by_number.resize(kind.number + std::size_t{1}, kKinds);
    by_number[kind.number] = kAt;
    kinds.push_back(kind);
    if constexpr (kAt + 1 < kKinds) add_kinds<kAt + 1>(schema);
  }
  /// Of a body that is one number.
  const RecordPlan& plan_of_one(capnp::StructSchema::Field field) {
    return alone_.emplace_back(RecordPlan::of_one<TaskId>(field));
  }

  // A deque, for the kinds point into it while it grows.
  std::deque<RecordPlan> alone_;
};

const EventPlan& event_plan() {
  // Built at the first use, by whichever thread is first, and never changed.
  static const EventPlan kPlan;
  return kPlan;
}

struct BodyWriter {
  record::Event::Builder out;
  const EventPlan& plan;
  const EventPlan::Kind& kind;
  const Catalog& catalog;

  void operator()(const Measured& body) { record_codec::put(out.initMeasured(), body); }
  template <class Body>
  void operator()(const Body& body) {
    capnp::AnyStruct::Builder event = capnp::toAny(record::Event::Builder(out));
    // Sets the union's discriminant as initX() would; the pointer below is set beside it.
    std::memcpy(event.getDataSection().begin() + plan.number_at, &kind.number, sizeof kind.number);
    if (kind.is_record) {
      event = event.getPointerSection()[kind.pointer].initAsAnyStruct(kind.body->data_words(),
                                                                      kind.body->pointers());
    }
    RecordWriter writer(event, *kind.body, &catalog);
    fields(writer, body);
  }
};

struct BodyReader {
  record::Event::Reader in;
  const EventPlan::Kind& kind;
  const Catalog& catalog;

  void operator()(Measured& body) const { body = record_codec::get(in.getMeasured()); }
  template <class Body>
  void operator()(Body& body) const {
    capnp::AnyStruct::Reader event = capnp::toAny(in);
    if (kind.is_record) {
      const auto pointers = event.getPointerSection();
      // A record of an earlier version may have fewer pointers than the schema.
      event = kind.pointer < pointers.size() ? pointers[kind.pointer].getAs<capnp::AnyStruct>()
                                             : capnp::AnyStruct::Reader();
    }
    RecordReader reader(event, *kind.body, &catalog);
    fields(reader, body);
  }
};

EventBody read_body(record::Event::Reader in, const Catalog& catalog) {
  const EventPlan& plan = event_plan();
  const auto number = static_cast<std::size_t>(in.which());
  if (number >= plan.by_number.size() || plan.by_number[number] == kKinds) {
    record_codec::refuse("an event of a kind that is not known to this version");
  }
  const std::size_t at = plan.by_number[number];
  EventBody body = empty_body(at);
  std::visit(BodyReader{in, plan.kinds[at], catalog}, body);
  return body;
}

}  // namespace

std::string encode_events(std::span<const Event> events, const Catalog& catalog) {
  const EventPlan& plan = event_plan();
  return record_codec::encode_record([&](record::Record::Builder root) {
    auto list = root.initEvents().initEvents(record_codec::length(events));
    for (unsigned i = 0; i < list.size(); ++i) {
      list[i].setAt(nanos(events[i].at));
      const EventBody& body = events[i].body;
      std::visit(BodyWriter{list[i], plan, plan.kinds[body.index()], catalog}, body);
    }
  });
}

Expected<std::vector<Event>, StoreError> decode_events(std::string_view bytes,
                                                       const Catalog& catalog) {
  const auto read_batch = [&](record::Record::Reader root) {
    std::vector<Event> events;
    const auto list = root.getEvents().getEvents();
    // The number of the next batch follows from this one's size: a batch is never written empty.
    if (list.size() == 0) record_codec::refuse("a batch without an event");
    events.reserve(list.size());
    for (const auto event : list) {
      events.push_back({instant(event.getAt()), read_body(event, catalog)});
    }
    return events;
  };
  return record_codec::decode_record<std::vector<Event>>(bytes, record::Record::EVENTS, read_batch);
}

}  // namespace muster
