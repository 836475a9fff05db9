#pragma once

#include "storage/stores/backup_folder.hpp"

namespace muster {

/// Whose the folder of the plan's backups is: the node leaves a mark there, and the mark beside its
/// stores stays with it where they are moved or restored. Makes the marks that are missing. An
/// error when the folder has another one: two clusters of one name would remove each other's
/// backups.
StoreTrouble own_folder(const BackupPlan& plan);

}  // namespace muster
