//! Apache Parquet: the workbench's own form, or other people's tables with the same names of columns as CSV.

use super::format::Format;

/// The entry of the registry. The form: Apache Parquet, "File format".
pub(super) const FORMAT: Format = Format {
    name: "parquet",
    summary: "Apache Parquet (needs the cargo feature `parquet`)",
    recognised_by: "the bytes PAR1 at the beginning",
    time: "as csv; a column of type TIMESTAMP knows its unit",
    key: "as csv",
    cost: "as csv",
    detect: |head| head.bytes.starts_with(MAGIC),
    open,
};

/// What such a file begins and ends with.
pub(super) const MAGIC: &[u8] = b"PAR1";

#[cfg(feature = "parquet")]
use super::parquet_table::open;

#[cfg(not(feature = "parquet"))]
fn open(_: super::format::Setup<'_>) -> Result<Box<dyn super::format::Rows>, Box<super::fault::Fault>> {
    Err(super::fault::Fault::file(
        "this is Parquet, which this build does not read; build it with `cargo build --release --features parquet`",
    ))
}
