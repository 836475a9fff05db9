#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "storage/files/file_io.hpp"
#include "storage/files/file_tree.hpp"
#include "tools/client/piece_size.hpp"
#include "tools/client/staging.hpp"

namespace muster::client {

using StageFailure = Failure<StageError>;
/// Nothing when all went well.
using StageTrouble = std::optional<StageFailure>;

/// Sends what the store lacks of a tree whose files are in an open folder. `changed` when a file is
/// not as the tree says any more: such a content was not sent, or not taken.
class TreeUpload {
 public:
  /// Bounds of the API: bytes of a body of contents, and of a part of a larger content.
  static constexpr std::size_t kMostBody = std::size_t{8} << 20;
  static constexpr std::size_t kMostPart = std::size_t{4} << 20;
  /// A content in a body counts as this many bytes at least: the store waits for the disk for each,
  /// so that many small ones take it as long as few large ones. Keeps a body below the API's bound
  /// of 10,000 contents.
  static constexpr std::size_t kLeastCost = 4096;
  /// A content of more bytes is sent in parts.
  static constexpr std::uint64_t kMostWhole = std::uint64_t{1} << 20;
  /// Answers to parts that leave the content where it was, or further back.
  static constexpr int kMostSetbacks = 8;
  /// Answers that lack nothing but what was sent already.
  static constexpr int kMostFruitlessAsks = 3;

  /// All of these outlive the upload; `progress` goes on from where it stands.
  TreeUpload(ApiClient& api, const files::FileTree& tree, const StageOptions& options,
             StageProgress& progress);

  /// Until the store has the tree with all contents; its files are below `folder`.
  StageTrouble run(int folder);

 private:
  /// The store's answer about the tree.
  struct Standing {
    bool complete = false;
    std::vector<files::ContentId> missing{};
  };
  /// A content that goes in parts.
  struct Large {
    files::ContentId id{};
    std::uint64_t bytes = 0;
    /// Exactly these bytes; another number of them: it has changed.
    std::function<Expected<std::string, StageError>(std::uint64_t offset, std::size_t bytes)> read;
    /// Whether all of it still has the id, as far as can be told.
    std::function<bool()> is_intact;
  };
  struct PartAnswer {
    std::uint64_t bytes = 0;
    bool complete = false;
  };

  Expected<Standing, StageError> ask();
  StageTrouble send(const std::vector<files::ContentId>& missing);
  StageTrouble send_manifest();
  StageTrouble send_file(const files::TreeEntry& entry);
  StageTrouble send_large_file(const files::TreeEntry& entry, int file);
  StageTrouble send_large(const Large& large);
  Expected<Answer, ClientError> send_part(const Large& large, std::uint64_t offset,
                                          const std::string& bytes);
  Expected<PartAnswer, StageError> read_part_answer(const Large& large, const Answer& answer) const;
  StageTrouble add_whole(const files::ContentId& id, std::string_view bytes);
  StageTrouble flush();
  Expected<files::Descriptor, StageError> open_file(const files::TreeEntry& entry) const;
  StageTrouble tell() const;
  std::string user_part(char before) const;

  ApiClient& api_;
  const files::FileTree& tree_;
  const std::string manifest_;
  const files::ContentId id_;
  const StageOptions& options_;
  StageProgress& progress_;
  int folder_ = -1;
  PieceSize body_size_{kMostBody};
  PieceSize part_size_{kMostPart};
  std::string body_;               ///< contents that wait to be sent
  std::vector<std::string> ids_;   ///< of these
  std::uint64_t whole_bytes_ = 0;  ///< of these
  std::size_t cost_ = 0;           ///< of these
};

}  // namespace muster::client
