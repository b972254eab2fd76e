#!/usr/bin/env python3
"""The sample databases Chinook and Northwind come in from SQLite with their types, NULLs and foreign keys, and go back.

usage: sample_databases.py TOOLS_DIR [FILE.sqlite...]

Makes databases with the tables of Chinook and Northwind, and generated rows. FILEs are others to test, such as the
original ones: https://github.com/lerocha/chinook-database, https://github.com/jpwhite3/northwind-SQLite3.
"""
import contextlib
import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile

CHINOOK = '''
CREATE TABLE [Album]([AlbumId] INTEGER NOT NULL, [Title] NVARCHAR(160) NOT NULL, [ArtistId] INTEGER NOT NULL,
    CONSTRAINT [PK_Album] PRIMARY KEY ([AlbumId]),
    FOREIGN KEY ([ArtistId]) REFERENCES [Artist]([ArtistId]) ON DELETE NO ACTION ON UPDATE NO ACTION);
CREATE TABLE [Artist]([ArtistId] INTEGER NOT NULL, [Name] NVARCHAR(120),
    CONSTRAINT [PK_Artist] PRIMARY KEY ([ArtistId]));
CREATE TABLE [Customer]([CustomerId] INTEGER NOT NULL, [FirstName] NVARCHAR(40) NOT NULL,
    [LastName] NVARCHAR(20) NOT NULL, [Company] NVARCHAR(80), [Address] NVARCHAR(70), [City] NVARCHAR(40),
    [State] NVARCHAR(40), [Country] NVARCHAR(40), [PostalCode] NVARCHAR(10), [Phone] NVARCHAR(24),
    [Fax] NVARCHAR(24), [Email] NVARCHAR(60) NOT NULL, [SupportRepId] INTEGER,
    CONSTRAINT [PK_Customer] PRIMARY KEY ([CustomerId]),
    FOREIGN KEY ([SupportRepId]) REFERENCES [Employee]([EmployeeId]));
CREATE TABLE [Employee]([EmployeeId] INTEGER NOT NULL, [LastName] NVARCHAR(20) NOT NULL,
    [FirstName] NVARCHAR(20) NOT NULL, [Title] NVARCHAR(30), [ReportsTo] INTEGER, [BirthDate] DATETIME,
    [HireDate] DATETIME, [City] NVARCHAR(40), [Email] NVARCHAR(60),
    CONSTRAINT [PK_Employee] PRIMARY KEY ([EmployeeId]),
    FOREIGN KEY ([ReportsTo]) REFERENCES [Employee]([EmployeeId]));
CREATE TABLE [Genre]([GenreId] INTEGER NOT NULL, [Name] NVARCHAR(120), CONSTRAINT [PK_Genre] PRIMARY KEY ([GenreId]));
CREATE TABLE [Invoice]([InvoiceId] INTEGER NOT NULL, [CustomerId] INTEGER NOT NULL, [InvoiceDate] DATETIME NOT NULL,
    [BillingCity] NVARCHAR(40), [Total] NUMERIC(10,2) NOT NULL, CONSTRAINT [PK_Invoice] PRIMARY KEY ([InvoiceId]),
    FOREIGN KEY ([CustomerId]) REFERENCES [Customer]([CustomerId]));
CREATE TABLE [InvoiceLine]([InvoiceLineId] INTEGER NOT NULL, [InvoiceId] INTEGER NOT NULL,
    [TrackId] INTEGER NOT NULL, [UnitPrice] NUMERIC(10,2) NOT NULL, [Quantity] INTEGER NOT NULL,
    CONSTRAINT [PK_InvoiceLine] PRIMARY KEY ([InvoiceLineId]),
    FOREIGN KEY ([InvoiceId]) REFERENCES [Invoice]([InvoiceId]),
    FOREIGN KEY ([TrackId]) REFERENCES [Track]([TrackId]));
CREATE TABLE [MediaType]([MediaTypeId] INTEGER NOT NULL, [Name] NVARCHAR(120),
    CONSTRAINT [PK_MediaType] PRIMARY KEY ([MediaTypeId]));
CREATE TABLE [Playlist]([PlaylistId] INTEGER NOT NULL, [Name] NVARCHAR(120),
    CONSTRAINT [PK_Playlist] PRIMARY KEY ([PlaylistId]));
CREATE TABLE [PlaylistTrack]([PlaylistId] INTEGER NOT NULL, [TrackId] INTEGER NOT NULL,
    CONSTRAINT [PK_PlaylistTrack] PRIMARY KEY ([PlaylistId], [TrackId]),
    FOREIGN KEY ([PlaylistId]) REFERENCES [Playlist]([PlaylistId]),
    FOREIGN KEY ([TrackId]) REFERENCES [Track]([TrackId]));
CREATE TABLE [Track]([TrackId] INTEGER NOT NULL, [Name] NVARCHAR(200) NOT NULL, [AlbumId] INTEGER,
    [MediaTypeId] INTEGER NOT NULL, [GenreId] INTEGER, [Composer] NVARCHAR(220), [Milliseconds] INTEGER NOT NULL,
    [Bytes] INTEGER, [UnitPrice] NUMERIC(10,2) NOT NULL, CONSTRAINT [PK_Track] PRIMARY KEY ([TrackId]),
    FOREIGN KEY ([AlbumId]) REFERENCES [Album]([AlbumId]), FOREIGN KEY ([GenreId]) REFERENCES [Genre]([GenreId]),
    FOREIGN KEY ([MediaTypeId]) REFERENCES [MediaType]([MediaTypeId]));
CREATE INDEX [IFK_AlbumArtistId] ON [Album]([ArtistId]);
CREATE INDEX [IFK_TrackGenreId] ON [Track]([GenreId]);
'''

