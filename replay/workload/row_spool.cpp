#include "replay/workload/row_spool.hpp"

#include <algorithm>
#include <cstring>
#include <ostream>

#include "replay/workload/formats.hpp"
#include "replay/workload/muster_csv_columns.hpp"

namespace muster::replay {
namespace {

/// Orders signed times as unsigned keys.
constexpr std::uint64_t kSign = std::uint64_t{1} << 63;

std::uint64_t key_of(Instant at) {
  return static_cast<std::uint64_t>(at.time_since_epoch().count()) ^ kSign;
}
Instant instant_of(std::uint64_t key) {
  return Instant{Duration{static_cast<std::int64_t>(key ^ kSign)}};
}

/// Before the texts of a row.
struct RowHead {
  std::uint64_t number = 0;
  std::uint32_t id_bytes = 0;
  std::uint32_t middle_bytes = 0;
  std::uint32_t rest_bytes = 0;
  std::uint32_t most_an_instance = 0;
};

std::string packed(std::uint64_t number, const MusterRow& row) {
  const RowHead head{number, static_cast<std::uint32_t>(row.id.size()),
                     static_cast<std::uint32_t>(row.middle.size()),
                     static_cast<std::uint32_t>(row.rest.size()), row.most_an_instance};
  return std::string(reinterpret_cast<const char*>(&head), sizeof head) + row.id + row.middle +
         row.rest + row.service;
}

RowHead head_of(std::string_view record) {
  RowHead head;
  std::memcpy(&head, record.data(), sizeof head);
  return head;
}

/// The columns of services stand behind all others.
bool has_service(const RowHead& head, std::string_view record) {
  return record.size() > sizeof head + head.id_bytes + head.middle_bytes + head.rest_bytes;
}

MusterRow unpacked(const RowHead& head, std::string_view record) {
  record.remove_prefix(sizeof head);
  MusterRow row;
  row.id = record.substr(0, head.id_bytes);
  row.middle = record.substr(head.id_bytes, head.middle_bytes);
  record.remove_prefix(head.id_bytes + head.middle_bytes);
  row.rest = record.substr(0, head.rest_bytes);
  row.service = record.substr(head.rest_bytes);
  row.most_an_instance = head.most_an_instance;
  return row;
}

}  // namespace

void RowSpool::take(std::uint64_t number, std::uint64_t order, JobDraft draft) {
  rows_.add({key_of(draft.job.submit), order}, packed(number, muster_row(draft.job, draft.tasks)));
}

bool RowSpool::write(const TraceFacts& facts, std::uint64_t max_jobs, std::ostream& out) {
  const std::uint64_t most = max_jobs == 0 ? facts.jobs : std::min(max_jobs, facts.jobs);
  const auto each_wanted = [&](const auto& take) {
    std::uint64_t taken = 0;
    return rows_.each([&](const RecordSorter::Key& key, std::string_view record) {
      const RowHead head = head_of(record);
      if (!facts.dropped.empty() && facts.dropped[head.number]) return true;
      if (taken++ == most) return false;
      return take(key, head, record);
    });
  };
  WantedColumns wanted;
  const bool read = each_wanted([&](const auto& /*key*/, const RowHead& head, auto record) {
    wanted.distinct_instances |= head.most_an_instance == 1;
    wanted.most_an_instance |= head.most_an_instance > 1;
    wanted.services |= has_service(head, record);
    return !wanted.distinct_instances || !wanted.most_an_instance || !wanted.services;
  });
  if (!read) return false;
  out << muster_header(wanted);
  return each_wanted([&](const RecordSorter::Key& key, const RowHead& head, auto record) {
    MusterRow row = unpacked(head, record);
    row.submit = instant_of(key.first);
    out << row.line(facts.begin, wanted);
    return static_cast<bool>(out);
  });
}

TraceResult stream_trace(const std::string& format, const WorkloadConfig& config, JobTaker& taker) {
  for (const WorkloadFormat& known : trace_formats()) {
    if (known.part.name != format) continue;
    TraceReading reading(config, taker);
    return known.stream(reading);
  }
  return Failure<WorkloadError>{WorkloadError::invalid,
                                unknown_word("workload format", format, names_of(trace_formats()))};
}

}  // namespace muster::replay
