// Files that users send to the store and read from it, through the API.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "serve/api/file_store.hpp"
#include "storage/files/user_files.hpp"
#include "tests/serve/served.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::api {
namespace {

namespace fs = std::filesystem;
using muster::test::IsGolden;
using muster::test::IsGoldenAt;
using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

/// A server with a store, an admin's token, and one of ann's. Jobs of even numbers are ann's.
class FilesOfUsers : public testing::Test {
 protected:
  FilesOfUsers() {
    ServerOptions options;
    options.tokens = test_tokens();
    ann_ = options.tokens->create({"laptop", Role::user, "ann", 600})->secret;
    reader_ = options.tokens->create({"screen", Role::read_only})->secret;
    FileStoreOptions place;
    place.folder = store();
    place.stage_max_bytes = 1000;
    place.user_max_bytes = 50'000;
    EXPECT_FALSE(files::make_store(place.folder));
    options.files = std::make_shared<FileStore>(place);
    served_ = std::make_unique<Served>(options);
  }

  fs::path store() const { return folder_.folder() / "store"; }
  RawResponse as_ann(std::string_view method, std::string_view target, std::string_view body = {}) {
    return as(ann_, method, target, body);
  }
  RawResponse as(const std::string& secret, std::string_view method, std::string_view target,
                 std::string_view body = {}) {
    RawClient client(served_->port());
    client.send(
        fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n"
                    "Content-Length: {}\r\n\r\n{}",
                    method, target, secret, body.size(), body));
    return client.receive();
  }
  static std::string framed(const std::vector<std::string>& contents) {
    std::string body;
    for (const std::string& each : contents) {
      for (std::size_t i = 0; i < 8; ++i) body += static_cast<char>(each.size() >> (8 * i) & 0xff);
      body += each;
    }
    return body;
  }
  static std::string tree_of(const std::string& content) {
    return files::FileTree::of({{"a.txt",
                                 files::EntryKind::file,
                                 0644,
                                 content.size(),
                                 files::ContentId::of(content),
                                 {}}})
        ->encode();
  }
  static std::string id_of(std::string_view text) { return files::ContentId::of(text).text(); }
  json stage(const std::string& tree) {
    const auto answer = as_ann("POST", "/v1/files/stages", json{{"tree", id_of(tree)}}.dump());
    EXPECT_EQ(answer.status, 200) << answer.body;
    return json::parse(answer.body);
  }
  /// All of a tree of one file is in ann's part of the store.
  std::string staged(const std::string& content) {
    const std::string tree = tree_of(content);
    EXPECT_EQ(as_ann("POST", "/v1/files/contents", framed({content, tree})).status, 200);
    EXPECT_EQ(stage(tree)["complete"], true);
    return id_of(tree);
  }

  const test::TempFile folder_{"unused", ""};
  std::string ann_, reader_;
  std::unique_ptr<Served> served_;
};

TEST_F(FilesOfUsers, AreSentAsFarAsTheyAreMissing) {
  const std::string tree = tree_of("one");
  EXPECT_THAT(stage(tree)["missing"], ElementsAre(id_of(tree)));
  auto sent = as_ann("POST", "/v1/files/contents", framed({tree}));
  EXPECT_THAT(json::parse(sent.body)["contents"], ElementsAre(id_of(tree)));
  EXPECT_THAT(stage(tree)["missing"], ElementsAre(id_of("one")));
  EXPECT_EQ(as_ann("POST", "/v1/files/contents", framed({"", "one"})).status, 200);
  const json now = stage(tree);
  EXPECT_EQ(now["complete"], true);
  EXPECT_THAT(now["missing"], IsEmpty());
}

TEST_F(FilesOfUsers, ComeInPartsWhenTheyAreLarge) {
  const std::string content = "0123456789";
  const auto part = [&](std::size_t offset, std::string_view bytes) {
    const auto answer = as_ann("POST",
                               fmt::format("/v1/files/parts?id={}&size={}&offset={}",
                                           id_of(content), content.size(), offset),
                               bytes);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return json::parse(answer.body);
  };
  EXPECT_EQ(part(0, "01234"), (json{{"bytes", 5}, {"complete", false}}));
  EXPECT_EQ(part(0, "01234")["bytes"], 5);
  EXPECT_EQ(part(5, "56789"), (json{{"bytes", 10}, {"complete", true}}));
}