NORTHWIND = '''
CREATE TABLE [Categories]([CategoryID] INTEGER PRIMARY KEY AUTOINCREMENT, [CategoryName] TEXT, [Description] TEXT,
    [Picture] BLOB);
CREATE TABLE [CustomerDemographics]([CustomerTypeID] TEXT NOT NULL, [CustomerDesc] TEXT,
    PRIMARY KEY ([CustomerTypeID]));
CREATE TABLE [CustomerCustomerDemo]([CustomerID] TEXT NOT NULL, [CustomerTypeID] TEXT NOT NULL,
    PRIMARY KEY ([CustomerID], [CustomerTypeID]), FOREIGN KEY ([CustomerID]) REFERENCES [Customers]([CustomerID]),
    FOREIGN KEY ([CustomerTypeID]) REFERENCES [CustomerDemographics]([CustomerTypeID]));
CREATE TABLE [Customers]([CustomerID] TEXT, [CompanyName] TEXT, [ContactName] TEXT, [Fax] TEXT,
    PRIMARY KEY ([CustomerID]));
CREATE TABLE [Employees]([EmployeeID] INTEGER PRIMARY KEY AUTOINCREMENT, [LastName] TEXT, [FirstName] TEXT,
    [BirthDate] DATE, [HireDate] DATE, [Photo] BLOB, [Notes] TEXT, [ReportsTo] INTEGER, [PhotoPath] TEXT,
    FOREIGN KEY ([ReportsTo]) REFERENCES [Employees]([EmployeeID]));
CREATE TABLE [Regions]([RegionID] INTEGER NOT NULL PRIMARY KEY, [RegionDescription] TEXT NOT NULL);
CREATE TABLE [Territories]([TerritoryID] TEXT NOT NULL, [TerritoryDescription] TEXT NOT NULL,
    [RegionID] INTEGER NOT NULL, PRIMARY KEY ([TerritoryID]),
    FOREIGN KEY ([RegionID]) REFERENCES [Regions]([RegionID]));
CREATE TABLE [EmployeeTerritories]([EmployeeID] INTEGER NOT NULL, [TerritoryID] TEXT NOT NULL,
    PRIMARY KEY ([EmployeeID], [TerritoryID]), FOREIGN KEY ([EmployeeID]) REFERENCES [Employees]([EmployeeID]),
    FOREIGN KEY ([TerritoryID]) REFERENCES [Territories]([TerritoryID]));
CREATE TABLE [Shippers]([ShipperID] INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, [CompanyName] TEXT NOT NULL,
    [Phone] TEXT);
CREATE TABLE [Suppliers]([SupplierID] INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, [CompanyName] TEXT NOT NULL,
    [HomePage] TEXT);
CREATE TABLE [Products]([ProductID] INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, [ProductName] TEXT NOT NULL,
    [SupplierID] INTEGER, [CategoryID] INTEGER, [QuantityPerUnit] TEXT, [UnitPrice] DECIMAL(10,4) DEFAULT 0,
    [UnitsInStock] SMALLINT DEFAULT 0, [Discontinued] BOOLEAN NOT NULL DEFAULT 0, CHECK ([UnitPrice] >= 0),
    FOREIGN KEY ([CategoryID]) REFERENCES [Categories]([CategoryID]),
    FOREIGN KEY ([SupplierID]) REFERENCES [Suppliers]([SupplierID]));
CREATE TABLE [Orders]([OrderID] INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, [CustomerID] TEXT, [EmployeeID] INTEGER,
    [OrderDate] DATETIME, [RequiredDate] DATETIME, [ShippedDate] DATETIME, [ShipVia] INTEGER,
    [Freight] NUMERIC DEFAULT 0, [ShipName] TEXT, FOREIGN KEY ([EmployeeID]) REFERENCES [Employees]([EmployeeID]),
    FOREIGN KEY ([CustomerID]) REFERENCES [Customers]([CustomerID]),
    FOREIGN KEY ([ShipVia]) REFERENCES [Shippers]([ShipperID]));
CREATE TABLE [Order Details]([OrderID] INTEGER NOT NULL, [ProductID] INTEGER NOT NULL,
    [UnitPrice] NUMERIC(10,2) NOT NULL DEFAULT 0, [Quantity] INTEGER NOT NULL DEFAULT 1,
    [Discount] REAL NOT NULL DEFAULT 0, PRIMARY KEY ([OrderID], [ProductID]), CHECK ([Discount] >= 0),
    FOREIGN KEY ([OrderID]) REFERENCES [Orders]([OrderID]),
    FOREIGN KEY ([ProductID]) REFERENCES [Products]([ProductID]));
CREATE VIEW [Invoices] AS SELECT * FROM [Orders];
'''

