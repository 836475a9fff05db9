#include "schedulers/site/site_writer.hpp"

#include <memory>
#include <thread>
#include <utility>

namespace muster {

SiteWriter::SiteWriter(SiteStore& store, Post post) : store_(store), post_(std::move(post)) {}

void SiteWriter::persist(SiteNews news, Then then) {
  // The last write tells how the store is.
  auto answered =
      std::make_shared<const Then>([this, then = std::move(then)](const std::string& trouble) {
        trouble_ = trouble;
        then(trouble);
      });
  // The store may answer from a thread of its own, which must not touch the site.
  store_.persist(std::move(news), [answered = std::move(answered), post = post_,
                                   here = std::this_thread::get_id()](const std::string& trouble) {
    if (std::this_thread::get_id() == here) return (*answered)(trouble);
    post([answered, trouble] { (*answered)(trouble); });
  });
}

}  // namespace muster
