//! Which column or field is the time, the key, the cost: as the scenario maps them, or by their names.

use super::ahead::Totals;
use super::fault::Fault;
use super::field::{Field, Fields};
use super::format::Notes;
use super::keys::PART;
use super::number::{amount, digits, dollars};
use super::role::{Name, Role};
use super::row::Row;
use super::time::Times;
use crate::spec::Trace;

/// The columns of one file by their role; each entry is an index into the names that were given.
#[derive(Default)]
pub(super) struct Columns {
    names: Vec<String>,
    entries: Vec<(Role, Vec<usize>)>,
    /// Columns that are wanted as they are.
    own: Vec<usize>,
    /// Whether a row without a number of requests is broken.
    strict: bool,
    /// Reads where intervals end.
    ends: Option<Times>,
}

impl Columns {
    /// Finds the columns among `names`: first as the scenario maps them, by name or 1-based number, then by the names
    /// they usually have.
    pub fn find(spec: &Trace, names: &[String], notes: &mut Notes) -> Result<Columns, Box<Fault>> {
        Columns::find_filled(spec, names, &|_| true, notes)
    }

    /// The same; a column that is not `filled` in the rows that were seen is no key unless it is chosen.
    pub fn find_filled(
        spec: &Trace,
        names: &[String],
        filled: &dyn Fn(&str) -> bool,
        notes: &mut Notes,
    ) -> Result<Columns, Box<Fault>> {
        let mut columns = Columns { names: names.to_vec(), ..Columns::default() };
        for (role_name, wanted) in &spec.columns {
            let role = Role::ALL.into_iter().find(|role| role.name() == role_name);
            let said = spec.chosen(role_name, wanted);
            let role = role.ok_or_else(|| unknown_role(&said, role_name))?;
            let found = |name: &String| {
                place(name, names).ok_or_else(|| Fault::file(format!("{said}: {}", absent(name, names))))
            };
            let places: Vec<usize> = wanted.iter().map(found).collect::<Result<_, _>>()?;
            if places.is_empty() || places.len() > 1 && !role.is_amount() && role != Role::Key {
                return Err(Fault::file(format!("{said}: {role_name} is one column, not {}", places.len())));
            }
            let by_names = places.iter().zip(wanted).filter(|(place, wanted)| names[**place] == **wanted);
            by_names.for_each(|(place, _)| say_if_twice(spec, role, *place, names, notes));
            columns.entries.push((role, places));
        }
        let known: Vec<Known<'_>> = names.iter().map(|name| Known::of(name)).collect();
        for role in Role::ALL {
            let wanted = match role {
                // What ordinary logs call so is of no use for them.
                Role::End => columns.one(Role::Requests).is_some(),
                Role::Requests => spec.spread != Some(false),
                _ => true,
            };
            if columns.all(role).is_some() || !wanted {
                continue;
            }
            let usable = |place: usize| role != Role::Key || filled(&names[place]);
            if let Some(found) = by_name(role, &known, usable)
                && !columns.entries.iter().any(|(_, places)| places.contains(&found))
            {
                columns.entries.push((role, vec![found]));
                if role == Role::Key && names[found] != "key" && spec.key_by.is_empty() {
                    let choose = spec.choose("key", "…");
                    notes.guess(format!("the key is \"{}\"; {choose} chooses another", names[found]));
                }
                say_if_twice(spec, role, found, names, notes);
            }
        }
        columns.strict = spec.columns.iter().any(|(role, _)| role == Role::Requests.name());
        if let Some(end) = columns.one(Role::End) {
            columns.ends = Some(Times::new(&names[end], spec.time_unit.as_deref())?.named(spec));
        }
        if columns.one(Role::Key).is_none() && spec.key_by.is_empty() {
            let choose = spec.choose("key", "…");
            notes
                .guess(format!("no column is known to be a key, so all requests are of one key; {choose} chooses one"));
        }
        let amounts = [Role::Cost, Role::Price, Role::Requests];
        if !columns.entries.iter().any(|(role, _)| role.is_tokens() || amounts.contains(role)) {
            let choose = spec.choose("cost", "…");
            notes.guess(format!("no column is known to be a cost, so each request costs 1; {choose} chooses one"));
        }
        Ok(columns)
    }