# Types that fields must get: dates, times and prices as such, and NULL only where there is one.
EXPECTED = {
    'chinook': ('Invoice Total decimal(2)', 'Invoice InvoiceDate timestamp(s)', 'Track UnitPrice decimal(2)',
                'Employee ReportsTo references Employee', 'Employee BirthDate timestamp(s) optional',
                'Track Bytes int64 optional', 'Track Composer string optional', 'Track AlbumId references Album',
                'PlaylistTrack TrackId references Track'),
    'northwind': ('Products UnitPrice decimal(4) optional', 'Order_Details UnitPrice decimal(2)',
                  'Employees BirthDate date optional', 'Employees ReportsTo references Employees',
                  'Products UnitsInStock int16 optional', 'Products Discontinued boolean',
                  'Orders CustomerID references Customers', 'Orders RequiredDate date optional',
                  'Orders OrderDate timestamp(s) optional', 'Orders Freight float64',
                  'Employees Photo blob')}

TEXTS = ('', ' ', 'Ærøskøbing', "O'Brien", 'a "b"', 'line\nline', 'NULL', '0', '12.50', '日本', '-')
DATES = ('1962-02-18', '0001-01-01', '9999-12-31', '2000-02-29', '1969-12-31', '1970-01-01')


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def tables_of(db):
    return [name for name, in db.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")]


def columns_of(db, table):
    """(name, type, not null or in a key) of the columns."""
    return [(name, kind.upper(), not_null or key)
            for _, name, kind, not_null, _, key in db.execute(f'PRAGMA table_info({quoted(table)})')]


def keys_of(db, table):
    """Column: (table, column) to which it refers."""
    return {source: (parent, column)
            for _, _, parent, source, column, *_ in db.execute(f'PRAGMA foreign_key_list({quoted(table)})')}


def any_value(randomly, name, kind, number):
    if 'DATETIME' in kind and name != 'RequiredDate':  # Northwind has only days there
        return f'{randomly.choice(DATES)} {randomly.choice(("00:00:00", "23:59:59", "12:30:01"))}'
    if kind.startswith('DATE'):
        return randomly.choice(DATES)
    if kind == 'BLOB':
        return randomly.choice((b'', b'\0\xff', randomly.randbytes(300)))
    if kind == 'BOOLEAN':
        return randomly.randrange(2)
    if kind == 'SMALLINT':
        return randomly.choice((0, -32767, 32767, number))
    if kind.startswith(('NUMERIC', 'DECIMAL')):
        return randomly.choice((0, 0.99, 12.5, 1, 99999999.99, 0.01, number / 4))
    if kind == 'REAL':
        return randomly.choice((0, 0.1, 0.25, 1e-300, number / 7))
    if kind == 'INTEGER':
        return randomly.choice((0, -1, 2 ** 31, 2 ** 62, number))
    return randomly.choice(TEXTS) + randomly.choice(('', str(number)))


def fill(db, counts, randomly):
    """Fills each table after those to which it refers. Rows have keys, references or NULL, and values."""
    left = tables_of(db)
    while left:
        table = next(t for t in left if all(p == t or p not in left for p, _ in keys_of(db, t).values()))
        left.remove(table)
        columns, keys = columns_of(db, table), keys_of(db, table)
        primary = [name for _, name, _, _, _, key in db.execute(f'PRAGMA table_info({quoted(table)})') if key]
        for number in range(1, counts + 1):
            row = []
            for name, kind, is_required in columns:
                if name in keys:
                    parent, column = keys[name]
                    known = [v for v, in db.execute(f'SELECT {quoted(column)} FROM {quoted(parent)}')]
                    is_null = not known or (not is_required and randomly.randrange(4) == 0)
                    row.append(None if is_null else randomly.choice(known))
                elif [name] == primary:
                    row.append(number * 3 if kind == 'INTEGER' else f'K{number:04}')
                else:
                    is_null = not is_required and randomly.randrange(4) == 0
                    row.append(None if is_null else any_value(randomly, name, kind, number))
            db.execute(f'INSERT OR IGNORE INTO {quoted(table)} VALUES({",".join("?" * len(row))})', row)


def comparable(value, kind):
    """Times may come back in another form, and numbers as integers or reals; booleans are numbers."""
    if value is None:
        return None
    if 'DATETIME' in kind or 'TIMESTAMP' in kind:
        return str(value).replace('T', ' ').removesuffix('Z')
    return float(value) if isinstance(value, int) and abs(value) < 2 ** 53 else value


def rows_of(db, table):
    columns, keys = columns_of(db, table), keys_of(db, table)
    names = ', '.join(quoted(name) for name, _, _ in columns)
    return columns, keys, db.execute(f'SELECT {names} FROM {quoted(table)} ORDER BY rowid').fetchall()


def compare(before, after):
    """The number of rows, after a comparison. References of the copy are record ids."""
    total = 0
    for table in tables_of(before):
        columns, keys, rows = rows_of(before, table)
        copy = re.sub(r'\W', '_', table)
        joins, shown = [], []
        references = keys_of(after, copy)
        for name, _, _ in columns:
            if name in keys:
                assert name in references, f'{table}.{name} has lost its foreign key'
                parent, column = keys[name]
                alias = f'r{len(joins)}'
                joins.append(f'LEFT JOIN {quoted(re.sub(r"[^0-9A-Za-z_]", "_", parent))} AS {alias} '
                             f'ON {alias}.__id = t.{quoted(name)}')
                shown.append(f'{alias}.{quoted(column)}')
            else:
                shown.append(f't.{quoted(name)}')
        found = after.execute(f'SELECT {", ".join(shown)} FROM {quoted(copy)} AS t {" ".join(joins)} '
                              'ORDER BY t.__id').fetchall()
        assert len(found) == len(rows), (table, len(found), len(rows))
        for old, new in zip(rows, found):
            for (name, kind, _), a, b in zip(columns, old, new):
                assert comparable(a, kind) == comparable(b, kind), f'{table}.{name}: {a!r} has become {b!r}'
        total += len(rows)
    return total


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def fields_of(tools, path):
    lines = run(f'{tools}/joedb_logdump', path).splitlines()
    return [line.removeprefix('add_field ') for line in lines if line.startswith('add_field ')]


def check(tools, path, expected=()):
    base = path.removesuffix('.sqlite')
    joedb, back = base + '.joedb', base + '.back.sqlite'
    run(f'{tools}/joedb_import', 'sqlite', joedb, path)
    fields = fields_of(tools, joedb)
    for field in expected:
        assert field in fields, f'{field} is not in\n' + '\n'.join(fields)
    run(f'{tools}/joedb_export', 'sqlite', joedb, back)
    with contextlib.closing(sqlite3.connect(path)) as before, contextlib.closing(sqlite3.connect(back)) as after:
        print(f'{os.path.basename(path)}: {compare(before, after)} rows come back')
    # What has come back makes the same fields again.
    run(f'{tools}/joedb_import', 'sqlite', base + '.again.joedb', back)
    again = fields_of(tools, base + '.again.joedb')
    assert sorted(again) == sorted(fields), f'another import makes other fields: {set(again) ^ set(fields)}'


def main():
    tools = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        for name, schema in (('chinook', CHINOOK), ('northwind', NORTHWIND)):
            path = os.path.join(folder, name + '.sqlite')
            with contextlib.closing(sqlite3.connect(path)) as db:
                db.executescript(schema)
                fill(db, 60, random.Random(name))
                db.commit()
            check(tools, path, EXPECTED[name])
        for given in sys.argv[2:]:
            path = os.path.join(folder, os.path.basename(given).split('.')[0] + '_given.sqlite')
            with open(given, 'rb') as source, open(path, 'wb') as target:
                target.write(source.read())
            check(tools, path)


if __name__ == '__main__':
    main()
