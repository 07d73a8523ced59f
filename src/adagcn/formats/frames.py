"""Tables of results as the user's own kind of data frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from adagcn.errors import InputError, ResourceError

if TYPE_CHECKING:
    import pyarrow as pa

Backend: TypeAlias = Literal["pandas", "polars", "pyarrow"]


def as_frame(table: pa.Table, backend: Backend = "pandas") -> Any:
    """Return an Arrow table as a data frame of one of the three libraries.

    Parameters
    ----------
    table : pyarrow.Table
        The rows.
    backend : {"pandas", "polars", "pyarrow"}
        Whose frame to return; pyarrow's is the table itself.

    Returns
    -------
    pandas.DataFrame, polars.DataFrame or pyarrow.Table
        The same columns and rows.

    Raises
    ------
    InputError
        If there is no such backend.
    ResourceError
        If its package is not installed.
    """
    if backend not in get_args(Backend):
        raise InputError(
            "AGC-I1160",
            f"backend must be one of {', '.join(get_args(Backend))}",
            got=backend,
            fix="use 'pandas'",
        )
    try:
        if backend == "pandas":
            return table.to_pandas()
        if backend == "polars":
            import polars as pl

            return pl.from_arrow(table)
    except ImportError as error:
        raise ResourceError(
            "AGC-R1161",
            f"backend={backend!r} needs the package {error.name or backend}",
            fix=f"install it with pip install {backend}, or use backend='pyarrow'",
        ) from error
    return table
