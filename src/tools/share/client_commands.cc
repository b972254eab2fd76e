#include "tools/share/client_commands.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <iostream>
#include <optional>

#include "joedb/io/posix_file.h"
#include "kernel/base/plain_text.h"
#include "kernel/base/time.h"
#include "kernel/journal/late_file.h"
#include "share/network/protocol.h"
#include "tools/frame/arguments.h"
#include "tools/frame/lock_notice.h"
#include "tools/frame/stop_signal.h"

namespace joedb {

namespace {

constexpr Command_Help client_help[] = {
    {"transaction", "value",
     "run a transaction: lock the file and the connection, pull, and read commands like joedbi, "
     "until quit or the end of the input; then push and write a checkpoint. The transaction is "
     "rolled back if the push is refused, if the output cannot be written, or, without a "
     "connection, if the checkpoint cannot be written. rollback ends it and discards its changes. "
     "abort ends it and leaves its entries after the checkpoint. With a text, the transaction ends "
     "with this text as a comment and with a time stamp, which joedb log shows",
     "transaction\ntransaction \"the first delivery\"\n"},
    {"rollback", "",
     "discard the entries of an aborted transaction. Until then, transactions and pulls are "
     "refused",
     "rollback\n"},
    {"db", "", "read commands that only show data, until quit", "db\n"},
    {"pull", "number",
     "read new transactions of other writers, from the file or the connection; wait up to WAIT "
     "seconds for them, or until SIGINT (Ctrl-C). If there are none, the modification time of the "
     "file is set",
     "pull\npull 60\n"},
    {"push", "", "send the connection the data that it does not have", "push\n"},
    {"pull_every", "number number", "pull repeatedly, until SIGINT. Defaults: 1 and 0 seconds",
     "pull_every\npull_every 10 5\n"},
    {"push_every", "number", "push repeatedly, until SIGINT. Default: 1 second", "push_every 60\n"},
    {"break_lock", "",
     "take the server's lock from the client that has it, which loses its push in progress, unless "
     "all of it has arrived. For clients with the role admin, and those at the server's own socket",
     "break_lock\n"},
    {"set_valid_data", "true|false", "end transactions with a valid_data mark: true or false",
     "set_valid_data true\n"},
    {"set_timestamp", "true|false", "end transactions with a time stamp: true or false",
     "set_timestamp true\n"},
    {"set_hard_checkpoint", "true|false",
     "end later transactions with a hard checkpoint: true or false", "set_hard_checkpoint true\n"},
    {"set_author", "value", "set the author that joedb log shows for transactions with a comment",
     "set_author \"Ann\"\n"},
    {"abort", "", "exit with code 1", "abort\n"},
};

using std::chrono::milliseconds;
// Maximum delay between a stop signal and the end of a wait.
constexpr milliseconds max_wait{200};
constexpr milliseconds classic_max_wait{500};

// Reads a number of seconds, which may have decimals. If the argument is missing or invalid,
// returns `fallback`.
milliseconds read_seconds(Line_Reader& in, double fallback) {
  const double n = in.has_more() ? in.read_value<double>() : fallback;
  const bool is_usable = !in.has_failed() && n >= 0 && n <= 1e9;
  return milliseconds(static_cast<std::int64_t>(1000 * (is_usable ? n : fallback)));
}

class Client_Commands {
 public:
  Client_Commands(Command_Loop& loop, Client& client, Abstract_File& file,
                  const Client_Interpreters& interpreters)
      : loop_(loop), client_(client), file_(file), interpreters_(interpreters) {}

  void db(std::ostream& out) {
    const Offset difference = client_.get_checkpoint_difference();
    if (interpreters_.server != nullptr && difference > 0 && !loop_.settings().is_classic)
      print_notice(client_.get_journal_checkpoint() <= journal_start
                       ? "nothing was pulled yet: the command pull gets the data"
                       : "this is the state of the last pull: the command pull gets newer data");
    Command_Loop nested(loop_.settings(),
                        [this] { return client_prompt(client_) + "/" + interpreters_.db_name; });
    interpreters_.add_db_commands(nested);
    const Command_Loop::End end = nested.run(loop_.input(), out);
    loop_.add(nested.failures());
    if (end == Command_Loop::End::abort) throw Exception("aborted");
    if (end == Command_Loop::End::error) loop_.end(end);
  }

