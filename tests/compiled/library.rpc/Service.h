// Comments are not looked at: void no(search::Writable_Database& message);

#ifndef COMPANY_LIBRARY_RPC_SERVICE_H
#define COMPANY_LIBRARY_RPC_SERVICE_H

#include <stdexcept>

#include "library.h"
#include "library/rpc/cover.h"
#include "library/rpc/loans.h"
#include "library/rpc/search.h"

namespace company {
namespace library::rpc {

class Service {
 public:
  explicit Service(const company::library::Database& database) : db(database) {}

  // Appends all books of each reader that is in the message. The ids are those of the library.
  void books_of(search::Writable_Database& message) {
    const auto found = message.get_found_table();
    for (const auto row : std::vector<id_of_found>(found.begin(), found.end()))
      for (const company::library::id_of_book book : db.get_book_table())
        if (db.get_reader(book) == message.get_reader(row))
          message.new_found(db.get_reader(book), book, db.get_title(book));
  }

  void measure(rpc::cover::Writable_Database& message) {
    const std::string bytes = message.read_blob(message.get_sent());
    message.set_size(static_cast<std::int64_t>(bytes.size()));
    message.set_returned(message.write_blob(bytes + bytes));
  }

  // Adds what is not known yet of each loan.
  void complete(loans::Writable_Database& message) {
    using namespace joedb::literals;
    for (const auto loan : message.get_loan_table()) {
      if (message.get_due(loan)) continue;
      message.set_due(loan, message.get_since(loan) + std::chrono::days(28));
      message.set_state(loan, Loan_State::late);
      message.set_fee(loan, message.get_fee(loan) + 1.50_decimal);
      message.set_length(loan, std::chrono::hours(3));
      message.set_kind(loan, std::nullopt);
      message.set_is_long(loan, false);
    }
  }

  // The message has the schema of the library.
  void fail_late(::company::library::Writable_Database& message) {
    message.new_person("nobody");
    throw std::runtime_error("too late");
  }

 private:
  using id_of_found = search::id_of_found;
  void helper(search::Writable_Database& message);

  const company::library::Database& db;
};

}  // namespace library::rpc
}  // namespace company

#endif
