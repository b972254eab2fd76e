#include <cstdio>

#include "rewrite/entry_copier.h"
#include "tools/frame/arguments.h"
#include "tools/frame/command.h"
#include "tools/frame/database_options.h"
#include "tools/frame/new_database_file.h"
#include "tools/frame/output.h"
#include "tools/frame/progress.h"

namespace joedb {

namespace {

const char* const convert_details =
    R"(Writes the entries of IN to OUT, each in its shortest encoding, up to the position that --until or
--at-time gives; without these options, all entries. (With --classic and without --until: no
entries, so that OUT is an empty database; with --until: the entries that begin before this
position.)
)";

}  // namespace

int run_convert(std::vector<std::string> arguments) {
  Options options({"joedb_convert [options] IN OUT",
                   "Rewrites the history of a database, up to some position, to a new file.",
                   convert_details,
                   "  joedb_convert people.joedb copy.joedb\n"
                   "  joedb_convert --until 4711 people.joedb as_it_was.joedb\n"});
  Reading_Options reading;
  bool force = false;
  add_reading_options(options, reading);
  Source_Options source;
  add_source_options(options, source);
  add_force_option(options, force);
  add_classic_option(options);
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;

  const std::string in = words->take_name();
  const std::string out = words->take_last_name();
  if (!is_classic()) require_other_file(out, in);
  const auto file = open_source(in, source);
  write_new_database(out, force, [&](Writable_Journal& to) {
    name_file_in_errors(file->get_name(), [&] {
      Readonly_Journal journal(*file, reading.get_recovery());
      Tag_Positions tags;
      Blob_Map blobs;
      Entry_Copier converter(*file, to, blobs, is_classic() ? nullptr : &tags);
      if (is_classic()) {
        if (reading.moment.is_given()) reading.replay(journal, converter, "");
      } else {
        const Offset end = reading.end_of(journal);
        Readonly_Journal(*file, reading.get_recovery()).replay(tags, end);
        tags.copy(journal, end, to, [&](Offset position) {
          replay_with_progress(journal, converter, "converting " + file->get_name(), position);
        });
        reading.require_replayed_to(end, journal);
      }
      if (converter.unknown_blobs() > 0)
        std::fprintf(stderr, "warning: %lld values of blob fields are outside of all blobs\n",
                     static_cast<long long>(converter.unknown_blobs()));
    });
  });
  return 0;
}

}  // namespace joedb
