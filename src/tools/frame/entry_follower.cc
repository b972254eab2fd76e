#include "tools/frame/entry_follower.h"

#include <iostream>

#include "text/entry_text.h"
#include "tools/frame/output.h"
#include "tools/frame/progress.h"

namespace joedb {

namespace {

class Ignoring_Follower : public Entry_Follower {
 public:
  void advance(Readonly_Journal&) override {}
};

class Loading_Follower : public Entry_Follower {
 public:
  void advance(Readonly_Journal& journal) override {
    database_.limit_to_journal_of(journal.get_checkpoint());
    replay_with_progress(journal, database_, "loading " + journal.get_file().get_name());
  }

 private:
  Database database_;
};

template <class Writer>
class Printing_Follower : public Entry_Follower {
 public:
  template <class... Settings>
  Printing_Follower(const Abstract_File& blobs, bool is_tail, Settings... settings)
      : writer_(std::cout, &blobs, settings...), skips_(is_tail) {}

  void advance(Readonly_Journal& journal) override {
    if (skips_) {
      skips_ = false;
      return journal.replay([&]<class Entry>(const Entry& entry) {
        if constexpr (Schema_Entry<Entry>) writer_.skip(entry);
      });
    }
    if (journal.get_replay_position() == journal.get_checkpoint()) return;
    if constexpr (std::is_same_v<Writer, Sql_Writer>)
      writer_.limit_to_journal_of(journal.get_checkpoint());
    writer_.begin(journal.get_replay_position());
    journal.replay(writer_);
    writer_.end(journal.get_checkpoint());
    writer_.flush();
    finish_standard_output();
  }

 private:
  Writer writer_;
  bool skips_;
};

}  // namespace

Sql_Writer::Strings strings_in_sql() {
  return is_classic() ? Sql_Writer::Strings::bytes : Sql_Writer::Strings::text;
}

std::unique_ptr<Entry_Follower> make_entry_follower(Client_Options::Db db,
                                                    const Abstract_File& blobs) {
  using Db = Client_Options::Db;
  switch (db) {
    case Db::none:
      break;
    case Db::interpreted:
      return std::make_unique<Loading_Follower>();
    case Db::dump:
    case Db::dump_tail:
      return std::make_unique<Printing_Follower<Command_Writer>>(blobs, db == Db::dump_tail);
    case Db::sql:
    case Db::sql_tail:
      return std::make_unique<Printing_Follower<Sql_Writer>>(blobs, db == Db::sql_tail,
                                                             strings_in_sql());
  }
  return std::make_unique<Ignoring_Follower>();
}

}  // namespace joedb
