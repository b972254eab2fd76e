#include "kernel/io/secret_file.h"

#include <sys/stat.h>

#include "joedb/base/error.h"
#include "kernel/base/shell_word.h"
#include "kernel/io/new_file.h"

namespace joedb::inline v1 {

void write_secret(const std::string& name, std::string_view text) {
  write_new_file(name, New_File::Existing::refuse, text, 0600);
}

void require_secret(const std::string& name) {
  struct stat status;
  if (::stat(name.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  const mode_t refused = status.st_uid == 0 ? 026 : 066;
  if ((status.st_mode & refused) == 0) return;
  throw Exception(name +
                  ": other users can read this secret or change it. To mend this: chmod 600 " +
                  shell_word(name));
}

}  // namespace joedb::inline v1
