#include "storage/stores/store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "storage/stores/store_folder.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/temp_store.hpp"

namespace muster {
namespace {

using test::batch_of;
using test::IsGolden;
using test::TempStore;
using testing::ElementsAre;

std::vector<std::string> keys(const Store& store, Family family, const ScanRange& range) {
  std::vector<std::string> found;
  const auto use = [&](std::string_view key, std::string_view) {
    found.emplace_back(key);
    return true;
  };
  EXPECT_FALSE(store.scan(family, range, use));
  return found;
}

TEST(Store, keeps_what_was_written_over_a_reopening) {
  const TempStore folder;
  {
    const auto store = folder.open();
    EXPECT_FALSE(store->write(batch_of(Family::object, "a", "1"), Durability::machine));
    EXPECT_FALSE(store->write(batch_of(Family::token, "a", "2"), Durability::process));
  }
  const auto store = folder.open();
  EXPECT_EQ(store->get(Family::object, "a").value(), "1");
  EXPECT_EQ(store->get(Family::token, "a").value(), "2");
  EXPECT_EQ(store->get(Family::token, "b").value(), std::nullopt);
}

TEST(Store, scans_a_range_in_both_orders) {
  const TempStore folder;
  const auto store = folder.open();
  StoreBatch batch;
  for (const char* key : {"c", "a", "d", "b"}) batch.put(Family::object, key, "");
  ASSERT_FALSE(store->write(batch, Durability::process));
  EXPECT_THAT(keys(*store, Family::object, {}), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(keys(*store, Family::object, {"b", "d", ScanOrder::rising}), ElementsAre("b", "c"));
  EXPECT_THAT(keys(*store, Family::object, {"", "", ScanOrder::falling}),
              ElementsAre("d", "c", "b", "a"));
}

TEST(Store, erases_single_keys_and_ranges) {
  const TempStore folder;
  const auto store = folder.open();
  StoreBatch batch;
  for (std::uint64_t i = 0; i < 6; ++i) batch.put(Family::journal, key_of(i), "");
  batch.erase_range(Family::journal, key_of(0), key_of(3));
  batch.erase(Family::journal, key_of(4));
  ASSERT_FALSE(store->write(batch, Durability::process));
  EXPECT_THAT(keys(*store, Family::journal, {}), ElementsAre(key_of(3), key_of(5)));
}

TEST(Store, keys_of_numbers_sort_as_the_numbers) {
  EXPECT_LT(key_of(255), key_of(256));
  EXPECT_EQ(number_of(key_of(0x0123456789abcdefu)), 0x0123456789abcdefu);
  EXPECT_EQ(number_of("short"), std::nullopt);
}

TEST(Store, the_directory_is_for_its_owner_only) {
  const TempStore folder;
  const auto store = folder.open();
  struct stat status {};
  ASSERT_EQ(stat(folder.path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST(Store, another_role_or_cluster_is_refused) {
  const TempStore folder;
  folder.open().reset();
  const auto other = Store::open(folder.path(), folder.options("site s1"));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, StoreError::wrong_kind);
  EXPECT_THAT(other.error().message, IsGolden());
}

TEST(Store, a_second_opening_is_refused_while_the_first_lasts) {
  const TempStore folder;
  const auto store = folder.open();
  const auto second = Store::open(folder.path(), folder.options());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, StoreError::locked);
  EXPECT_THAT(second.error().message, IsGolden());
}

TEST(Store, that_is_open_is_not_cleared_for_a_new_one) {
  const TempStore folder;
  {
    const auto store = folder.open();
    ASSERT_FALSE(store->write(batch_of(Family::object, "a", "1"), Durability::machine));
    std::ofstream(folder.path() / "MAKING");
    const auto second = Store::open(folder.path(), folder.options());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, StoreError::locked);
    std::filesystem::remove(folder.path() / "MAKING");
  }
  EXPECT_EQ(folder.open()->get(Family::object, "a").value(), "1");
}

TEST(Store, that_was_made_meanwhile_is_not_made_again) {
  const TempStore folder;
  std::filesystem::create_directories(folder.path());
  {
    auto first = MakingOf::begin(folder.path());
    ASSERT_TRUE(first);
    EXPECT_FALSE(MakingOf::begin(folder.path())) << "it is being made";
    std::ofstream(folder.path() / "CURRENT") << "MANIFEST-000001";
    EXPECT_TRUE(first->finish());
    EXPECT_FALSE(MakingOf::begin(folder.path())) << "who made it has it open";
  }
  EXPECT_FALSE(MakingOf::begin(folder.path())) << "there is one now";
  EXPECT_EQ(state_of(folder.path()), FolderState::store);
}

TEST(Store, can_be_read_beside_the_one_that_has_it_open) {
  const TempStore folder;
  const auto store = folder.open();
  ASSERT_FALSE(store->write(batch_of(Family::object, "a", "1"), Durability::machine));
  StoreOptions options;
  options.read_only = true;
  const auto reader = Store::open(folder.path(), options);
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ(reader.value()->get(Family::object, "a").value(), "1");
  EXPECT_EQ(reader.value()->meta().kind, "master m0");
  EXPECT_EQ(reader.value()->meta().catalog.size(), 4u);
}

TEST(Store, reading_makes_nothing_where_nothing_is) {
  const TempStore folder;
  StoreOptions options;
  options.read_only = true;
  const auto reader = Store::open(folder.path(), options);
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().code, StoreError::unreadable);
  EXPECT_THAT(reader.error().message, IsGolden());
  EXPECT_FALSE(std::filesystem::exists(folder.path()));
}

TEST(Store, types_of_earlier_catalogs_stay_known_to_readers) {
  const TempStore folder;
  folder.open().reset();
  StoreOptions changed = folder.options();
  InstanceType fresh;
  fresh.name = "it9";
  changed.meta.catalog = Catalog{{fresh}};
  ASSERT_TRUE(Store::open(folder.path(), changed));
  StoreOptions options;
  options.read_only = true;
  const auto reader = Store::open(folder.path(), options);
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader.value()->meta().catalog.size(), 5u);
  EXPECT_TRUE(reader.value()->meta().catalog.find("it2"));
}

TEST(Store, a_file_in_the_place_of_the_directory_is_an_error) {
  const test::TempFile file("store", "text");
  const auto store = Store::open(file.path(), TempStore().options());
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, StoreError::unwritable);
}

