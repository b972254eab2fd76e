#ifndef PYTHON_SEARCH_H
#define PYTHON_SEARCH_H

#include <functional>
#include <optional>
#include <vector>

#include "session.h"
#include "values.h"

// Searches: the arguments of Table.where, and keys that select records.

namespace joedb::python {

// Returns the ids in use, in ascending order.
std::vector<index_t> all_ids(const Table& table);

// Returns the ids of the records that satisfy all conditions, in ascending order. `conditions` is a
// dict of keyword arguments: the name of a field, or "FIELD__lt" and so on, and a value or, for
// equality, several. Uses an index if there is one that helps. Throws TypeError, ValueError or
// OverflowError. Requires a Use.
std::vector<index_t> search(Shared_Session& session, Table_Id table, nb::handle conditions);

// Returns the ids of records among which are all with one of `count` values of a field, found by an
// index, in ascending order; nullopt if a scan is faster. make_values() is called only if an index
// helps. Precondition: the field is no blob.
std::optional<std::vector<index_t>> find_by_index(const Database& database, const Table& table,
                                                  Field_Id field, std::size_t count,
                                                  const std::function<Inputs()>& make_values);

// Converts the key of `records[key]` to positions in a list of `size` records:
// a slice, or a mask, which has a bool for each record. Returns false if `key` is neither. Throws
// ValueError and IndexError.
bool to_positions(nb::handle key, std::size_t size, std::vector<std::size_t>& positions);

// True for a list, tuple, array and so on: several values, and not one.
bool is_several(nb::handle value);
// Returns these values as a list of Python objects; those of NumPy, pandas and others as Python's
// own, except times, which remain theirs. Precondition: is_several(values).
nb::list to_list(nb::handle values);

}  // namespace joedb::python

#endif
