//! What a column or field can be, and the names by which it is recognised.

use super::field::Field;
use super::unit::Unit;

/// What a column can be, with the names it goes by. The first name that a file has wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Time,
    Key,
    Cost,
    Input,
    Output,
    CacheRead,
    CacheWrite,
    Price,
    Status,
    Method,
    Path,
    User,
    /// How many requests a row stands for.
    Requests,
    /// Where the interval of a total ends.
    End,
}

impl Role {
    pub const ALL: [Role; 14] = [
        Role::Time,
        Role::Key,
        Role::Cost,
        Role::Input,
        Role::Output,
        Role::CacheRead,
        Role::CacheWrite,
        Role::Price,
        Role::Status,
        Role::Method,
        Role::Path,
        Role::User,
        Role::Requests,
        Role::End,
    ];

    /// The role's name in a scenario's `columns`.
    pub fn name(self) -> &'static str {
        match self {
            Role::Time => "time",
            Role::Key => "key",
            Role::Cost => "cost",
            Role::Input => "input-tokens",
            Role::Output => "output-tokens",
            Role::CacheRead => "cache-read-tokens",
            Role::CacheWrite => "cache-write-tokens",
            Role::Price => "price",
            Role::Status => "status",
            Role::Method => "method",
            Role::Path => "path",
            Role::User => "user",
            Role::Requests => "requests",
            Role::End => "end",
        }
    }

    /// Names by which the role is recognised, in lower case, without what is no letter or digit;
    /// a time may have a unit behind it.
    pub fn known_names(self) -> &'static [&'static str] {
        match self {
            Role::Time => &[
                "at",
                "t",
                "time",
                "timestamp",
                "ts",
                "datetime",
                "eventtime",
                "requesttime",
                "arrivaltime",
                "arrival",
                "arrivedat",
                "starttime",
                "startedat",
                "start",
                "createdat",
                "date",
                "timeiso8601",
                "timelocal",
                "msec",
                "edgestarttimestamp",
                "starttimeunix",
                "epoch",
                "bucket",
                "bucketstart",
                "bucketstarttime",
                "intervalstart",
                "windowstart",
                "periodstart",
                "usagedate",
                "usagedateutc",
                "day",
                "hour",
            ],
            Role::Key => &[
                "key",
                "apikey",
                "client",
                "clientip",
                "clientid",
                "clientaddress",
                "remoteaddr",
                "remoteaddress",
                "remoteip",
                "remotehost",
                "ip",
                "ipaddress",
                "sourceip",
                "srcip",
                "host",
                "userid",
                "user",
                "username",
                "account",
                "accountid",
                "customer",
                "customerid",
                "tenant",
                "tenantid",
                "org",
                "orgid",
                "sessionid",
                "session",
                "objectid",
                "objid",
                "id",
            ],
            Role::Cost => &["cost", "permits", "weight"],
            Role::Input => &[
                "inputtokens",
                "prompttokens",
                "contexttokens",
                "inputlength",
                "tokensin",
                "ninput",
                "usageinputtokensnocache",
                "inputlen",
            ],
            Role::Output => &[
                "outputtokens",
                "completiontokens",
                "generatedtokens",
                "outputlength",
                "tokensout",
                "noutput",
                "usageoutputtokens",
                "outputlen",
            ],
            Role::CacheRead => &["cachereadtokens", "cachereadinputtokens", "usageinputtokenscacheread", "prefixlen"],
            Role::CacheWrite => &["cachewritetokens", "cachecreationinputtokens", "usageinputtokenscachewrite5m"],
            Role::Price => {
                &["pricemicrousd", "microusd", "costmicrousd", "priceusd", "costusd", "spendusd", "price", "spend"]
            }
            Role::Status => &["status", "statuscode", "httpstatus", "responsestatus", "edgeresponsestatus", "scstatus"],
            Role::Method => &["method", "httpmethod", "requestmethod", "clientrequestmethod"],
            Role::Path => &["path", "uri", "requesturi", "url", "endpoint", "clientrequesturi", "clientrequestpath"],
            Role::User => &["remoteuser", "authuser"],
            Role::Requests => &[
                "requests",
                "numrequests",
                "nrequests",
                "requestcount",
                "requestscount",
                "numberofrequests",
                "nummodelrequests",
                "totalrequests",
                "requeststotal",
                "callcount",
                "numcalls",
                "ncalls",
                "apicalls",
                "totalcalls",
                "calls",
                "invocations",
                "hits",
                "count",
                "samplecount",
                "sum",
            ],
            Role::End => &["endtime", "end", "bucketend", "bucketendtime", "intervalend", "windowend", "periodend"],
        }
    }

    /// The field of a row that it fills.
    pub fn field(self) -> Option<Field> {
        Some(match self {
            Role::Time | Role::Requests | Role::End => return None,
            Role::Key => Field::Key,
            Role::Cost => Field::Cost,
            Role::Input => Field::Input,
            Role::Output => Field::Output,
            Role::CacheRead => Field::CacheRead,
            Role::CacheWrite => Field::CacheWrite,
            Role::Price => Field::Price,
            Role::Status => Field::Status,
            Role::Method => Field::Method,
            Role::Path => Field::Path,
            Role::User => Field::User,
        })
    }

    /// Whether a name within others (`request.client_ip`) may be of this role by its last part alone. As keys only names
    /// do that say whose they are: an id, a host or a key within something else is that thing's own.
    pub fn is_known_within(self, around: &str, last: &Name) -> bool {
        match self {
            Role::Key => {
                let own = ["key", "client", "host", "id", "objectid", "objid", "session", "org"];
                // What a request reached, and not who made it.
                let reached = ["host", "server", "destination", "dest", "dst", "upstream", "local", "response"];
                let around = around.rsplit('.').next().unwrap_or(around).to_lowercase();
                !own.contains(&last.whole.as_str()) && !reached.contains(&around.as_str())
            }
            _ => self == Role::Time || self.is_tokens(),
        }
    }

    /// Whether several columns of this role are added up.
    pub fn is_amount(self) -> bool {
        matches!(self, Role::Cost | Role::Price | Role::Requests) || self.is_tokens()
    }

    /// Whether it is a number of tokens.
    pub fn is_tokens(self) -> bool {
        matches!(self, Role::Input | Role::Output | Role::CacheRead | Role::CacheWrite)
    }
}

/// A column's name as [`Role::known_names`] has them.
#[derive(Clone, Debug)]
pub(super) struct Name {
    whole: String,
    /// The same without its unit.
    without: Option<String>,
}

impl Name {
    pub fn of(name: &str) -> Name {
        let squeeze = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
        let trimmed = name.trim_end_matches([')', ']']);
        let without = Unit::of_column(name).and_then(|_| match name.strip_suffix("UnixNano") {
            Some(rest) => Some(squeeze(rest)),
            None => trimmed.rfind(['_', ' ', '(', '[', '-', '.']).map(|at| squeeze(&trimmed[..at])),
        });
        Name { whole: squeeze(name), without }
    }

    /// How early among the names of `role` this one comes; `None` when it is not one of them.
    pub fn rank(&self, role: Role) -> Option<usize> {
        let without = self.without.as_deref().filter(|_| role == Role::Time);
        role.known_names().iter().position(|known| *known == self.whole || without == Some(*known))
    }
}

/// Whether `name` is one that `role` goes by.
pub(super) fn is_known(role: Role, name: &str) -> bool {
    Name::of(name).rank(role).is_some()
}
