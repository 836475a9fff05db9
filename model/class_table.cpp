#include "model/class_table.hpp"

namespace muster {

ClassId ClassTable::join(const std::string& name) {
  const auto [entry, is_new] = ids_.try_emplace(name, ClassId{next_});
  if (is_new) rows_.emplace(next_++, Row{name});
  Row& row = rows_.at(entry->second.value);
  if (row.tasks++ == 0) idle_.erase({row.idle_since, entry->second.value});
  return entry->second;
}

void ClassTable::leave(ClassId id) {
  Row& row = rows_.at(id.value);
  if (--row.tasks == 0) rest(id.value, row);
}

void ClassTable::rest(std::uint32_t id, Row& row) {
  row.idle_since = ++rests_;
  idle_.emplace(row.idle_since, id);
  if (idle_.size() <= kIdle) return;
  const auto forgotten = rows_.find(idle_.begin()->second);
  idle_.erase(idle_.begin());
  ids_.erase(forgotten->second.name);
  rows_.erase(forgotten);
}

std::optional<ClassId> ClassTable::find(const std::string& name) const {
  const auto found = ids_.find(name);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

const std::string* ClassTable::name(ClassId id) const {
  const auto found = rows_.find(id.value);
  return found == rows_.end() ? nullptr : &found->second.name;
}

std::pair<ClassTable::Snapshot, std::unordered_map<std::uint32_t, ClassId>> ClassTable::snapshot()
    const {
  std::pair<Snapshot, std::unordered_map<std::uint32_t, ClassId>> taken;
  auto& [snapshot, numbers] = taken;
  for (const auto& [id, row] : rows_) {
    numbers.emplace(id, ClassId{static_cast<std::uint32_t>(snapshot.names.size())});
    snapshot.names.push_back(row.name);
  }
  for (const auto& [since, id] : idle_) snapshot.idle.push_back(numbers.at(id).value);
  return taken;
}

void ClassTable::restore(Snapshot snapshot) {
  *this = {};
  for (std::string& name : snapshot.names) {
    ids_.emplace(name, ClassId{next_});
    rows_.emplace(next_++, Row{std::move(name)});
  }
  for (const std::uint32_t id : snapshot.idle) {
    const auto row = rows_.find(id);
    if (row != rows_.end()) row->second.idle_since = ++rests_;
  }
}

void ClassTable::settle() {
  for (const auto& [id, row] : rows_) {
    if (row.tasks == 0) idle_.emplace(row.idle_since, id);
  }
  while (idle_.size() > kIdle) {
    const std::uint32_t id = idle_.begin()->second;
    idle_.erase(idle_.begin());
    ids_.erase(rows_.at(id).name);
    rows_.erase(id);
  }
}

bool ClassTable::counts(const std::map<std::uint32_t, std::uint32_t>& tasks) const {
  std::size_t idle = 0;
  for (const auto& [id, row] : rows_) {
    const auto having = tasks.find(id);
    if (row.tasks != (having == tasks.end() ? 0 : having->second)) return false;
    idle += row.tasks == 0;
  }
  return idle == idle_.size() && ids_.size() == rows_.size();
}

}  // namespace muster
