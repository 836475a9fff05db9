#include "serve/hosts/host_table.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "serve/hosts/book_file.hpp"

namespace muster::hosts {
namespace {

/// The machine of that number by an index; null: the index has no such key.
template <class Hosts, class Index, class Key>
auto* found_by(Hosts& hosts, const Index& index, const Key& key) {
  const auto number = index.find(key);
  return number == index.end() ? nullptr : &hosts.at(number->second);
}

/// Of its row in the file, at most: indents and what changes with its life take the rest.
std::size_t bytes_of(HostEntry host) {
  constexpr std::size_t kRest = 256 + 3 * 2 * kMaxText;
  host.number = 0;
  host.use.reset();
  host.drained = false;
  host.run = host.run_before = host.boot = "";
  using Rows = nlohmann::ordered_json;
  return to_row(host).dump(1, ' ', false, Rows::error_handler_t::replace).size() + kRest;
}

}  // namespace

HostEntry* HostTable::find(std::uint32_t number) {
  const auto found = hosts_.find(number);
  return found == hosts_.end() ? nullptr : &found->second;
}

HostEntry* HostTable::of_key(const std::string& print) {
  return found_by(hosts_, by_key_, print);
}

const HostEntry* HostTable::of_key(const std::string& print) const {
  return found_by(hosts_, by_key_, print);
}

HostEntry* HostTable::of_instance(InstanceId instance) {
  return found_by(hosts_, by_instance_, instance);
}

const HostEntry* HostTable::of_instance(InstanceId instance) const {
  return found_by(hosts_, by_instance_, instance);
}

bool HostTable::has_room(const HostEntry& host) const {
  return bytes_ + bytes_of(host) <= kMaxHostBytes;
}

bool HostTable::relabel(HostEntry& host, const Labels& changes) {
  const std::size_t before = bytes_of(host);
  Labels labels = host.labels;
  for (const auto& [key, text] : changes) {
    if (text.empty()) {
      labels.erase(key);
    } else {
      labels[key] = text;
    }
  }
  if (labels.size() > kMaxLabels) return false;
  std::swap(host.labels, labels);
  const std::size_t after = bytes_of(host);
  if (after > before && bytes_ - before + after > kMaxHostBytes) {
    std::swap(host.labels, labels);
    return false;
  }
  bytes_ += after - before;
  return true;
}

HostEntry& HostTable::add(HostEntry host) {
  bytes_ += bytes_of(host);
  host.number = next_++;
  by_key_[host.key] = host.number;
  HostEntry& added = hosts_[host.number];
  added = std::move(host);
  return added;
}

void HostTable::erase(std::uint32_t number) {
  HostEntry* host = find(number);
  if (host == nullptr) return;
  if (host->use) release(*host);
  bytes_ -= bytes_of(*host);
  by_key_.erase(host->key);
  hosts_.erase(number);
}

void HostTable::assign(HostEntry& host, InstanceId instance) {
  host.use = Assignment{instance, Use::reserved, false, 0, {}};
  by_instance_[instance] = host.number;
}

Assignment HostTable::release(HostEntry& host) {
  Assignment had = *std::exchange(host.use, std::nullopt);
  by_instance_.erase(had.instance);
  return had;
}

nlohmann::ordered_json HostTable::to_rows() const {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& [number, host] : hosts_) rows.push_back(to_row(host));
  return rows;
}

void HostTable::load(const nlohmann::ordered_json& rows, std::uint32_t next) {
  next_ = next;
  for (const auto& row : rows) {
    HostEntry host = host_from_row(row);
    bytes_ += bytes_of(host);
    if (host.use) by_instance_[host.use->instance] = host.number;
    by_key_[host.key] = host.number;
    next_ = std::max(next_, host.number + 1);
    hosts_[host.number] = std::move(host);
  }
}

}  // namespace muster::hosts
