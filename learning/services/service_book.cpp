#include "learning/services/service_book.hpp"

namespace muster {

const ServiceBook::Entry* ServiceBook::find(std::uint64_t service) const {
  const auto known = entries_.find(service);
  return known == entries_.end() ? nullptr : &known->second;
}

std::span<const MeasuredPoint> ServiceBook::measured(std::uint64_t service) const {
  const Entry* known = find(service);
  return known == nullptr ? std::span<const MeasuredPoint>() : known->measured;
}

void ServiceBook::write(ModelWriter& out) const {
  out.line("services").whole(entries_.size());
  for (const auto& [service, entry] : entries_) {
    out.line("service").whole(service).whole(entry.size);
    write_measured(out, entry.measured);
  }
}

void ServiceBook::read(ModelReader& in, std::uint32_t sizes, std::uint32_t points) {
  in.line("services");
  const std::uint64_t count = in.whole(0, most_);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    in.line("service");
    const std::uint64_t service = in.whole(0, UINT64_MAX);
    if (entries_.contains(service)) in.refuse("a service comes twice");
    Entry& own = entries_[service];
    own.size = static_cast<std::uint32_t>(in.whole(0, sizes - 1));
    own.measured = read_measured(in, points);
    if (own.measured.empty()) in.refuse("a service without measurements");
  }
}

}  // namespace muster
