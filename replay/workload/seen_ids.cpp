#include "replay/workload/seen_ids.hpp"

#include <cstring>
#include <string>

// Texts are known by 128 bits of two hashes: of ten million ids no two share them by chance.

namespace muster::replay {
namespace {

/// Data beside the key, which is the id, or one hash of it, and the row.
struct IdNote {
  std::uint64_t second_hash = 0;
  std::uint64_t job = 0;
  std::uint64_t line = 0;
};

std::uint64_t fnv_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return hash;
}

/// Of a text, what messages show of it.
constexpr std::size_t kKeptBytes = 64;

std::string record_of(const IdNote& note, std::string_view text) {
  std::string record(reinterpret_cast<const char*>(&note), sizeof note);
  record += text.substr(0, kKeptBytes);
  return record;
}

}  // namespace

void SeenIds::add(std::uint64_t id, const Row& row) {
  ids_.add({id, row.number}, record_of({0, row.job, row.line}, {}));
}

void SeenIds::add(std::string_view id, const Row& row) {
  ids_.add({std::hash<std::string_view>{}(id), row.number},
           record_of({fnv_hash(id), row.job, row.line}, id));
}

bool SeenIds::each_repeated(const std::function<void(const Repeated&)>& take) {
  bool any = false;
  std::uint64_t id = 0;
  IdNote first;
  return ids_.each([&](const RecordSorter::Key& key, std::string_view record) {
    IdNote note;
    std::memcpy(&note, record.data(), sizeof note);
    if (any && key.first == id && note.second_hash == first.second_hash) {
      const std::string_view text = record.substr(sizeof note);
      const bool number = text.empty() && note.second_hash == 0;
      take({number ? std::to_string(key.first) : "'" + std::string(text) + "'", note.job,
            static_cast<std::uint32_t>(note.line), static_cast<std::uint32_t>(first.line)});
    } else {
      any = true;
      id = key.first;
      first = note;
    }
    return true;
  });
}

}  // namespace muster::replay
