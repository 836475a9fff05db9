#include "tools/train/past_services.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "config/csv.hpp"

namespace muster::train {
namespace {

constexpr std::array<CsvColumn, 4> kColumns = {
    {{"service", true}, {"cores", true}, {"memory_gib", true}, {"performance", true}}};
constexpr NumberRange kAmount{.low = 0, .high = 1e6, .above_low = true};
constexpr NumberRange kPerformance{.low = 0, .high = 1e15};

struct MeasuredSize {
  std::uint32_t line = 0;
  double performance = 0;
};

struct MeasuredService {
  std::string name;
  std::uint32_t line = 0;  ///< of its first row
  bool is_read = true;     ///< every row of it was understood
  std::map<std::pair<double, double>, MeasuredSize> sizes{};
};

std::string size_text(double cores, double memory_gib) {
  return fmt::format("{} cores and {} GiB", number_text(cores), number_text(memory_gib));
}

/// Services in the order of their first rows.
class Rows {
 public:
  explicit Rows(ErrorList& errors) : errors_(errors) {}

  void add(CsvReader& row) {
    const std::size_t before = errors_.size();
    const std::string& name = row.needed_text("service");
    const std::pair size{row.number("cores", kAmount), row.number("memory_gib", kAmount)};
    const double performance = row.number("performance", kPerformance);
    if (name.empty()) return;
    const auto [known, is_new] = numbers_.try_emplace(name, services_.size());
    if (is_new) services_.push_back({name, row.line()});
    MeasuredService& service = services_[known->second];
    if (errors_.size() > before) {
      service.is_read = false;
      return;
    }
    const auto [found, is_first] =
        service.sizes.try_emplace(size, MeasuredSize{row.line(), performance});
    if (is_first) return;
    row.complain("service",
                 fmt::format("line {} has {} of it already; a service has one row a size",
                             found->second.line, size_text(size.first, size.second)));
  }

  const std::vector<MeasuredService>& services() const { return services_; }

 private:
  ErrorList& errors_;
  std::vector<MeasuredService> services_;
  std::map<std::string, std::size_t, std::less<>> numbers_;
};

/// The service as the learners take it; faults go to the errors.
PastService past_of(const MeasuredService& measured, const std::string& file, ErrorList& errors) {
  const auto complain = [&](std::string_view field, const std::string& message) {
    errors.add({file, measured.line}, field, message);
  };
  std::set<double> cores, memory_gib;
  double best = 0;
  for (const auto& [size, found] : measured.sizes) {
    cores.insert(size.first);
    memory_gib.insert(size.second);
    best = std::max(best, found.performance);
  }
  PastService past{{cores.begin(), cores.end()}, {memory_gib.begin(), memory_gib.end()}, {}};
  if (cores.size() * memory_gib.size() > kMostPoints) {
    complain("service",
             fmt::format("{} has {} numbers of cores and {} of GiB; together they may "
                         "make {} sizes at most",
                         brief(measured.name), cores.size(), memory_gib.size(), kMostPoints));
    return past;
  }
  std::string missing;
  for (const double core : past.cores) {
    for (const double gib : past.memory_gib) {
      const auto found = measured.sizes.find({core, gib});
      if (found == measured.sizes.end()) {
        missing += (missing.empty() ? "" : ", ") + size_text(core, gib);
      } else {
        past.values.push_back(best > 0 ? found->second.performance / best : 0);
      }
    }
  }
  if (!missing.empty()) {
    complain("service", fmt::format("{} has no row for {}; each number of cores has to have a row "
                                    "with each memory",
                                    brief(measured.name), missing));
  } else if (past.values.back() <= 0) {
    complain("performance", fmt::format("{} has 0 at its largest size, {}; there it has to be "
                                        "above 0, and greater when the service does better",
                                        brief(measured.name),
                                        size_text(past.cores.back(), past.memory_gib.back())));
  }
  return past;
}

Failure<ConfigError> invalid(ErrorList& errors) {
  errors.sort_by_line();
  return {ConfigError::invalid, errors.text(kShownErrors)};
}

}  // namespace

Expected<MeasuredServices, ConfigError> read_past_services(const std::filesystem::path& file,
                                                           std::uint32_t most) {
  auto stream = CsvStream::open(file);
  if (!stream) return stream.error();
  ErrorList errors;
  CsvReader reader(stream.value(), kColumns, errors);
  // Without its columns no row can be understood.
  if (!errors.empty()) return invalid(errors);
  MeasuredServices measured;
  Rows rows(errors);
  bool all_selected = true;
  while (true) {
    const auto row = stream->next();
    if (!row) return row.error();
    if (row.value() == nullptr) break;
    ++measured.rows;
    const bool selected = reader.select(*row.value());
    all_selected = all_selected && selected;
    if (selected) rows.add(reader);
  }
  for (const MeasuredService& service : rows.services()) {
    // A row that was not understood may be one that is missing.
    if (!service.is_read || !all_selected) continue;
    measured.services.push_back(past_of(service, stream->file(), errors));
    measured.names.push_back(service.name);
  }
  if (measured.rows == 0) {
    errors.add({stream->file(), stream->header().line}, "",
               "has no service; each row behind the header is a size of one");
  }
  if (!errors.empty()) return invalid(errors);
  if (measured.services.size() > most) {
    measured.left_out = measured.services.size() - most;
    const auto first = static_cast<std::ptrdiff_t>(measured.left_out);
    measured.services.erase(measured.services.begin(), measured.services.begin() + first);
    measured.names.erase(measured.names.begin(), measured.names.begin() + first);
  }
  return measured;
}

}  // namespace muster::train
