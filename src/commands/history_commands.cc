#include <algorithm>
#include <map>
#include <set>

#include "commands/commands.h"
#include "kernel/base/parse_number.h"
#include "kernel/journal/past_file.h"
#include "text/conflict_text.h"
#include "text/history_text.h"

namespace joedb::inline v1 {

namespace {

// ---- lines --------------------------------------------------------------------------------------

// The words of a line, with or without double quotes. Options may be anywhere between them.
class Verb_Line {
 public:
  using Names = std::vector<std::string_view>;

  // Reads the whole line. `valued` are the options that have a value.
  Verb_Line(Line_Reader& in, const Names& flags, const Names& valued) : in_(in) {
    const auto has = [](const Names& names, std::string_view name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    while (in.has_more()) {
      if (!in.peek_word().starts_with('-')) {
        words_.emplace_back(in.read_value<std::string_view>());
        continue;
      }
      const std::string name(in.read_word("option"));
      if (has(flags, name))
        flags_.insert(name);
      else if (has(valued, name))
        values_[name] = in.read_value<std::string_view>();
      else
        throw in.error("unknown option: " + name);
    }
  }

  // Returns the next word; nullopt if there is none.
  std::optional<std::string> take() {
    if (next_ == words_.size()) return {};
    return words_[next_++];
  }
  std::string take(const std::string& what) {
    if (auto word = take()) return *std::move(word);
    in_.read_word(what);  // throws, because no words are left
    return "";
  }
  void require_end() const {
    if (next_ < words_.size()) throw in_.error("too much: " + words_[next_]);
  }
  bool has(const std::string& flag) const { return flags_.contains(flag); }
  std::optional<std::string> value(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }
  index_t number(const std::string& text, const std::string& what) const {
    const auto number = parse_number<index_t>(text);
    if (!number || *number < 0) throw in_.error(what + " expected, got `" + text + '`');
    return *number;
  }

 private:
  Line_Reader& in_;
  std::vector<std::string> words_;
  std::size_t next_ = 0;
  std::set<std::string> flags_;
  std::map<std::string, std::string> values_;
};

// ---- showing ------------------------------------------------------------------------------------

// The history commands, and the objects on which they operate.
class Verbs {
 public:
  Verbs(Command_Loop& loop, const Database& database, Abstract_File& file, Offset end,
        const Command_Options& options)
      : loop_(loop),
        database_(database),
        file_(file),
        end_of_journal_([end] { return end; }),
        now_(options.now) {}
  Verbs(Command_Loop& loop, Writable_Database& database, const Command_Options& options)
      : loop_(loop),
        database_(std::as_const(database).get_database()),
        file_(std::as_const(database).get_journal().get_file()),
        end_of_journal_([&database] {
          database.flush();
          return std::as_const(database).get_journal().get_position();
        }),
        now_(options.now),
        writable_(&database),
        start_(std::as_const(database).get_journal().get_position()) {}

  void log(Line_Reader& in, std::ostream& out) const {
    Verb_Line line(in, {"-p", "--reverse"}, {"--max", "--since", "--until", "--table", "--record"});
    line.require_end();
    Past_File file = journal();
    Log_Request request{.since = parse(line.value("--since")),
                        .until = parse(line.value("--until")),
                        .has_changes = line.has("-p"),
                        .is_reverse = line.has("--reverse"),
                        .check = [this] { loop_.display().check(); }};
    Change_Options& options = request.changes;
    if (const auto table = line.value("--table")) {
      options.tables = tables_named(file, *table);
      if (options.tables.empty()) throw Exception("there has never been a table " + *table);
    }
    if (const auto record = line.value("--record")) {
      if (options.tables.empty()) throw Exception("--record needs --table");
      options.record = Record_Id(line.number(*record, "record id"));
    }
    if (const auto max = line.value("--max"))
      request.max = static_cast<std::size_t>(line.number(*max, "number"));
    const Record_Id record = options.record;
    Log_View view(file, std::move(request));
    History_Text text(out, {.has_colours = loop_.display().has_colours,
                            .record = record,
                            .position_width = std::to_string(view.end()).size(),
                            .tags = &view.tags()});
    view.print(text);
    view.require_complete();
  }

