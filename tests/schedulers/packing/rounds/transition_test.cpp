#include "schedulers/packing/rounds/transition.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "tests/schedulers/draw.hpp"

namespace muster {
namespace {

constexpr TypeId kBig{0}, kSmall{1};

/// A configuration, present instances, and who is where; tasks are numbered from 0.
struct Scene {
  std::vector<FreeInstance> instances;
  std::vector<std::uint32_t> kind_of, home_of;
  Configuration configuration;
  std::vector<std::uint32_t> instance_of_bin;

  std::uint32_t task(std::uint32_t kind, std::uint32_t home = kUnassigned) {
    kind_of.push_back(kind);
    home_of.push_back(home);
    return static_cast<std::uint32_t>(kind_of.size() - 1);
  }
  void bin(TypeId type, const std::vector<std::uint32_t>& tasks) {
    configuration.bins.push_back({type, static_cast<std::uint32_t>(configuration.tasks.size()),
                                  static_cast<std::uint32_t>(tasks.size()), 0});
    configuration.tasks.insert(configuration.tasks.end(), tasks.begin(), tasks.end());
  }
  void run() {
    Transition transition;
    transition.run({instances, kind_of, home_of}, configuration, instance_of_bin);
  }
  std::uint32_t staying() const {
    std::uint32_t count = 0;
    for (std::size_t b = 0; b < configuration.bins.size(); ++b) {
      for (std::uint32_t task : configuration.tasks_of(configuration.bins[b])) {
        if (instance_of_bin[b] != kUnassigned && home_of[task] == instance_of_bin[b]) ++count;
      }
    }
    return count;
  }
};

TEST(Transition, leaves_everybody_in_place_when_nothing_changes) {
  Scene scene;
  scene.instances = {{kBig}, {kBig}};
  const auto a = scene.task(0, 1), b = scene.task(1, 1), c = scene.task(0, 0);
  scene.bin(kBig, {a, b});
  scene.bin(kBig, {c});
  scene.run();
  EXPECT_EQ(scene.instance_of_bin, (std::vector<std::uint32_t>{1, 0}));
  EXPECT_EQ(scene.staying(), 3u);
}

TEST(Transition, lets_equal_tasks_change_places_so_that_nobody_moves) {
  Scene scene;
  scene.instances = {{kBig}, {kBig}};
  const auto x0 = scene.task(7, 0), y0 = scene.task(8, 0);
  const auto x1 = scene.task(7, 1), y1 = scene.task(8, 1);
  scene.bin(kBig, {x0, y1});  // crosswise
  scene.bin(kBig, {x1, y0});
  scene.run();
  EXPECT_EQ(scene.staying(), 4u);
}

TEST(Transition, never_uses_an_instance_of_another_type) {
  Scene scene;
  scene.instances = {{kSmall}};
  scene.bin(kBig, {scene.task(0, 0)});
  scene.run();
  EXPECT_EQ(scene.instance_of_bin, (std::vector<std::uint32_t>{kUnassigned}));
}

TEST(Transition, takes_a_free_instance_instead_of_a_new_one_and_the_ready_one_first) {
  Scene scene;
  scene.instances = {{kBig, false}, {kBig, true}};
  scene.bin(kBig, {scene.task(0)});
  scene.run();
  EXPECT_EQ(scene.instance_of_bin, (std::vector<std::uint32_t>{1}));
}

TEST(Transition, keeps_a_task_on_a_booting_instance_rather_than_take_a_ready_one) {
  Scene scene;
  scene.instances = {{kBig, false}, {kBig, true}};
  scene.bin(kBig, {scene.task(0, 0), scene.task(1)});
  scene.run();
  EXPECT_EQ(scene.instance_of_bin, (std::vector<std::uint32_t>{0}));
}

TEST(Transition, handles_more_instances_than_the_exact_matching_takes) {
  Scene scene;
  for (std::uint32_t i = 0; i < 200; ++i) {
    scene.instances.push_back({kBig});
    scene.task(0, i);
    scene.task(1, i);
  }
  for (std::uint32_t i = 0; i < 200; ++i) {  // each instance loses one task and gets a new one
    scene.bin(kBig, {2 * i, scene.task(2)});
  }
  scene.run();
  EXPECT_EQ(scene.staying(), 200u);
}

/// Tries every way to give bins instances of their type.
std::uint32_t most_that_can_stay(const Scene& scene, std::size_t bin, std::vector<char>& taken) {
  if (bin == scene.configuration.bins.size()) return 0;
  std::uint32_t best = most_that_can_stay(scene, bin + 1, taken);
  const auto& here = scene.configuration.bins[bin];
  for (std::uint32_t i = 0; i < scene.instances.size(); ++i) {
    if (taken[i] || scene.instances[i].type != here.type) continue;
    std::vector<std::uint32_t> residents;
    for (std::uint32_t task = 0; task < scene.home_of.size(); ++task) {
      if (scene.home_of[task] == i) residents.push_back(scene.kind_of[task]);
    }
    std::uint32_t stay = 0;
    for (std::uint32_t task : scene.configuration.tasks_of(here)) {
      const auto found = std::find(residents.begin(), residents.end(), scene.kind_of[task]);
      if (found == residents.end()) continue;
      residents.erase(found);
      ++stay;
    }
    taken[i] = 1;
    best = std::max(best, stay + most_that_can_stay(scene, bin + 1, taken));
    taken[i] = 0;
  }
  return best;
}

RC_GTEST_PROP(Transition, moves_no_more_tasks_than_necessary, ()) {
  Scene scene;
  for (int i = testing::draw(0, 5); i > 0; --i) {
    scene.instances.push_back({testing::draw(0, 3) > 0 ? kBig : kSmall, true});
  }
  const auto instances = static_cast<std::uint32_t>(scene.instances.size());
  for (int i = testing::draw(0, 5); i > 0; --i) {
    std::vector<std::uint32_t> tasks;
    for (int n = testing::draw(1, 4); n > 0; --n) {
      const std::uint32_t home = testing::draw(0u, instances + 1);
      tasks.push_back(scene.task(testing::draw(0u, 3u), home == instances ? kUnassigned : home));
    }
    scene.bin(testing::draw(0, 3) > 0 ? kBig : kSmall, tasks);
  }
  std::vector<std::uint32_t> kinds_before;
  for (std::uint32_t task : scene.configuration.tasks) kinds_before.push_back(scene.kind_of[task]);
  std::vector<char> taken(instances, 0);
  const std::uint32_t possible = most_that_can_stay(scene, 0, taken);
  scene.run();
  RC_ASSERT(scene.staying() == possible);
  std::vector<int> times(scene.kind_of.size(), 0);
  for (std::size_t i = 0; i < kinds_before.size(); ++i) {
    RC_ASSERT(scene.kind_of[scene.configuration.tasks[i]] == kinds_before[i]);
    RC_ASSERT(++times[scene.configuration.tasks[i]] == 1);
  }
}

}  // namespace
}  // namespace muster
