//! What a row says beside its time, by the names that filters and keys give it.

use super::row::Row;

/// A part of a row that has a name of its own, whatever the file calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Method,
    Path,
    Status,
    User,
    Key,
    Cost,
    Input,
    Output,
    CacheRead,
    CacheWrite,
    Price,
}

/// What the value of a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    /// A whole number.
    Number,
    /// Micro-dollars.
    Money,
}

impl Field {
    pub const ALL: [Field; 11] = [
        Field::Method,
        Field::Path,
        Field::Status,
        Field::User,
        Field::Key,
        Field::Cost,
        Field::Input,
        Field::Output,
        Field::CacheRead,
        Field::CacheWrite,
        Field::Price,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Field::Method => "method",
            Field::Path => "path",
            Field::Status => "status",
            Field::User => "user",
            Field::Key => "key",
            Field::Cost => "cost",
            Field::Input => "input-tokens",
            Field::Output => "output-tokens",
            Field::CacheRead => "cache-read-tokens",
            Field::CacheWrite => "cache-write-tokens",
            Field::Price => "price",
        }
    }

    pub fn named(name: &str) -> Option<Field> {
        Field::ALL.into_iter().find(|field| field.name() == name)
    }

    pub fn kind(self) -> Kind {
        match self {
            Field::Method | Field::Path | Field::User | Field::Key => Kind::Text,
            Field::Price => Kind::Money,
            _ => Kind::Number,
        }
    }

    /// Its text; empty for a number.
    pub fn text(self, row: &Row) -> &[u8] {
        match self {
            Field::Method => &row.method,
            Field::Path => &row.path,
            Field::User => &row.user,
            Field::Key => &row.key,
            _ => b"",
        }
    }

    /// Its number; 0 for a text.
    pub fn number(self, row: &Row) -> u64 {
        match self {
            Field::Status => row.status.into(),
            Field::Cost => row.cost,
            Field::Input => row.input_tokens,
            Field::Output => row.output_tokens,
            Field::CacheRead => row.cache_read_tokens,
            Field::CacheWrite => row.cache_write_tokens,
            Field::Price => row.microusd,
            _ => 0,
        }
    }
}

/// The fields that the rows of a file have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fields(u16);

impl Fields {
    pub const fn of(fields: &[Field]) -> Fields {
        let (mut bits, mut at) = (0, 0);
        while at < fields.len() {
            bits |= 1 << fields[at] as u16;
            at += 1;
        }
        Fields(bits)
    }

    pub fn with(self, field: Field) -> Fields {
        Fields(self.0 | 1 << field as u16)
    }

    pub fn has(self, field: Field) -> bool {
        self.0 >> field as u16 & 1 == 1
    }

    /// Their names.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Field::ALL.into_iter().filter(move |field| self.has(*field)).map(Field::name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_by_its_name() {
        for field in Field::ALL {
            assert_eq!(Field::named(field.name()), Some(field));
            assert!(Fields::of(&[field]).has(field) && !Fields::default().has(field));
        }
        let some = Fields::of(&[Field::Path]).with(Field::Cost);
        assert_eq!(some.names().collect::<Vec<_>>(), ["path", "cost"]);
    }
}