  void show(Line_Reader& in, std::ostream& out) const {
    Verb_Line line(in, {}, {});
    const auto when = parse(line.take());
    line.require_end();
    Past_File file = journal();
    const Transaction transaction = read_transaction(file, when, {});
    const Tags tags = read_tags(file);
    History_Text(out, {.has_colours = loop_.display().has_colours, .tags = &tags})
        .print_all(transaction);
  }

  void diff(Line_Reader& in, std::ostream& out) const {
    Verb_Line line(in, {"--stat"}, {});
    const When from = parse(line.take("a position, time or tag"));
    const auto to = parse(line.take());
    line.require_end();
    Past_File file = journal();
    const Offset a = find_position(file, from);
    const Offset b = to ? find_position(file, *to) : file.get_size();
    History_Text(out, {.has_colours = loop_.display().has_colours})
        .print_difference(net_changes(file, a, b), !line.has("--stat"));
  }

  void blame(Line_Reader& in, std::ostream& out) const {
    Verb_Line line(in, {"--fields"}, {});
    Blamed blamed;
    blamed.table = line.take("table name");
    if (const auto record = line.take()) {
      blamed.record = Record_Id(line.number(*record, "record id"));
      blamed.field = line.take().value_or("");
    }
    line.require_end();
    blamed.has_fields = line.has("--fields");
    Past_File file = journal();
    History_Text text(out, {.has_colours = loop_.display().has_colours});
    for_each_blame_line(file, database_, file.get_size(), blamed, Recovery::none,
                        [&](const Blame_Line& blame_line) {
                          loop_.display().check();
                          text.print(blame_line, !blamed.record);
                        });
  }

  void tag(Line_Reader& in, std::ostream& out) {
    Verb_Line line(in, {"--delete", "--force"}, {"--author"});
    const auto name = line.take();
    const auto when = parse(line.take());
    line.require_end();
    const bool is_removal = line.has("--delete");
    if (is_removal && (!name || when)) throw Exception("--delete: a name, and no position");
    Past_File file = journal();
    if (!name) {
      out << tag_list_text(read_tags(file));
      return;
    }
    if (writable_ == nullptr) throw Exception("the database can only be read");
    Transaction_Content wanted;
    wanted.comment = is_removal ? tag_removal_comment(file, *name)
                                : tag_comment(file, *name, when, line.has("--force"));
    write(wanted, {}, line);
    out << wanted.comment << '\n';
  }

  // ---- writing

  void undo(Line_Reader& in, std::ostream& out) {
    Change_Line line(in, {"--message", "--author"},
                     {"--dry-run", "--ours", "--theirs", "--schema"});
    line.may_drop = line.words.has("--schema");
    const auto when = parse(line.words.take());
    line.words.require_end();
    if (when && when->moment && when->moment->kind == Moment::Kind::time)
      throw Exception(when->text + ": expected a position, as log shows it, or a tag");
    change(line, out, [&](Abstract_File& file) {
      // If another process left an incomplete transaction, this session has written Valid_Data
      // before its own first entry. Therefore its entries are a separate transaction.
      const Writable_Journal& own = std::as_const(*writable_).get_journal();
      const bool has_written = own.get_position() > start_;
      return undo_changes(file, when, Recovery::none,
                          has_written ? Unfinished::transaction : Unfinished::refused);
    });
  }

  void revert(Line_Reader& in, std::ostream& out) {
    Change_Line line(in, {"--message", "--author"});
    const Moment_Range range = parse_range(line.words.take("A..B"), now_());
    line.words.require_end();
    change(line, out,
           [&](Abstract_File& file) { return revert_changes(file, range, Recovery::none); });
  }

