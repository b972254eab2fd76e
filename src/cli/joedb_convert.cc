#include <cstdio>
#include <map>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/database_options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "interpreter/entry_copier.h"

namespace joedb {

namespace {

// Appends entries to another journal, in the shortest form there. Blobs may stand elsewhere in the
// other file, so that fields which say where they are must be changed; so must tags.
class Converter {
 public:
  Converter(const Abstract_File& file, Writable_Journal& to, const Tag_Positions& tags)
      : file_(file), to_(to), tags_(tags) {}

  template <class Entry>
  void operator()(const Entry& entry) {
    to_.append(entry);
  }

  void operator()(const Comment& e) {
    const std::string text = is_classic() ? std::string(e.text) : tags_.moved(e);
    to_.append(Comment{text});
  }

  void operator()(const Blob_Data& e) {
    const Blob copy = to_.append_blob(file_.read_blob(e.blob));
    copies_.emplace(e.blob.get_position(), copy);
  }

  void operator()(const Update<Blob>& e) {
    to_.append(Update<Blob>{e.table, e.record, e.field, copy_of(e.value)});
  }

  template <Field_Value T>
  void operator()(const Update_Vector<T>& e) {
    to_.append_vector<T>(e.table, e.record, e.field, e.size, [&](std::int64_t) {
      const T value = e.values.next();
      if constexpr (std::is_same_v<T, Blob>)
        return copy_of(value);
      else
        return value;
    });
  }

  // Blob values that are in no blob before them.
  std::int64_t unknown_blobs() const { return unknown_blobs_; }

 private:
  Blob copy_of(Blob value) {
    if (value.is_null()) return value;
    auto after = copies_.upper_bound(value.get_position());
    if (after != copies_.begin()) {
      const auto [position, copy] = *--after;
      const std::int64_t shift = value.get_position() - position;
      if (shift <= copy.get_size() && value.get_size() <= copy.get_size() - shift)
        return Blob(copy.get_position() + shift, value.get_size());
    }
    ++unknown_blobs_;
    return value;
  }

  const Abstract_File& file_;
  Writable_Journal& to_;
  const Tag_Positions& tags_;
  std::map<std::int64_t, Blob> copies_;  // by their old positions
  std::int64_t unknown_blobs_ = 0;
};

const char* const details =
    R"(OUT gets the entries of IN up to the position that --until or --at-time gives, in the shortest form
there is for them; all of them without these options. (With --classic and without --until: none,
and OUT is an empty database; with --until, the entries that begin before this position.)
)";

}  // namespace

int run_convert(std::vector<std::string> arguments) {
  Options options({"joedb_convert [options] IN OUT",
                   "Writes the history of a database, up to some position, to a new file.", details,
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
  write_new_file(out, force, [&](Writable_Journal& to) {
    name_file_in_errors(file->get_name(), [&] {
      Readonly_Journal journal(*file, reading.get_recovery());
      Tag_Positions tags;
      Converter converter(*file, to, tags);
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
