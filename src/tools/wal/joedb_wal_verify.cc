#include <cstdio>
#include <iostream>

#include "kernel/io/file_pieces.h"
#include "kernel/io/new_file.h"
#include "tools/frame/output.h"
#include "tools/wal/joedb_wal.h"
#include "wal/recovery.h"

namespace joedb {

namespace {

using wal::Report;

Report examine(const File& file) {
  const Report report = wal::examine(Watched_File(file));
  wal::require_log(file, report);
  return report;
}

// ---- verify -------------------------------------------------------------------------------------

const char* state_of(const Report& report) {
  if (is_good(report)) return "good";
  return report.is_damaged() ? "damaged" : "not good behind the last entry";
}

void print(const std::string& name, const Report& report) {
  std::cout << name << ": " << state_of(report) << '\n';
  if (report.end.position.offset == 0) {
    std::cout << "format:        none yet: a writer can begin a log here\n";
  } else if (report.format == wal::Format::checked) {
    char id[17];
    std::snprintf(id, sizeof id, "%016llx", static_cast<unsigned long long>(report.log_id));
    std::cout << "format:        checked\n"
              << "log id:        " << id << '\n'
              << "epoch:         " << report.epoch << '\n';
  } else {
    std::cout << "format:        cwal\n";
  }
  std::cout << "entries:       " << report.entries;
  if (report.entries > 0)
    std::cout << ", " << report.first_sequence << " to " << report.last_sequence();
  std::cout << "\nbytes:         " << report.bytes << ", in a file of " << report.file_size
            << "\nend:           offset " << report.end.position.offset << ": " << report.end.text()
            << '\n';
}

Json json_of(const std::string& name, const Report& report) {
  Json json{{"file", name}, {"good", is_good(report)}, {"damaged", report.is_damaged()}};
  if (report.end.position.offset == 0)
    json["format"] = nullptr;
  else
    json["format"] = report.format == wal::Format::checked ? "checked" : "cwal";
  json.update({{"entries", report.entries},
               {"first", report.first_sequence},
               {"bytes", report.bytes},
               {"file_size", report.file_size},
               {"end", json_of_end(report)}});
  return json;
}

}  // namespace

Json json_of_end(const Report& report) {
  return {{"sequence", report.end.position.sequence},
          {"offset", report.end.position.offset},
          {"reason", report.end.text()},
          {"later_entries", report.later_entries},
          {"known_durable", report.known_durable}};
}

bool is_good(const Report& report) {
  return ends_well(report.end.stop) && report.later_entries == 0 && !report.is_damaged();
}

void print_advice(const std::string& name, const Report& report) {
  const std::string first_bad = std::to_string(report.end.position.sequence);
  if (report.later_entries > 0)
    std::cout << "later entries: " << report.later_entries << " good, from offset "
              << report.later_offset << '\n';
  if (report.is_damaged()) {
    std::cout << "durable:       "
              << (report.format == wal::Format::cwal
                      ? "unknown in this format"
                      : "entries up to " + std::to_string(report.known_durable))
              << "; entry " << first_bad << " is damaged\n"
              << "A writer refuses this log. A copy of it may have the damaged entries. To go on "
                 "without them"
              << (report.later_entries > 0
                      ? ",\nwith the good ones behind them in a file of their own"
                      : "")
              << ":\n";
  } else if (report.later_entries > 0) {
    std::cout
        << "A power cut leaves a log like this, if these entries were not durable yet; so does "
           "damage. The\nnext writer saves them in a file of their own. To do it now:\n";
  } else {
    std::cout
        << "A power cut or a killed process leaves a log like this, and so does damage of the "
           "last\nentries. The next writer removes what is behind the end. To do it now:\n";
  }
  std::cout << "  joedb wal repair " << (report.later_entries > 0 ? "" : "--copy REMOVED ") << name
            << '\n';
}

int run_wal_verify(std::vector<std::string> arguments) {
  Options options(
      {"joedb wal verify [options] FILE",
       "Shows the contents of a log, where and why it ends, and whether it is damaged.",
       R"(Reads all entries, and verifies the bytes of each and its place in the log. Exit code 1 if the log
does not end as its writer left it: an entry is incomplete or invalid, or valid entries follow the
end. For a directory with segments, also if segments are missing. Nothing is changed.
)",
       "  joedb wal verify orders.wal\n"});
  bool is_json = false;
  add_json_option(options, is_json);
  options.set_words({kinds::file});
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;
  const std::string name = take_log(*words);
  if (std::filesystem::is_directory(name)) return verify_segments(name, is_json);