  void restore(Line_Reader& in, std::ostream& out) {
    Change_Line line(in, {"--message", "--author", "--at"});
    Restored_Record restored;
    restored.table = line.words.take("table name");
    restored.record = Record_Id(line.words.number(line.words.take("record id"), "record id"));
    line.words.require_end();
    const auto when = line.words.value("--at");
    if (!when) throw Exception("--at is missing");
    restored.when = parse(*when);
    change(line, out, [&](Abstract_File& file) {
      return restore_changes(file, database_, restored, Recovery::none);
    });
  }

 private:
  // Parses the options of undo, revert and restore.
  struct Change_Line {
    Change_Line(Line_Reader& in, const Verb_Line::Names& valued,
                const Verb_Line::Names& flags = {"--dry-run", "--ours", "--theirs"})
        : words(in, flags, valued) {
      if (words.has("--ours") && words.has("--theirs"))
        throw in.error("--ours and --theirs exclude each other");
    }
    Conflicts conflicts() const {
      return words.has("--ours")     ? Conflicts::ours
             : words.has("--theirs") ? Conflicts::theirs
                                     : Conflicts::refuse;
    }
    Verb_Line words;
    bool may_drop = true;
  };

  template <class Find>
  void change(const Change_Line& line, std::ostream& out, const Find& find) {
    Past_File file = journal();
    Transaction_Content wanted = find(file);
    if (const auto message = line.words.value("--message")) wanted.comment = *message;
    const Plan plan = plan_changes(database_, wanted.changes, line.conflicts());
    print_conflicts(out, plan);
    if (!plan.is_possible) throw Exception(refusal_text(plan, line.words.has("--theirs")));
    History_Text text(out, {.has_colours = loop_.display().has_colours});
    if (plan.changes.empty() || line.words.has("--dry-run")) return text.print_plan(plan, nullptr);
    if (!line.may_drop) require_no_drops(plan);
    const Transaction_Info written = write(wanted, plan, line.words);
    text.print_plan(plan, &written);
  }

  Transaction_Info write(const Transaction_Content& wanted, const Plan& plan,
                         const Verb_Line& line) {
    const Writable_Journal& own_journal = std::as_const(*writable_).get_journal();
    const Offset start = own_journal.get_position();
    try {
      return write_transaction(*writable_, wanted, plan, line.value("--author").value_or(""),
                               now_());
    } catch (const Exception& error) {
      if (own_journal.get_position() == start) throw;
      throw Exception(error.what() +
                      std::string(". A part of the transaction was written: rollback forgets "
                                  "everything since the last checkpoint"));
    }
  }

  Past_File journal() const { return {file_, end_of_journal_()}; }

  When parse(const std::string& text) const {
    if (auto when = parse_when(text, now_())) return *std::move(when);
    throw Exception("\"" + text + "\" is neither a position, a time nor the name of a tag");
  }
  std::optional<When> parse(const std::optional<std::string>& text) const {
    return text ? std::optional(parse(*text)) : std::nullopt;
  }