TEST_F(FilesOfUsers, AreNamedByJobsOnlyWhenAllOfThemAreThere) {
  const std::string tree = tree_of("one");
  const auto submit = [&](const std::string& id) {
    return as_ann("POST", "/v1/jobs", json{{"command", {"true"}}, {"stage", id}}.dump());
  };
  EXPECT_EQ(submit("./code").status, 422);
  EXPECT_THAT(message_of(submit("./code")), IsGoldenAt("stage"));
  as_ann("POST", "/v1/files/contents", framed({tree}));
  EXPECT_EQ(submit(id_of(tree)).status, 422);
  EXPECT_THAT(message_of(submit(id_of(tree))), IsGoldenAt("stage"));
  EXPECT_THAT(served_->backend.jobs(), IsEmpty());
  const std::string id = staged("one");
  const auto taken = submit(id);
  ASSERT_EQ(taken.status, 201) << taken.body;
  ASSERT_EQ(served_->backend.jobs().size(), 1u);
  EXPECT_EQ(served_->backend.jobs()[0].program.stage, id);
  // The job has its files until it is over.
  const std::uint64_t job = json::parse(taken.body)["jobs"][0]["job"];
  const auto files = files::UserFiles::open_in(store(), "ann");
  EXPECT_EQ(files.value()->pinned(job).value()->text(), id);
}

TEST_F(FilesOfUsers, AreNotThoseOfAnother) {
  const std::string id = staged("secret");
  // An admin acts for anybody; of the anonymous user there is no such tree.
  const auto as_other =
      served_->post("/v1/jobs", json{{"command", {"true"}}, {"stage", id}}.dump());
  EXPECT_EQ(as_other.status, 422);
  const auto for_ann =
      served_->post("/v1/jobs", json{{"command", {"true"}}, {"stage", id}, {"user", "ann"}}.dump());
  EXPECT_EQ(for_ann.status, 201);
  EXPECT_EQ(as_ann("POST", "/v1/files/contents?user=ben", framed({"x"})).status, 403);
  EXPECT_EQ(as_ann("POST", "/v1/files/stages", json{{"tree", id}, {"user", "ben"}}.dump()).status,
            403);
  EXPECT_EQ(served_->post("/v1/files/contents?user=ben", framed({"x"})).status, 200);
  EXPECT_TRUE(fs::exists(store() / "users/ben"));
  // Job 3 is ben's.
  EXPECT_EQ(as_ann("GET", "/v1/jobs/3/outputs").status, 403);
  EXPECT_EQ(as(reader_, "GET", "/v1/jobs/3/outputs").status, 403);
  EXPECT_EQ(as(reader_, "GET", "/v1/jobs/3/contents?id=" + id_of("x")).status, 403);
  EXPECT_EQ(as_ann("GET", "/v1/jobs/3/contents?id=" + id_of("x")).status, 403);
  EXPECT_EQ(served_->get("/v1/jobs/3/contents?id=" + id_of("x")).body, "x");
  // A content of ann's is none of ben's jobs.
  EXPECT_EQ(served_->get("/v1/jobs/3/contents?id=" + id_of("secret")).status, 404);
}

TEST_F(FilesOfUsers, StayForAJobThatIsTakenAgain) {
  const auto files = files::UserFiles::open_in(store(), "ann");
  const auto again = [&] { return as_ann("POST", "/v1/jobs/2/resubmit", "{}"); };
  EXPECT_EQ(again().status, 201) << "it began with no files";
  const auto tree = files::ContentId::parse(staged("one")).value();
  files.value()->pin(2, tree);
  const auto taken = again();
  ASSERT_EQ(taken.status, 201) << taken.body;
  const std::uint64_t job = json::parse(taken.body)["jobs"][0]["job"];
  EXPECT_EQ(files.value()->pinned(job).value(), tree);
  fs::remove(store() / "users/ann/stages" / tree.text());
  const auto refused = again();
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(message_of(refused), IsGoldenAt("stage"));
}