  void transaction(std::ostream& out, std::string_view why) {
    std::optional<Lock_Notice> notice(interpreters_.server);
    // Control-C must end the program during the wait for the lock, which may be long.
    std::optional<Interrupts_End_Program> may_wait(std::in_place);
    Client_Lock lock(client_);
    may_wait.reset();
    notice.reset();
    if (!why.empty()) lock.explain(why);
    Command_Loop nested(loop_.settings(), [this] {
      return client_prompt(client_) + "/" + interpreters_.transaction_name;
    });
    interpreters_.add_transaction_commands(nested);
    const auto reached = [this] {
      const Offset local = client_.get_journal_checkpoint();
      return std::max(local, local + client_.get_checkpoint_difference());
    };
    const Offset start = reached();
    const auto roll_back = [&] {
      lock.unlock();
      std::cerr << (reached() > start ? "changes up to the last checkpoint, here or at the "
                                        "connection, are kept; the rest was rolled back\n"
                                      : "the transaction was rolled back\n");
    };
    Command_Loop::End end;
    try {
      end = nested.run(loop_.input(), out);
      loop_.add(nested.failures());
      if (end == Command_Loop::End::end_of_input || end == Command_Loop::End::quit) {
        // joedb 10 keeps the entries in its file if it could not push them.
        if (loop_.settings().is_classic) {
          lock.do_checkpoint();
        } else {
          may_wait.emplace();
          return lock.checkpoint_and_push_unlock();
        }
      }
    } catch (...) {
      roll_back();
      throw;
    }
    if (end == Command_Loop::End::abort) {
      lock.abandon();
      throw Exception("aborted");
    }
    if (end == Command_Loop::End::error) {
      roll_back();
      loop_.end(end);
      return;
    }
    may_wait.emplace();
    lock.push_unlock();
  }

  void pull(std::ostream& out, milliseconds wait) {
    Stop_Signal stop;
    pull(out, wait, stop);
  }

  void pull_every(std::ostream& out, milliseconds wait, milliseconds sleep) {
    repeat(out, sleep, [&](Stop_Signal& stop) { pull(out, wait, stop); });
  }

  void break_lock(std::ostream& out) {
    if (interpreters_.server == nullptr)
      throw Exception("this client is connected to no server, which could give it the lock");
    std::string answer = ask_server(*interpreters_.server, network::break_lock_word);
    if (answer.ends_with('\n')) answer.pop_back();
    if (plain_size<'\\'>(answer) < answer.size() || answer.size() < 3)
      throw Exception("the server did not answer: it may be an older one");
    const std::string text = answer.substr(3);
    if (!answer.starts_with("ok ")) throw Exception(text);
    out << text << '\n';
  }

  void push() {
    const Lock_Notice notice(interpreters_.server);
    const Interrupts_End_Program may_wait;
    client_.push_if_ahead();
  }

  void push_every(std::ostream& out, milliseconds sleep) {
    repeat(out, sleep, [&](Stop_Signal&) {
      client_.pull_file();
      client_.push_if_ahead();
    });
  }

 private:
  // Pulls once. Even if there is nothing new, updates the modification time of the file, to show
  // that the client is still polling.
  void pull(std::ostream& out, milliseconds wait, Stop_Signal& stop) {
    Offset size = 0;
    milliseconds part;
    do {
      part = std::min(wait, loop_.settings().is_classic ? classic_max_wait : max_wait);
      if (!ask_until_signal(part, [&] { size = client_.pull(part); })) break;
      wait -= part;
    } while (size == 0 && wait > wait.zero() && !stop.has_come());
    if (size > 0)
      out << "pulled " << size << " bytes, checkpoint = " << client_.get_journal_checkpoint()
          << '\n';
    else if (File* const file = Late_File::find_file(file_); file && !file->is_readonly())
      file->touch();
  }

  template <class F>
  void repeat(std::ostream& out, milliseconds sleep, F f) {
    Stop_Signal stop;
    while (!stop.has_come()) {
      if (!is_answered(stop, f)) continue;
      if (sleep > sleep.zero())
        out << time_text(std::time(nullptr)) << ". Sleeping for "
            << std::chrono::duration<double>(sleep).count() << " seconds...\n";
      out.flush();
      stop.sleep(sleep);
    }
  }