    /// All columns of a role.
    pub fn all(&self, role: Role) -> Option<&[usize]> {
        self.entries.iter().find(|(r, _)| *r == role).map(|(_, places)| places.as_slice())
    }

    /// The only column of a role.
    pub fn one(&self, role: Role) -> Option<usize> {
        self.all(role).and_then(|places| places.first().copied())
    }

    /// Every column that is used.
    pub fn places(&self) -> impl Iterator<Item = usize> {
        self.entries.iter().flat_map(|(_, places)| places.iter().copied()).chain(self.own.iter().copied())
    }

    /// The fields that rows get from them.
    pub fn fields(&self) -> Fields {
        let fields = self.entries.iter().filter_map(|(role, _)| role.field());
        fields.fold(Fields::of(&[Field::Cost]), Fields::with)
    }

    /// What they say of totals.
    pub fn totals(&self) -> Option<Totals> {
        let name = |role| self.one(role).map(|place| self.names[place].clone());
        let time = name(Role::Time)?;
        Some(Totals {
            requests: name(Role::Requests),
            time,
            tokens: Role::ALL.iter().any(|role| role.is_tokens() && self.one(*role).is_some()),
        })
    }

    /// The names of all columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Wants the column `name` as it is; its place in the file and among those that are wanted.
    pub fn ask(&mut self, name: &str) -> Option<(usize, usize)> {
        let place = place(name, &self.names)?;
        self.own.push(place);
        Some((place, self.own.len() - 1))
    }

    /// The field that the column `name`, and no other, is read as.
    pub fn plays(&self, name: &str) -> Option<Field> {
        let place = place(name, &self.names)?;
        self.entries.iter().find(|(role, places)| *places == [place] && *role != Role::Time)?.0.field()
    }

    /// Fills `row` from the values that `get` gives for each column. A column that is absent is an empty value.
    #[inline]
    pub fn fill<'a>(
        &mut self,
        times: &mut Times,
        row: &mut Row,
        get: impl Fn(usize) -> &'a [u8],
    ) -> Result<(), Box<Fault>> {
        let Columns { names, entries, own, strict, ends } = self;
        for (role, places) in entries.iter() {
            let first = || get(places[0]);
            let sum = |what| match &places[..] {
                // Nearly always, and at once where it is digits alone.
                [place] if what != "price" => match digits(get(*place)) {
                    Some(amount) => Ok(amount),
                    None => sum(names, places, what, &get),
                },
                _ => sum(names, places, what, &get),
            };
            match role {
                Role::Time => row.at = times.read(first())?,
                Role::Key => {
                    for (n, place) in places.iter().enumerate() {
                        if n > 0 {
                            row.key.push(PART);
                        }
                        row.key.extend_from_slice(get(*place));
                    }
                }
                Role::Status => row.status = digits(first()).and_then(|status| status.try_into().ok()).unwrap_or(0),
                Role::Method => row.method.extend_from_slice(first()),
                Role::Path => row.path.extend_from_slice(first()),
                Role::User => row.user.extend_from_slice(first()),
                Role::Cost => (row.cost, row.cost_is_total) = (sum("cost")?, true),
                Role::Input => row.input_tokens = sum("number of tokens")?,
                Role::Output => row.output_tokens = sum("number of tokens")?,
                Role::CacheRead => row.cache_read_tokens = sum("number of tokens")?,
                Role::CacheWrite => row.cache_write_tokens = sum("number of tokens")?,
                Role::Price => row.microusd = sum("price")?,
                Role::Requests if *strict => row.requests = Some(sum("number of requests")?),
                Role::Requests => row.requests = sum("number of requests").ok(),
                Role::End => row.end = ends.as_mut().and_then(|ends| ends.read(first()).ok()),
            }
        }
        for (slot, place) in own.iter().enumerate() {
            row.put_own(slot, get(*place));
        }
        Ok(())
    }
}