TEST(Store, a_record_of_a_newer_format_is_refused_as_such) {
  // The format is the first field of the root: bytes 16 and 17 of the message.
  std::string bytes = encode_number(7);
  ASSERT_EQ(decode_number(bytes).value(), 7u);
  bytes[16] = static_cast<char>(kRecordFormat + 1);
  const auto number = decode_number(bytes);
  ASSERT_FALSE(number);
  EXPECT_EQ(number.error().code, StoreError::newer_format);
  EXPECT_THAT(number.error().message, IsGolden());

  const TempStore folder;
  std::string meta = encode_meta(folder.options().meta);
  meta[16] = static_cast<char>(kRecordFormat + 1);
  ASSERT_FALSE(folder.open()->write(batch_of(Family::meta, "store", meta), Durability::machine));
  const auto store = Store::open(folder.path(), folder.options());
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, StoreError::newer_format);
}

TEST(Store, damage_on_the_disk_is_an_error) {
  const TempStore folder;
  {
    const auto store = folder.open();
    ASSERT_FALSE(
        store->write(batch_of(Family::object, "a", std::string(5000, 'x')), Durability::machine));
  }
  folder.open().reset();  // what was in the log is in a table now
  bool damaged = false;
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    if (file.path().extension() != ".sst") continue;
    std::fstream stream(file.path(), std::ios::in | std::ios::out | std::ios::binary);
    for (int at : {8, 9, 10, 11}) {
      stream.seekp(at);
      stream.put('?');
    }
    damaged = true;
  }
  ASSERT_TRUE(damaged);
  const auto store = Store::open(folder.path(), folder.options());
  if (!store) {
    EXPECT_EQ(store.error().code, StoreError::corrupt);
    return;
  }
  const auto value = store.value()->get(Family::object, "a");
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code, StoreError::corrupt);
}

}  // namespace
}  // namespace muster