  Command_Loop& loop_;
  const Database& database_;
  Abstract_File& file_;
  const std::function<Offset()> end_of_journal_;
  const std::function<std::int64_t()> now_;
  Writable_Database* const writable_ = nullptr;
  const Offset start_ = 0;  // start of the session
};

// ---- help ---------------------------------------------------------------------------------------

constexpr Command_Help help[] = {
    {"log", "-p|--reverse|--max|--since|--until|--table|--record...",
     "list the transactions, newest first. OPTION is -p (with changes), --reverse (oldest first), "
     "--max N (the last N), --since WHEN, --until WHEN, --table T, or --record ID with --table",
     "log\nlog -p --max 3\nlog --table person --record 3 -p\nlog --since \"2 hours ago\"\n"},
    {"show", "new", "show a transaction with all its changes; WHEN defaults to the last one",
     "show\nshow 137\n"},
    {"diff", "new --stat...",
     "show the differences between the state at WHEN and an earlier or later state (default: the "
     "present one); with --stat, only their number",
     "diff yesterday\ndiff 129 137 --stat\n"},
    {"blame", "table record field --fields",
     "show which transactions wrote the records of a table, or the values of one record; with "
     "--fields, all values of the table",
     "blame person\nblame person 3\nblame person 3 age\n"},
    {"tag", "new --force|--delete|--author...",
     "list the tags, or give a tag to a position; WHEN defaults to the end of the journal. OPTION "
     "is --force (replace the tag), --delete (remove it), or --author NAME",
     "tag\ntag v1\ntag v1 137 --force\ntag --delete v1\n"},
    {"undo", "--dry-run|--ours|--theirs|--schema|--message|--author...",
     "append a transaction that undoes another one; WHEN defaults to the last transaction with "
     "changes. OPTION is --dry-run (write nothing), --ours (on conflict, keep the present value), "
     "--theirs (on conflict, write the old value), --schema (also drop tables and fields), "
     "--message TEXT, or --author NAME",
     "undo\nundo 137 --dry-run\nundo --message \"too early\"\n"},
    {"revert", "new --dry-run|--ours|--theirs|--message|--author...",
     "append a transaction that undoes all transactions after A, up to B; OPTION as for undo",
     "revert 137..\nrevert v1..v2 --dry-run\n"},
    {"restore", "--at new table new --dry-run|--ours|--theirs|--message|--author...",
     "restore a record to its version at WHEN; OPTION as for undo",
     "restore --at 137 person 3\nrestore --at yesterday person 3 --dry-run\n"},
};

using Run = std::function<void(Line_Reader&, std::ostream&)>;

void add_verbs(Command_Loop& loop, const std::shared_ptr<Verbs>& verbs, bool is_writable) {
  const auto run = [&](void (Verbs::*verb)(Line_Reader&, std::ostream&)) -> Run {
    return [verbs, verb](Line_Reader& in, std::ostream& out) { (*verbs.*verb)(in, out); };
  };
  const auto show = [&](void (Verbs::*verb)(Line_Reader&, std::ostream&) const) -> Run {
    return [verbs, verb](Line_Reader& in, std::ostream& out) { (*verbs.*verb)(in, out); };
  };
  Command_Group group{"History",
                      {{"log", "log [<log_option> ...]", show(&Verbs::log), true},
                       {"show", "show [<when>]", show(&Verbs::show), true},
                       {"diff", "diff <when> [<when>] [--stat]", show(&Verbs::diff), true},
                       {"blame", "blame <table_name> [<record_id> [<field_name>]] [--fields]",
                        show(&Verbs::blame), true},
                       {"tag", "tag [<tag_name> [<when>] [<tag_option> ...]]", run(&Verbs::tag)}}};
  if (is_writable) {
    group.commands.push_back({"undo", "undo [<when>] [<undo_option> ...]", run(&Verbs::undo)});
    group.commands.push_back({"revert", "revert <A..B> [<undo_option> ...]", run(&Verbs::revert)});
    group.commands.push_back({"restore",
                              "restore --at <when> <table_name> <record_id> [<undo_option> ...]",
                              run(&Verbs::restore)});
  }
  loop.add_group(std::move(group));
  loop.add_help(help);
}

}  // namespace

void add_history_commands(Command_Loop& loop, const Database& database, Abstract_File& file,
                          Offset end, const Command_Options& options) {
  if (loop.settings().is_classic) return;
  add_verbs(loop, std::make_shared<Verbs>(loop, database, file, end, options), false);
}

void add_history_commands(Command_Loop& loop, Writable_Database& database,
                          const Command_Options& options) {
  if (loop.settings().is_classic) return;
  add_verbs(loop, std::make_shared<Verbs>(loop, database, options), true);
}

}  // namespace joedb::inline v1
