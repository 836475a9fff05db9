#include "serve/hosts/join_desk.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "actors/link/join_pki.hpp"
#include "actors/link/pki.hpp"
#include "model/rng.hpp"
#include "tests/serve/hosts/host_book_fixture.hpp"

namespace muster::hosts {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// The desk over a real authority.
class JoinDeskTest : public HostBookTest {
 protected:
  JoinDeskTest() {
    EXPECT_TRUE(create_authorities(scratch_.folder() / "pki", {}).has_value());
    desk_ = std::make_unique<JoinDesk>(
        book_, JoinDeskSetup{scratch_.folder() / "pki", "PEM",
                             [this](const JoinPeer&, int status, const std::string& about) {
                               audited_.push_back(std::to_string(status) + " " + about);
                             }});
  }
  api::Response post(const std::string& path, const std::string& body,
                     const std::string& key = "") {
    api::Request asked;
    asked.head.method = "POST";
    asked.head.target = path;
    asked.body = body;
    return desk_->answer(asked, {"10.0.0.1", key});
  }

  std::unique_ptr<JoinDesk> desk_;
  std::vector<std::string> audited_;
};

TEST_F(JoinDeskTest, a_machine_gets_a_certificate_for_its_number_alone) {
  JoinRequest asked = request(token());
  const KeyRequest key = make_key_request().value();
  asked.request = key.request;
  const api::Response response = post(kJoinPath, to_json(asked));
  ASSERT_EQ(response.status, 201) << response.body;
  const JoinAnswer answer = join_answer_from(response.body).value();
  EXPECT_EQ(answer.host, 1u);
  const auto file = scratch_.folder() / "host.pem";
  std::ofstream(file) << answer.certificate;
  const CertificateInfo info = describe_certificates(file)->front();
  EXPECT_EQ(info.subject, "host-1");
  EXPECT_THAT(info.hosts, ElementsAre("host-1"));
  EXPECT_FALSE(info.authority);
  EXPECT_THAT(audited_, ElementsAre("201 host 1 by join token " + asked.token_id));
}

TEST_F(JoinDeskTest, a_machine_that_asks_again_is_signed_and_written_down_once) {
  JoinRequest asked = request(token());
  asked.request = make_key_request()->request;
  const std::string first = post(kJoinPath, to_json(asked)).body;
  EXPECT_EQ(post(kJoinPath, to_json(asked)).body, first);
  EXPECT_EQ(audited_.size(), 1u);
}

TEST_F(JoinDeskTest, nothing_but_joining_goes_without_a_certificate) {
  EXPECT_EQ(post(kReportPath, to_json(Report{"r", "b", {}})).status, 401);
  EXPECT_EQ(post(kCertifyPath, to_json(CertifyRequest{InstanceId{1}, ""})).status, 401);
  EXPECT_EQ(post("/v1/jobs", "{}").status, 404);
  EXPECT_EQ(post(kReportPath, to_json(Report{"r", "b", {}}), "somebody").status, 404);
}

TEST_F(JoinDeskTest, a_request_that_is_nested_deeply_is_refused) {
  const std::string nested = std::string(6000, '[') + std::string(6000, ']');
  const std::string head =
      R"({"version":1,"run":"r","boot":"b","token_id":"","secret":"","request":"",)";
  const std::string body = head + R"("name":"","measured":{"cpus":)" + nested + "}}";
  EXPECT_EQ(post(kJoinPath, body).status, 400);
  EXPECT_EQ(post(kReportPath, body, "nobody").status, 400);
}

/// Changes, adds, drops and repeats bytes, as whoever looks for a hole would.
std::string mutated(std::string text, Rng& rng) {
  const auto at = [&] { return static_cast<std::size_t>(rng.below(text.size() + 1)); };
  const std::uint64_t changes = 1 + rng.below(6);
  for (std::uint64_t i = 0; i < changes && !text.empty(); ++i) {
    const std::size_t place = std::min(at(), text.size() - 1);
    switch (rng.below(5)) {
      case 0:
        text[place] = static_cast<char>(rng.below(256));
        break;
      case 1:
        text.erase(place, rng.below(20));
        break;
      case 2:
        text.insert(place, text.substr(at() / 2, rng.below(40)));
        break;
      case 3:
        text.insert(place, std::string(rng.below(30), "[{\"9\\"[rng.below(5)]));
        break;
      default:
        text.resize(place);
    }
  }
  return text;
}

TEST_F(JoinDeskTest, requests_of_chance_are_answered_and_let_nobody_in) {
  JoinRequest good = request(token());
  good.request = make_key_request()->request;
  JoinRequest used_up = good;
  used_up.secret = std::string(32, '0');
  const std::vector<std::string> bodies{to_json(used_up), to_json(Report{"r", "b", {1, 1, 0, 1}}),
                                        to_json(CertifyRequest{InstanceId{3}, good.request})};
  Rng rng(7);
  for (int i = 0; i < 5000; ++i) {
    const std::string body = mutated(bodies[rng.below(bodies.size())], rng);
    for (const char* path : {kJoinPath, kReportPath, kCertifyPath}) {
      const int status = post(path, body, "nobody").status;
      EXPECT_GE(status, 400) << body;
      EXPECT_LT(status, 500) << body;
    }
  }
  EXPECT_THAT(book_->list(), IsEmpty());
}

}  // namespace
}  // namespace muster::hosts
