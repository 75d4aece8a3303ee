"""Many rows into one table by one statement: COPY on PostgreSQL, executemany on SQLite.

No value becomes part of a statement's text, and COPY is binary: neither a failing statement nor a failing row can carry
what was posted into a log of the database.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from django.db import connection, models
from django.db.models.fields.related import ForeignKey

from labeling.models.fields import LosslessJSONField

Model = type[models.Model]
Row = Sequence[Any]
# What the drivers take as it is. Every other field prepares its values itself.
_PLAIN = (models.CharField, models.TextField, models.IntegerField, models.BooleanField, models.BinaryField, ForeignKey)


def reserved_ids(model: Model, count: int) -> list[int]:
    """Ids that nobody else gets, in rising order. On SQLite they are the next ones, to be used before any other row."""
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)", [table, count]
            )
            return [pk for (pk,) in cursor.fetchall()]
        cursor.execute("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = %s", [table])
        (last,) = cursor.fetchone()
        return list(range(last + 1, last + 1 + count))


def insert(model: Model, names: Sequence[str], rows: Iterable[Row]) -> None:
    """Insert rows of these attributes; the other columns get their defaults, the same in every row."""
    columns, prepared = _prepared(model, names, rows)
    if connection.vendor == "postgresql":
        _copy(_quoted(model._meta.db_table), columns, prepared)
    else:
        marks = ", ".join(["%s"] * len(columns))
        into = f"INSERT INTO {_quoted(model._meta.db_table)} ({_names(columns)})"
        with connection.cursor() as cursor:
            cursor.executemany(f"{into} VALUES ({marks})", list(prepared))


def insert_unless_there(model: Model, names: Sequence[str], rows: Iterable[Row]) -> int:
    """The same on PostgreSQL, without rows that meet others of the same key; how many were inserted.

    Waits for whoever inserts a row of the same key at the moment. No two deadlock who give their rows in one order.
    """
    columns, prepared = _prepared(model, names, rows)
    table, incoming = _quoted(model._meta.db_table), _quoted(f"incoming_{model._meta.db_table}")
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TEMPORARY TABLE IF NOT EXISTS {incoming} (LIKE {table}) ON COMMIT DELETE ROWS")
        _copy(incoming, columns, prepared)
        into = f"INSERT INTO {table} ({_names(columns)})"
        cursor.execute(f"{into} SELECT {_names(columns)} FROM {incoming} ON CONFLICT DO NOTHING")  # noqa: S608 - our own names
        return int(cursor.rowcount)


def _prepared(model: Model, names: Sequence[str], rows: Iterable[Row]) -> tuple[list[Any], Iterator[Row]]:
    """The columns, and the rows as the database takes them."""
    fields = {field.attname: field for field in model._meta.concrete_fields}
    given = [fields.pop(name) for name in names]
    rest = [field for field in fields.values() if not isinstance(field, models.AutoField | models.BigAutoField)]
    defaults = tuple(field.get_db_prep_save(field.get_default(), connection) for field in rest)
    return [*given, *rest], _prepared_rows(given, rows, defaults)


def _prepared_rows(fields: Sequence[Any], rows: Iterable[Row], defaults: tuple[Any, ...]) -> Iterator[Row]:
    preparers = [(place, _preparer(field)) for place, field in enumerate(fields) if not _is_plain(field)]
    for row in rows:
        values = list(row)
        for place, prepare in preparers:
            values[place] = prepare(values[place])
        values += defaults
        yield values


def _is_plain(field: Any) -> bool:
    return isinstance(field, _PLAIN) and not isinstance(field, LosslessJSONField)


def _preparer(field: Any) -> Callable[[Any], Any]:
    if isinstance(field, LosslessJSONField):
        return field.get_prep_value
    return lambda value: field.get_db_prep_save(value, connection)


def _copy(table: str, columns: Sequence[Any], rows: Iterable[Row]) -> None:
    copying = f"COPY {table} ({_names(columns)}) FROM STDIN (FORMAT BINARY)"
    # Django does not wrap what is particular to one driver.
    with connection.wrap_database_errors, connection.cursor() as cursor, cursor.copy(copying) as copy:
        # varchar(200) and numeric(12, 6) are known without their sizes.
        copy.set_types([str(field.db_type(connection)).partition("(")[0] for field in columns])
        for row in rows:
            copy.write_row(row)


def _names(columns: Sequence[Any]) -> str:
    return ", ".join(_quoted(field.column) for field in columns)


def _quoted(name: str) -> str:
    return connection.ops.quote_name(name)
