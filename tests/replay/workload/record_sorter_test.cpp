#include "replay/workload/record_sorter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "replay/workload/seen_ids.hpp"

namespace muster::replay {
namespace {

using testing::ElementsAre;

RC_GTEST_PROP(RecordSorter, GivesAllRecordsInOrderWhateverFitsIntoMemory,
              (const std::vector<std::pair<std::uint16_t, std::string>>& records)) {
  const auto memory = *rc::gen::inRange<std::size_t>(1, 2000);
  RecordSorter sorter(memory);
  std::vector<std::pair<std::uint64_t, std::string>> expected;
  for (std::size_t i = 0; i < records.size(); ++i) {
    sorter.add({records[i].first, i}, records[i].second);
    expected.emplace_back(records[i].first, records[i].second);
  }
  std::stable_sort(expected.begin(), expected.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (int round = 0; round < 2; ++round) {
    std::vector<std::pair<std::uint64_t, std::string>> got;
    RC_ASSERT(sorter.each([&](const RecordSorter::Key& key, std::string_view record) {
      got.emplace_back(key.first, std::string(record));
      return true;
    }));
    RC_ASSERT(got == expected);
  }
}

TEST(SeenIds, FindsEveryRowWhoseIdStandsInAnEarlierOne) {
  SeenIds ids;
  // More than is kept in memory.
  constexpr std::uint64_t kMany = 500'000;
  for (std::uint64_t i = 0; i < kMany; ++i) {
    ids.add(std::uint64_t{7} * i, {i, static_cast<std::uint32_t>(i + 2), i});
  }
  ids.add(std::uint64_t{70}, {kMany, 900'000, kMany});
  ids.add("70", {kMany + 1, 900'001});
  ids.add("pod", {kMany + 2, 900'002});
  ids.add("pod", {kMany + 3, 900'003});
  std::vector<std::string> found;
  ASSERT_TRUE(ids.each_repeated([&](const SeenIds::Repeated& repeated) {
    found.push_back(repeated.id + ":" + std::to_string(repeated.first_line) + ":" +
                    std::to_string(repeated.line));
  }));
  EXPECT_THAT(found, testing::UnorderedElementsAre("70:12:900000", "'pod':900002:900003"));
}

}  // namespace
}  // namespace muster::replay