#[inline(never)]
fn sum<'a>(
    names: &[String],
    places: &[usize],
    what: &'static str,
    get: &impl Fn(usize) -> &'a [u8],
) -> Result<u64, Box<Fault>> {
    let mut sum = 0u64;
    for &place in places {
        let value = get(place);
        let read = if what == "price" && !names[place].to_lowercase().contains("micro") {
            dollars(value)
        } else {
            amount(value, what)
        };
        let one = read.map_err(|fault| fault.column(&names[place]).value(value))?;
        sum = sum.checked_add(one).ok_or_else(|| {
            Fault::row("amount too large", format!("the sum for {what} does not fit into 64 bits"))
                .column(&names[place])
        })?;
    }
    Ok(sum)
}

/// A column's name, and of one within others its last part with what is around it.
struct Known<'a> {
    whole: Name,
    within: Option<(&'a str, Name)>,
}

impl Known<'_> {
    fn of(name: &str) -> Known<'_> {
        let within = name.rsplit_once('.').map(|(around, last)| (around, Name::of(last)));
        Known { whole: Name::of(name), within }
    }

    fn rank(&self, role: Role) -> Option<(u8, usize)> {
        let within = || self.within.as_ref().filter(|(around, last)| role.is_known_within(around, last));
        let whole = self.whole.rank(role).map(|rank| (0, rank));
        whole.or_else(|| Some((1, within()?.1.rank(role)?)))
    }
}

/// The name that goes best with a role, of those that are `usable`; some may be nested (`message.usage.input_tokens`). A
/// nested key is none where another is as good: whose address it is cannot be told.
fn by_name(role: Role, names: &[Known<'_>], usable: impl Fn(usize) -> bool) -> Option<usize> {
    let ranked = names.iter().enumerate().filter_map(|(at, name)| Some((name.rank(role)?, at)));
    let ranked = ranked.filter(|(_, at)| usable(*at));
    let (best, at) = ranked.clone().min()?;
    let unclear = role == Role::Key && best.0 > 0 && ranked.filter(|(rank, _)| *rank == best).count() > 1;
    (!unclear).then_some(at)
}

/// Says which of several columns of one name plays a role.
fn say_if_twice(spec: &Trace, role: Role, place: usize, names: &[String], notes: &mut Notes) {
    let others = || (1..).zip(names).filter(|(_, name)| **name == names[place]).map(|(number, _)| number);
    if let Some(other) = others().find(|number| *number != place + 1) {
        let choose = spec.choose(role.name(), &format!("\"{other}\""));
        notes.warning(format!(
            "{} columns are called \"{}\"; the {} is taken from column {}; {choose} chooses another by its number",
            others().count(),
            names[place],
            role.name(),
            place + 1
        ));
    }
}

fn place(wanted: &str, names: &[String]) -> Option<usize> {
    let exact = names.iter().position(|name| name == wanted);
    let found = exact.or_else(|| names.iter().position(|name| name.eq_ignore_ascii_case(wanted)));
    let number = || wanted.parse::<usize>().ok().filter(|n| (1..=names.len()).contains(n)).map(|n| n - 1);
    found.or_else(number)
}

/// That no column is called `wanted`, and what there is.
pub(super) fn absent(wanted: &str, names: &[String]) -> String {
    let near = nearest(wanted, names.iter().map(String::as_str));
    let near = near.map_or("; the".to_owned(), |name| format!("; did you mean \"{name}\"? The"));
    format!("there is no \"{wanted}\"{near} file has {}", list(names))
}

fn unknown_role(said: &str, name: &str) -> Box<Fault> {
    let all = Role::ALL.map(Role::name);
    let near =
        nearest(name, all.into_iter()).map_or("; valid".to_owned(), |near| format!("; did you mean {near}? Valid"));
    Fault::file(format!("{said}: unknown key {name:?}{near} are {}", all.join(", ")))
}

/// The name that a typo was meant to be.
pub(super) fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |name: &str| strsim::damerau_levenshtein(&wanted.to_lowercase(), &name.to_lowercase());
    names.map(|name| (distance(name), name)).filter(|(d, _)| *d <= 2.max(wanted.len() / 4)).min().map(|(_, name)| name)
}

/// `"a", "b", "c"`, the first twenty.
pub(super) fn list(names: &[String]) -> String {
    let mut text = names.iter().take(20).map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    if names.len() > 20 {
        text.push_str(&format!(" and {} more", names.len() - 20));
    }
    text
}
