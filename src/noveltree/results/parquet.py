"""Reading Parquet tables that anybody may have made: a small file may unpack to any number of gigabytes."""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from noveltree.errors import InputError, RecordError
from noveltree.wording import installing

_MOST_ROWS = 1_000_000
_MOST_COLUMNS = 100
#: Of what is in the file, and of the memory that reading it may take.
_MOST_BYTES = 256 * 2**20


def read_parquet(path: Path) -> dict[str, list[Any]]:
    """The columns of a table by their names; raise RecordError if it is none, or too large for one of episodes."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InputError(
            f"A Parquet table needs pyarrow: {installing('parquet')}. Or give the CSV table beside it."
        ) from None
    try:
        with _limited_memory(_MOST_BYTES):
            return _read(pyarrow, path)
    except (MemoryError, _TooLarge) as error:
        raise RecordError(
            f"{path} is too large to be a table of episodes: it unpacks to more than {_MOST_ROWS:,} rows, "
            f"{_MOST_COLUMNS} columns or {_MOST_BYTES >> 20} MB."
        ) from error
    except (OSError, ValueError, TypeError, LookupError, NotImplementedError) as error:  # and pyarrow's own
        raise RecordError(f"{path} is not a table of episodes: {' '.join(str(error).split())}.") from error


class _TooLarge(Exception):
    pass


def _read(pyarrow: Any, path: Path) -> dict[str, list[Any]]:
    with pyarrow.parquet.ParquetFile(path) as file:
        _check_claims(file.metadata)
        schema = file.schema_arrow
        if any(pyarrow.types.is_nested(each.type) for each in schema):
            raise ValueError("it has columns of lists")
        if len(set(schema.names)) < len(schema.names):
            raise ValueError("it has two columns of the same name")
        texts = [each.name for each in schema if pyarrow.types.is_string(each.type)]
    columns: dict[str, list[Any]] = {name: [] for name in schema.names}
    taken = 0
    # Texts that are the same are read once, however many rows have them.
    with pyarrow.parquet.ParquetFile(path, read_dictionary=texts) as file:
        for batch in file.iter_batches(batch_size=4096, use_threads=False):
            taken += batch.nbytes
            if taken > _MOST_BYTES:
                raise _TooLarge
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                columns[name] += _values(pyarrow, column)
    return columns


def _check_claims(metadata: Any) -> None:
    """What a file says of itself need not be true, but is enough to refuse it."""
    groups = (metadata.row_group(number) for number in range(metadata.num_row_groups))
    if (
        metadata.num_rows > _MOST_ROWS
        or metadata.num_columns > _MOST_COLUMNS
        or sum(group.total_byte_size for group in groups) > _MOST_BYTES
    ):
        raise _TooLarge


def _values(pyarrow: Any, column: Any) -> list[Any]:
    if not isinstance(column, pyarrow.DictionaryArray):
        return list(column.to_pylist())
    texts = column.dictionary.to_pylist()
    return [None if index is None else texts[index] for index in column.indices.to_pylist()]


@contextlib.contextmanager
def _limited_memory(more: int) -> Iterator[None]:
    """Let this process take at most so many bytes more than it has; what needs more fails."""
    try:
        with open("/proc/self/statm") as file:
            now = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:  # not on Linux: what the file claims was checked
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = now + more
    if soft != resource.RLIM_INFINITY:
        limit = min(limit, soft)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
