/* A database of cities, in C. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "joedb_c.h"

static void check(joedb_code code) {
  if (code == JOEDB_OK) return;
  fprintf(stderr, "%s\n", joedb_error_text());
  exit(1);
}

int main(void) {
  joedb_db* db = NULL;
  check(joedb_open("cities.joedb", NULL, &db));

  joedb_table city;
  joedb_field fields[3]; /* name, population, founded */
  check(joedb_find_table(db, "city", &city));
  if (city == 0) {
    check(joedb_create_table(db, "city", &city));
    check(joedb_add_field(db, city, "name", JOEDB_STRING, 0, NULL));
    check(joedb_add_field(db, city, "population", JOEDB_INT64, 0, NULL));
    check(joedb_add_typed_field(db, city, "founded", "date optional", NULL));
  }
  check(joedb_find_field(db, city, "name", &fields[0]));
  check(joedb_find_field(db, city, "population", &fields[1]));
  check(joedb_find_field(db, city, "founded", &fields[2]));

  check(joedb_begin(db, "two cities", "Ann"));
  const joedb_value oslo[] = {joedb_text("Oslo", 4), joedb_integer(JOEDB_INT64, 709000)};
  const joedb_value rome[] = {joedb_text("Rome", 4), joedb_integer(JOEDB_INT64, 2873000),
                              joedb_as_text("-0752-04-21", 11)};
  check(joedb_insert(db, city, 2, fields, oslo, NULL));
  check(joedb_insert(db, city, 3, fields, rome, NULL));
  check(joedb_commit(db));

  int64_t record = -1;
  for (;;) {
    check(joedb_next(db, city, record, &record));
    if (record < 0) break;
    joedb_value name, population;
    check(joedb_get(db, city, record, fields[0], &name));
    check(joedb_get(db, city, record, fields[1], &population));
    printf("%s: %" PRId64, name.is.bytes.data, population.is.integer);
    const char* founded; /* null: no value */
    check(joedb_get_text(db, city, record, fields[2], &founded, NULL));
    printf(", founded %s\n", founded != NULL ? founded : "?");
  }

  const joedb_value wrong = joedb_text("x", 1);
  if (joedb_update(db, city, 0, 1, &fields[1], &wrong) == JOEDB_DATA)
    printf("%s\n", joedb_error_text());
  joedb_close(db);
  return 0;
}