TEST_F(FilesOfUsers, AreListedAndReadByTheirJob) {
  EXPECT_EQ(json::parse(as_ann("GET", "/v1/jobs/2/outputs").body),
            (json{{"outputs", json::array()}, {"next", nullptr}}));
  const std::string tree = staged("0123456789");
  const auto files = files::UserFiles::open_in(store(), "ann");
  for (std::uint32_t task = 0; task < 3; ++task) {
    files.value()->outputs().put(
        2, {{task, 1}, files::ContentId::parse(tree).value(), 1, 10, 1'700'000'000, 0});
  }
  const json page = json::parse(as_ann("GET", "/v1/jobs/2/outputs?limit=2").body);
  EXPECT_EQ(page["outputs"].size(), 2u);
  EXPECT_EQ(page["outputs"][1], (json{{"task", 1},
                                      {"attempt", 1},
                                      {"tree", tree},
                                      {"files", 1},
                                      {"bytes", 10},
                                      {"kept_s", 1'700'000'000},
                                      {"skipped", 0}}));
  const std::string next = page["next"];
  const json rest = json::parse(as_ann("GET", "/v1/jobs/2/outputs?from=" + next).body);
  EXPECT_EQ(rest["outputs"].size(), 1u);
  EXPECT_EQ(rest["next"], nullptr);
  const std::string content = "/v1/jobs/2/contents?id=" + id_of("0123456789");
  EXPECT_EQ(as_ann("GET", content).body, "0123456789");
  EXPECT_EQ(as_ann("GET", content + "&offset=7&max=2").body, "78");
  EXPECT_EQ(as_ann("GET", content + "&offset=70").body, "");
}

TEST_F(FilesOfUsers, AreBounded) {
  EXPECT_EQ(as_ann("POST", "/v1/files/parts?id=" + id_of("x") + "&size=1001&offset=0", "x").status,
            422);
  const std::string large = tree_of(std::string(1001, 'x'));
  as_ann("POST", "/v1/files/contents", framed({large}));
  const auto refused = as_ann("POST", "/v1/files/stages", json{{"tree", id_of(large)}}.dump());
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(message_of(refused), IsGolden());
  const auto full = as_ann("POST", "/v1/files/contents", framed({std::string(50'001, 'x')}));
  EXPECT_EQ(full.status, 507);
  EXPECT_THAT(message_of(full), IsGolden());
}

TEST_F(FilesOfUsers, AreRefusedInOtherForms) {
  for (const char* body : {"short", "\x09\0\0\0\0\0\0\0x", "\xff\xff\xff\xff\xff\xff\xff\xff"}) {
    EXPECT_EQ(as_ann("POST", "/v1/files/contents", std::string_view(body, 8)).status, 422);
  }
  for (const char* body : {"{}", "[]", "{\"tree\": 7}", "{\"tree\": \"x\"}", "no JSON"}) {
    EXPECT_EQ(as_ann("POST", "/v1/files/stages", body).status, 422) << body;
  }
  EXPECT_EQ(as_ann("POST", "/v1/files/parts?id=x&size=1", "x").status, 422);
  EXPECT_EQ(as_ann("GET", "/v1/jobs/2/outputs?from=1").status, 422);
  EXPECT_EQ(as_ann("GET", "/v1/jobs/2/contents?id=../../key").status, 422);
  const auto pattern =
      as_ann("POST", "/v1/jobs", json{{"command", {"true"}}, {"outputs", {"a[b"}}}.dump());
  EXPECT_EQ(pattern.status, 422);
  EXPECT_THAT(message_of(pattern), IsGoldenAt("outputs"));
}

TEST(FilesOfClustersWithMachines, KeepOffThese) {
  const test::TempFile folder("unused", "");
  ServerOptions options;
  FileStoreOptions place;
  place.folder = folder.folder() / "store";
  place.families_away = {"own", "own-gpu"};
  EXPECT_FALSE(files::make_store(place.folder));
  options.files = std::make_shared<FileStore>(place);
  Served served(options);
  const auto submit = [&](const std::string& constraint) {
    json job{{"command", {"true"}}, {"outputs", {"a"}}};
    if (!constraint.empty()) job["constraint"] = constraint;
    return served.post("/v1/jobs", job.dump());
  };
  EXPECT_EQ(submit("").status, 201);
  EXPECT_EQ(submit("type=c7i.*").status, 201);
  EXPECT_EQ(served.backend.jobs().at(0).constraint, "family!=own|own-gpu");
  EXPECT_EQ(served.backend.jobs().at(1).constraint, "type=c7i.*,family!=own|own-gpu");
  EXPECT_EQ(served.post("/v1/jobs", json{{"command", {"true"}}}.dump()).status, 201);
  EXPECT_EQ(served.backend.jobs().at(2).constraint, "");
  std::string longest = "type=a";
  for (int i = 1; i < 16; ++i) longest += ",type=a";
  EXPECT_EQ(submit(longest).status, 422);
  EXPECT_THAT(message_of(submit(longest)), IsGoldenAt("constraint"));
}

TEST(FilesOfClustersOfMachinesAlone, AreRefused) {
  const test::TempFile folder("unused", "");
  ServerOptions options;
  FileStoreOptions place;
  place.folder = folder.folder() / "store";
  place.all_are_away = true;
  EXPECT_FALSE(files::make_store(place.folder));
  options.files = std::make_shared<FileStore>(place);
  Served served(options);
  const auto refused =
      served.post("/v1/jobs", json{{"command", {"true"}}, {"outputs", {"a"}}}.dump());
  EXPECT_EQ(refused.status, 409);
  EXPECT_THAT(message_of(refused), IsGolden());
}

TEST(FilesWithoutAStore, AreRefused) {
  Served served;
  EXPECT_EQ(served.get("/v1/jobs/2/outputs").status, 409);
  const auto refused =
      served.post("/v1/jobs", json{{"command", {"true"}}, {"outputs", {"a"}}}.dump());
  EXPECT_EQ(refused.status, 409);
  EXPECT_THAT(message_of(refused), IsGolden());
  EXPECT_EQ(served.post("/v1/jobs", json{{"command", {"true"}}}.dump()).status, 201);
}

}  // namespace
}  // namespace muster::api
