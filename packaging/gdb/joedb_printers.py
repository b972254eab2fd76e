"""How gdb prints ids, texts, tables and databases of joedb. In ~/.gdbinit:

    source /usr/share/joedb/gdb/joedb_printers.py

Nothing of the program is called, so this works with core files, too. The program must have been compiled with -g, and
by clang also with -fstandalone-debug.
"""
import json

import gdb

NAMESPACE = 'joedb::v1::'
# By Type_Code (joedb/schema/type.h): the values of a column in C++.
VALUES = {2: 'int', 3: 'long', 4: 'joedb::v1::Record_Id', 5: 'bool', 6: 'float', 7: 'double', 8: 'signed char',
          9: 'short', 10: 'joedb::v1::Blob'}
STRING, REFERENCE, BLOB = 1, 4, 10
SMALL = 8, 9  # gdb takes int8 for a character
INLINE_SIZE = 11


def elements(vector):
    """The elements of a std::vector."""
    begin, end = vector['_M_impl']['_M_start'], vector['_M_impl']['_M_finish']
    return (begin[i] for i in range(int(end - begin)))


def pointer_of(unique_ptr):
    return unique_ptr.address.cast(unique_ptr.type.template_argument(0).pointer().pointer()).dereference()


def member(address, kind, name):
    """A member of the object at an address. gdb would look for the dynamic type of a dereferenced Column_Base."""
    field = next(field for field in kind.fields() if field.name == name)
    return gdb.Value(address + field.bitpos // 8).cast(field.type.pointer()).dereference()


def text_at(address, size):
    data = gdb.selected_inferior().read_memory(int(address), size).tobytes() if size else b''
    return data.decode('utf-8', 'backslashreplace')


def standard_text(string):
    return text_at(string['_M_dataplus']['_M_p'], int(string['_M_string_length']))


def id_text(record):
    number = (int(record['plus_one_']) - 1 + 2**63) % 2**64 - 2**63
    return 'null' if number == -1 else str(number)


def blob_text(blob):
    return f'{int(blob["position_"])},{int(blob["size_"])}'


class Text:
    """What is printed as one line."""

    def __init__(self, text):
        self.text = text

    def to_string(self):
        return self.text


class String:

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return self.value['_M_str'].lazy_string(length=int(self.value['_M_len']))

    def display_hint(self):
        return 'string'


def used_ids(ids):
    """The ids of Record_Ids that are in use, in ascending order."""
    size, dense_size = int(ids['size_']), int(ids['dense_size_'])
    if ids['is_dense_']:
        yield from range(size)
        return
    links = ids['links_']['data_'].cast(gdb.lookup_type(NAMESPACE + 'Record_Ids::Link').pointer())
    for i in range(size):
        if (int(links[i]['is_unusual']) != 0) != (i < dense_size):
            yield i


def count(ids):
    number = int(ids['used_count_'])
    return f'{number} record' + 's' * (number != 1)


def value_text(column, i):
    """Value i of the column that a pointer to Column_Base points to, as the tools print it.

    g++ does not describe Column<T>: it has its values, and for strings their number and texts, after Column_Base.
    """
    base = column.type.target()
    code = int(member(int(column), base, 'type_')['code'])
    block = gdb.lookup_type(NAMESPACE + 'Zeroed_Memory')
    values = int(column) + base.sizeof
    memory = member(values, block, 'data_')
    if code == STRING:
        handle = memory.cast(gdb.lookup_type(NAMESPACE + 'String_Handle').pointer())[i]
        size, place = int(handle['size']), int(handle['bytes'].address)
        if size > INLINE_SIZE:
            offset = int.from_bytes(gdb.selected_inferior().read_memory(place + 4, 8).tobytes(), 'little')
            place = int(member(values + block.sizeof + 8, block, 'data_')) + offset
        return json.dumps(text_at(place, size), ensure_ascii=False)
    value = memory.cast(gdb.lookup_type(VALUES[code]).pointer())[i]
    if code == REFERENCE:
        return id_text(value)
    if code == BLOB:
        return blob_text(value)
    return str(int(value)) if code in SMALL else value.format_string()


class Table:
    """A table: for each record, its values by name."""

    def __init__(self, table):
        self.table = table

    def to_string(self):
        return f'table {standard_text(self.table["name_"])}, {count(self.table["records_"])}'

    def children(self):
        columns = [(standard_text(field['name']), pointer_of(field['column']))
                   for field in elements(self.table['fields_']) if int(pointer_of(field['column']))]
        for i in used_ids(self.table['records_']):
            values = ', '.join(f'{name} = {value_text(column, i)}' for name, column in columns)
            yield f'[{i}]', f'{{{values}}}'


class Database:
    """The tables of a database, also of generated code and its base classes."""

    def __init__(self, database):
        pointers = (pointer_of(table) for table in elements(database['tables_']))
        self.tables = [pointer.dereference() for pointer in pointers if int(pointer)]

    def to_string(self):
        return f'{len(self.tables)} table' + 's' * (len(self.tables) != 1)

    def children(self):
        return ((standard_text(table['name_']), table) for table in self.tables)


class Container:
    """The ids of a table."""

    def __init__(self, container):
        self.records = container['records_'].dereference()

    def to_string(self):
        return count(self.records)

    def children(self):
        return ((f'[{n}]', i) for n, i in enumerate(used_ids(self.records)))


def typed_id(value, name):
    return Text(f'{name}({id_text(value["record_"])})')


def typed_database(value, _):
    return Database(value['engine_'].dereference()) if int(value['engine_']) else Text('not open')


# By the name of the class, or of a base class.
PRINTERS = {
    'Typed_Id': typed_id,
    'Record_Id': lambda value, name: Text(f'{name}({id_text(value)})'),
    'Small_Id': lambda value, name: Text(f'{name}({int(value["value_"])})'),
    'Blob': lambda value, name: Text(f'{name}({blob_text(value)})'),
    'Text_View': lambda value, _: String(value),
    'Container': lambda value, _: Container(value),
    'Table': lambda value, _: Table(value),
    'Database': lambda value, _: Database(value),
    'Typed_Database': typed_database,
}


def bases(kind):
    """A class and its base classes."""
    yield kind
    for field in kind.fields():
        if field.is_base_class:
            yield from bases(field.type.strip_typedefs())


def find_printer(value):
    kind = value.type.strip_typedefs()
    if kind.code != gdb.TYPE_CODE_STRUCT or not kind.name:
        return None
    for base in bases(kind):
        name = (base.name or '').split('<')[0]
        if name.startswith(NAMESPACE) and name.removeprefix(NAMESPACE) in PRINTERS:
            try:
                return PRINTERS[name.removeprefix(NAMESPACE)](value.cast(base), kind.unqualified().name)
            except gdb.error as error:
                return Text(f'{kind.name} ({error} With clang, compile with -fstandalone-debug.)')
    return None


gdb.pretty_printers.append(find_printer)