  const File file(name, Open_Mode::read_existing);
  const Report report = examine(file);
  if (is_json) {
    print_json(json_of(name, report));
  } else {
    print(name, report);
    if (!is_good(report)) print_advice(name, report);
  }
  finish_standard_output();
  return is_good(report) ? 0 : 1;
}

// ---- repair -------------------------------------------------------------------------------------

void save_end(const File& file, Offset start, const std::string& name) {
  fill_new_file(name, New_File::Existing::refuse, [&](New_File& copy) {
    copy.take_permissions(file);
    copy_end(file, start, copy);
  });
}

int run_wal_repair(std::vector<std::string> arguments) {
  Options options(
      {"joedb wal repair [options] FILE", "Truncates a log after its last valid entry.",
       R"(The file is truncated and synced. Valid entries after an invalid one are first saved in a file
FILE.tail-OFFSET: joedb wal dump --later prints them. No program may have the log open for
writing. In a directory with segments, the last segment is truncated. If segments are missing or
damaged, those after this gap are removed, or with --keep-later those before it; they are first
saved in a directory FILE.tail-SEQUENCE.
)",
       "  joedb wal repair orders.wal\n"
       "  joedb wal repair --copy removed orders.wal\n"});
  Repair repair;
  options.add_flag("--zero", repair.has_zeros,
                   "keep the size of the file: write zeros instead of truncating it");
  options.add("--copy", repair.copy,
              "first save the removed data in this new file (for segments: directory)",
              kinds::file);
  options.add_flag(
      "--keep-later", repair.keeps_later,
      "for segments: remove those before damaged or missing entries instead of those after");
  options.set_words({kinds::file});
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;
  const std::string name = take_log(*words);
  if (std::filesystem::is_directory(name)) return repair_segments(name, repair);
  if (repair.keeps_later) words->fail("--keep-later needs a directory with segments");
  return repair_file(name, repair);
}

int repair_file(const std::string& name, const Repair& repair) {
  File file(name, Open_Mode::write_existing);
  const Report report = examine(file);
  if (is_good(report)) {
    std::cout << name << ": nothing to repair: " << report.text() << '\n';
    finish_standard_output();
    return 0;
  }
  const Offset end = report.end.position.offset;
  if (!repair.copy.empty()) {
    require_new(repair.copy);
    save_end(file, end, repair.copy);
  }
  const Report done = wal::recover(file, repair.has_zeros ? wal::Tail::zero : wal::Tail::truncate);
  std::cout << name << ": " << (repair.has_zeros ? "zeros for " : "removed ")
            << report.file_size - end << " bytes from offset " << end << ": " << report.end.text()
            << '\n';
  if (report.later_entries > 0)
    std::cout << "saved:  " << counted(report.later_entries, "entry", "entries") << " that "
              << (report.later_entries == 1 ? "was" : "were") << " good, in " << done.saved << '\n';
  if (!repair.copy.empty()) std::cout << "copied: to " << repair.copy << '\n';
  std::cout << "left:   " << counted(report.entries, "entry", "entries");
  if (report.entries > 0)
    std::cout << ", " << report.first_sequence << " to " << report.last_sequence();
  std::cout << '\n';
  finish_standard_output();
  return 0;
}

}  // namespace joedb
