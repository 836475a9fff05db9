#include "tests/serve/story_documents.hpp"

#include "tests/serve/fake_backend.hpp"

namespace muster::api {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kBegin = FakeBackend::kBegin;

}  // namespace

Json attempt_documents() {
  return Json::array({{{"attempt", 1},
                       {"instance", 2},
                       {"instance_type", "c7i.large"},
                       {"market", "spot"},
                       {"sent_s", kBegin + 2},
                       {"started_s", kBegin + 3},
                       {"ended_s", kBegin + 90},
                       {"ran_s", 87},
                       {"end", "lost"},
                       {"why", "lost with its spot instance, which the cloud took back"},
                       {"exit_code", nullptr},
                       {"usd", 0.0009},
                       {"cpu_s", nullptr},
                       {"peak_mib", nullptr}}});
}

Json life_document(std::uint64_t id) {
  return {{"instance", id},
          {"type", "c7i.large"},
          {"market", "spot"},
          {"zone", nullptr},
          {"master", "m0"},
          {"stage", "ended"},
          {"requested_s", kBegin},
          {"up_s", kBegin + 1},
          {"ready_s", kBegin + 2},
          {"released_s", nullptr},
          {"ended_s", kBegin + 90},
          {"why_rented", "an instance of its own costs least"},
          {"why_ended", "the cloud took the spot instance back"},
          {"usd_h", 0.0357},
          {"usd", 0.0009},
          {"tasks", Json::array({{{"job", 4},
                                  {"task", 0},
                                  {"attempt", 1},
                                  {"sent_s", kBegin + 2},
                                  {"ended_s", kBegin + 90},
                                  {"end", "lost"}}})},
          {"tasks_before", 0}};
}

Json decision_documents(std::uint64_t tick) {
  Json list = Json::array();
  for (std::uint64_t i = 0; i < 12; ++i) {
    list.push_back(
        {{"at_s", kBegin + static_cast<double>(tick) - static_cast<double>(i)},
         {"master", i % 2 == 0 ? "m0" : "m1"},
         {"round", 100 + tick - i},
         {"choice", i % 3 == 0 ? "full" : "partial"},
         {"figures", {{"saving_usd_h", 0.12}, {"migration_usd", 0.03}}},
         {"launches", i % 2},
         {"placements", i % 3},
         {"releases", 0},
         {"moves", i % 3},
         {"resizes", 0},
         {"changes", Json::array()},
         {"changes_left_out", 0},
         {"details", "Reconfigures all instances: moves 2 tasks."},
         {"sentence",
          i == 5 ? FakeBackend::kHostileName
                 : "Reconfigures all instances: moves 2 tasks; it saves $0.1200 an hour."}});
  }
  return {{"decisions", list}};
}

}  // namespace muster::api
