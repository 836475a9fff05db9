#include "storage/stores/store_check.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <optional>

#include "model/rounded_text.hpp"
#include "storage/stores/recovery.hpp"

// Reads a whole store as a start would and says all that is wrong, not only the first thing. Events
// are applied in a child process, because a state that meets an impossible event ends its process,
// by design of its checks.

namespace muster {
namespace {

/// Decodes the records of one family.
class FamilyCheck {
 public:
  FamilyCheck(const Store& store, StoreReport& report) : store_(store), report_(report) {}

  /// Calls `decode` for each value; it says what is wrong, if anything. Returns how many there are.
  std::uint64_t count(Family family, const std::function<std::string(std::string_view)>& decode) {
    std::uint64_t records = 0;
    const auto use = [&](std::string_view key, std::string_view value) {
      ++records;
      const std::string wrong = decode(value);
      if (!wrong.empty()) {
        // Some keys go on behind the number.
        const auto number = number_of(key.substr(0, sizeof(std::uint64_t)));
        report_.problems.push_back(fmt::format("{}, record {}: {}", name_of(family),
                                               number ? std::to_string(*number) : std::string(key),
                                               wrong));
      }
      return true;
    };
    if (const auto trouble = store_.scan(family, {}, use)) {
      report_.problems.push_back(trouble->message);
    }
    return records;
  }

 private:
  const Store& store_;
  StoreReport& report_;
};

template <class Decoded>
std::string error_of(const Decoded& decoded) {
  return decoded ? std::string() : decoded.error().message;
}

/// Applies the events; faults of the outcome go to `problems`.
StoredState apply_tail(const RecoveredMaster& found, const Catalog& catalog, std::string& problem) {
  ClusterState state = found.snapshot ? found.snapshot->state : ClusterState(catalog);
  Ledger ledger = found.snapshot ? found.snapshot->ledger : Ledger{};
  for (const Event& event : found.tail) {
    // The ledger before the state: it needs the state that the event meets.
    ledger.observe(event, state);
    state.apply(event);
  }
  const auto wrong = state.inconsistencies();
  if (!wrong.empty()) problem = wrong.front();
  Money parts = ledger.tasks();
  for (std::size_t kind = 0; kind < kOverheadKinds; ++kind) {
    parts += ledger.idleness(static_cast<OverheadKind>(kind));
  }
  if (!(parts == ledger.total())) problem = "the parts of the ledger do not add up to its total";
  StoredState out{state.jobs().size(), 0, state.instances().size(), ledger.total()};
  for (const JobRow& job : state.jobs()) out.tasks += job.tasks.size();
  return out;
}

/// Report of a child to its parent; as plain bytes in a pipe.
struct ChildReport {
  StoredState state;
  // Fixed, so that the report is one write below PIPE_BUF and the pipe needs no framing.
  std::array<char, 200> problem{};
};

[[noreturn]] void run_child(const RecoveredMaster& found, const Catalog& catalog, int out) {
  ChildReport report;
  std::string problem;
  report.state = apply_tail(found, catalog, problem);
  problem.copy(report.problem.data(), report.problem.size() - 1);
  const bool written = write(out, &report, sizeof report) == sizeof report;
  _exit(written ? 0 : 1);  // NOLINT: a forked child must not run what its parent has at exit
}

void apply_in_child(const RecoveredMaster& found, const Catalog& catalog, StoreReport& report) {
  std::array<int, 2> ends{};
  const pid_t child = pipe(ends.data()) == 0 ? fork() : -1;
  if (child == 0) run_child(found, catalog, ends[1]);
  if (child < 0) {
    report.problems.push_back(
        fmt::format("the events cannot be applied: {}", std::strerror(errno)));
    return;
  }
  // The parent's end, or the read below would never see the child's end.
  close(ends[1]);
  ChildReport told;
  const bool all = ::read(ends[0], &told, sizeof told) == sizeof told;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  // The child has ended before its report: a check of the state has failed.
  if (!all) {
    report.problems.emplace_back("the events of the journal cannot have happened in this order");
    return;
  }
  report.state = told.state;
  if (told.problem[0] != '\0') report.problems.emplace_back(told.problem.data());
}

void check_master(const Store& store, const Catalog& catalog, StoreReport& report) {
  bool first = true;
  const auto use = [&](std::uint64_t number, std::vector<Event>&& batch) {
    if (first) report.first_event = number;
    first = false;
    ++report.batches;
    report.next_event = number + batch.size();
  };
  // All batches that are kept, those before the newest snapshot too, which recovery does not
  // read.
  if (const auto trouble = read_journal(store, catalog, use)) {
    report.problems.push_back(trouble->message);
    return;
  }
  const auto found = recover_master(store, catalog);
  if (!found) {
    report.problems.push_back(found.error().message);
    return;
  }
  report.snapshot_at = found->snapshot_at;
  report.next_event = found->next_event;
  if (first) report.first_event = found->next_event;
  apply_in_child(found.value(), catalog, report);
}

}  // namespace

StoreReport check_store(const Store& store) {
  StoreReport report;
  report.meta = store.meta();
  const Catalog& catalog = report.meta.catalog;
  FamilyCheck families(store, report);
  report.snapshots = families.count(Family::snapshot, [&](std::string_view bytes) {
    return error_of(decode_snapshot(bytes, catalog));
  });
  report.history = families.count(Family::history, [&](std::string_view bytes) {
    return error_of(decode_history(bytes, catalog));
  });
  const std::uint64_t places = families.count(
      Family::place, [](std::string_view bytes) { return error_of(decode_place(bytes)); });
  if (places != report.history) {
    report.problems.push_back(fmt::format("{} in the history, but {} in its index",
                                          count_text(report.history, "job"), places));
  }
  report.objects = families.count(
      Family::object, [](std::string_view bytes) { return error_of(decode_object(bytes)); });
  report.handoffs = families.count(
      Family::handoff, [](std::string_view bytes) { return error_of(decode_handoff(bytes)); });
  report.tokens = families.count(
      Family::token, [](std::string_view bytes) { return error_of(decode_token(bytes)); });
  families.count(Family::forwarded,
                 [](std::string_view bytes) { return error_of(decode_numbers(bytes)); });
  report.ended = families.count(
      Family::ended, [](std::string_view bytes) { return error_of(decode_ended(bytes)); });
  report.cancels = families.count(
      Family::cancel, [](std::string_view bytes) { return error_of(decode_number(bytes)); });
  report.instances = families.count(
      Family::instance, [](std::string_view bytes) { return error_of(decode_rented(bytes)); });
  families.count(Family::charged,
                 [](std::string_view bytes) { return error_of(decode_rented_sums(bytes)); });
  families.count(Family::change,
                 [](std::string_view bytes) { return error_of(decode_cloud_change(bytes)); });
  families.count(Family::letter,
                 [](std::string_view bytes) { return error_of(decode_letter(bytes)); });
  families.count(Family::ending,
                 [](std::string_view bytes) { return error_of(decode_ending(bytes)); });
  families.count(Family::past,
                 [](std::string_view bytes) { return error_of(decode_numbers(bytes)); });
  families.count(Family::spent,
                 [](std::string_view bytes) { return error_of(decode_money(bytes)); });
  check_master(store, catalog, report);
  return report;
}

}  // namespace muster