  // Calls f(stop). If the connection has been lost for too long, pauses, and returns false: these
  // commands run forever, unless the command line limits the time for retries.
  template <class F>
  bool is_answered(Stop_Signal& stop, F f) {
    try {
      f(stop);
      return true;
    } catch (const Connection_Lost& error) {
      if (interpreters_.gives_up) throw;
      print_notice(std::string(error.what()) + "; trying again. Ctrl-C gives up");
      stop.sleep(std::chrono::seconds(1));
      return false;
    }
  }

  Command_Loop& loop_;
  Client& client_;
  Abstract_File& file_;
  const Client_Interpreters& interpreters_;
};

Interpreter_Command setting(std::string_view name, std::string_view help, bool& value) {
  return {name, help, [&value](Line_Reader& in, std::ostream&) {
            const bool wanted = in.read_value<bool>();
            if (in.has_failed()) throw Exception("expected true or false");
            in.require_end();
            value = wanted;
          }};
}

Interpreter_Command break_lock_command(const std::shared_ptr<Client_Commands>& commands) {
  return {"break_lock", "break_lock (take the server's lock from the client that has it)",
          without_arguments([commands](std::ostream& out) { commands->break_lock(out); })};
}

}  // namespace

std::string client_prompt(const Client& client) {
  std::string text = client.can_write() ? "writable_client(" : "readonly_client(";
  text += std::to_string(client.get_journal_checkpoint());
  const Offset difference = client.get_checkpoint_difference();
  if (difference > 0) return text + "+" + std::to_string(difference) + ")(pull to sync)";
  if (difference < 0)
    return text + std::to_string(difference) +
           (!client.is_pullonly() ? ")(push to sync)" : ")(cannot push)");
  return text + (client.has_tail() ? ")*" : ")");
}

void add_client_commands(Command_Loop& loop, Client& client, Abstract_File& file,
                         const Client_Interpreters& interpreters) {
  loop.add_help(client_help);
  const auto commands = std::make_shared<Client_Commands>(loop, client, file, interpreters);
  Command_Group reading{
      "Client",
      {{"db", "db", without_arguments([commands](std::ostream& out) { commands->db(out); })},
       {"pull", "pull [<wait_seconds>]",
        [commands](Line_Reader& in, std::ostream& out) {
          const milliseconds wait = read_seconds(in, 0);
          in.require_end();
          commands->pull(out, wait);
        }},
       {"pull_every", "pull_every [<wait_seconds> [<sleep_seconds>]]",
        [commands](Line_Reader& in, std::ostream& out) {
          const milliseconds wait = read_seconds(in, 1);
          const milliseconds sleep = read_seconds(in, 0);
          in.require_end();
          commands->pull_every(out, wait, sleep);
        }}}};
  if (!client.is_pullonly()) {
    reading.commands.push_back(
        {"push", "push", without_arguments([commands](std::ostream&) { commands->push(); })});
    reading.commands.push_back({"push_every", "push_every [<sleep_seconds>]",
                                [commands](Line_Reader& in, std::ostream& out) {
                                  const milliseconds sleep = read_seconds(in, 1);
                                  in.require_end();
                                  commands->push_every(out, sleep);
                                }});
  }
  if (!loop.settings().is_classic) reading.commands.push_back(break_lock_command(commands));
  loop.add_group(std::move(reading));
  if (!client.can_write()) return;

  Transaction_Settings& settings = client.settings();
  const bool is_classic = loop.settings().is_classic;
  loop.add_group(
      {"Writable Client",
       {{"transaction", is_classic ? "transaction" : "transaction [<why>]",
         [commands, is_classic](Line_Reader& in, std::ostream& out) {
           const std::string why =
               !is_classic && in.has_more() ? std::string(in.read_value<std::string_view>()) : "";
           in.require_end();
           commands->transaction(out, why);
         }},
        {"rollback", "rollback (forget what an aborted transaction has left)",
         without_arguments([&client] { client.rollback(); })},
        setting("set_valid_data", "set_valid_data <true|false>", settings.has_valid_data),
        setting("set_timestamp", "set_timestamp <true|false>", settings.has_timestamp),
        setting("set_hard_checkpoint", "set_hard_checkpoint <true|false>", settings.is_hard)}});
  if (is_classic) return;
  loop.add_group(
      {"History", {{"set_author", "set_author <name>", [&settings](Line_Reader& in, std::ostream&) {
                      const std::string_view name = in.read_value<std::string_view>();
                      in.require_end();
                      settings.author = name;
                    }}}});
}

}  // namespace joedb
