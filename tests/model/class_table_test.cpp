#include "model/class_table.hpp"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(ClassTable, KnowsAClassByItsNameWhileTasksHaveItAndAfterwards) {
  ClassTable table;
  const ClassId one = table.join("bert");
  EXPECT_EQ(table.join("bert"), one);
  table.leave(one);
  table.leave(one);
  EXPECT_EQ(table.find("bert"), one);
  EXPECT_EQ(table.join("bert"), one) << "what was learnt of it counts on";
}

TEST(ClassTable, ForgetsTheClassesThatNoTaskHasHadForLongest) {
  ClassTable table;
  const ClassId kept = table.join("runs");
  const ClassId first = table.join("first");
  table.leave(first);
  for (std::size_t i = 0; i < ClassTable::kIdle; ++i) {
    table.leave(table.join("job-" + std::to_string(i)));
  }
  EXPECT_EQ(table.name(first), nullptr);
  EXPECT_EQ(table.size(), ClassTable::kIdle + 1);
  EXPECT_EQ(*table.name(kept), "runs");
  EXPECT_NE(table.join("first"), first) << "numbers are never used again";
}

TEST(ClassTable, ForgetsInTheSameOrderAfterASnapshot) {
  ClassTable table;
  const ClassId runs = table.join("runs");
  for (const char* name : {"a", "b", "c"}) table.join(name);
  for (const char* name : {"c", "a", "b"}) table.leave(*table.find(name));
  const auto [taken, numbers] = table.snapshot();
  ClassTable again;
  again.restore(taken);
  again.join(numbers.at(runs.value));
  again.settle();
  EXPECT_EQ(again.snapshot().first.idle, taken.idle);
  EXPECT_EQ(again.snapshot().first.names, taken.names);
  for (ClassTable* each : {&table, &again}) {
    for (std::size_t i = 0; i + 2 < ClassTable::kIdle; ++i) {
      each->leave(each->join("job-" + std::to_string(i)));
    }
    EXPECT_FALSE(each->find("c")) << "idle for longest";
    EXPECT_TRUE(each->find("a"));
  }
}

}  // namespace
}  // namespace muster
