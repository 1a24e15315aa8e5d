//! Whose limit a pasted setting is: the key and the filter of recorded traffic in the words of each server.

use traffic::spec::Trace;

/// Formats whose own key is the client's address.
const BY_ADDRESS: [&str; 5] = ["access-log", "alb", "cloudflare", "s3", "w3c"];

/// Names under which columns hold the client's address.
const ADDRESSES: [&str; 7] = ["address", "ip", "client_ip", "remote_addr", "remote_ip", "c-ip", "ClientIP"];

/// What a limit was sized for.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// The parts of the key; `None` where there is one limit for all.
    key: Option<Vec<Part>>,
    /// The expression that chose the requests.
    filter: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Address,
    User,
    Method,
    Path,
    Host,
    Status,
    /// Something that no server knows by itself.
    Own(String),
}

impl Part {
    fn named(name: &str, format: &str) -> Part {
        match name {
            "key" | "client" if BY_ADDRESS.contains(&format) => Part::Address,
            "user" => Part::User,
            "method" => Part::Method,
            "path" => Part::Path,
            "vhost" => Part::Host,
            "status" => Part::Status,
            name if ADDRESSES.contains(&name) => Part::Address,
            name => Part::Own(name.to_owned()),
        }
    }

    /// Its name in code.
    fn word(&self) -> String {
        let word = match self {
            Part::Address => "address",
            Part::User => "user",
            Part::Method => "method",
            Part::Path => "path",
            Part::Host => "host",
            Part::Status => "status",
            Part::Own(name) => name,
        };
        word.chars()
            .map(|letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' })
            .collect()
    }

    fn nginx(&self) -> String {
        match self {
            Part::Address => "$binary_remote_addr".to_owned(),
            Part::User => "$remote_user".to_owned(),
            Part::Method => "$request_method".to_owned(),
            Part::Path => "$uri".to_owned(),
            Part::Host => "$host".to_owned(),
            Part::Status | Part::Own(_) => format!("$your_{}", self.word()),
        }
    }

    /// What must be known of its variable.
    fn explained(&self) -> Option<String> {
        let variable = self.nginx();
        match self {
            Part::Address | Part::Method | Part::Host => None,
            Part::User => Some(format!(
                "{variable} is the user of basic authentication; take another variable if yours are told otherwise."
            )),
            Part::Path => {
                Some(format!("{variable} is the path without its query, after nginx decoded and rewrote it."))
            }
            Part::Status => Some(format!(
                "{variable} cannot be had: a status is known only with the answer, so no server can limit by it."
            )),
            Part::Own(name) => Some(format!(
                "nginx has no {variable}: define it with `map` as what \"{name}\" is in this log (a header is $http_NAME, an \
                 argument $arg_NAME)."
            )),
        }
    }
}

impl Scope {
    /// What traffic read by `trace` as `format` is limited by.
    pub fn of(trace: &Trace, format: &str, per_key: bool) -> Scope {
        let column = trace.columns.iter().find(|(role, _)| role == "key").map(|(_, names)| names.clone());
        let named = match &trace.key_by[..] {
            [] => column.unwrap_or_else(|| vec!["key".to_owned()]),
            parts => parts.to_vec(),
        };
        let parts = || named.iter().map(|name| Part::named(name, format)).collect();
        Scope { key: per_key.then(parts), filter: trace.filter.clone() }
    }

    /// Whether each key has a limit of its own.
    pub(super) fn is_keyed(&self) -> bool {
        self.key.is_some()
    }

    /// The key of an nginx zone. It is never empty, since nginx does not limit an empty one.
    pub(super) fn nginx(&self) -> String {
        match self.key.as_deref() {
            None => "$server_name".to_owned(),
            Some([Part::User]) => "-$remote_user".to_owned(),
            Some(parts) => parts.iter().map(Part::nginx).collect::<Vec<_>>().join(":"),
        }
    }

    /// What must be known of that key and of the place of the lines; each sentence with a space in front.
    pub(super) fn nginx_explained(&self) -> String {
        let parts = self.key.as_deref().unwrap_or_default();
        let mut said: Vec<String> = parts.iter().filter_map(Part::explained).collect();
        if parts == [Part::User] {
            said.push(
                "The dash keeps those without a user in one limit, as here: nginx does not limit an empty key.".into(),
            );
        }
        said.extend(
            self.only("put limit_req into the location that they reach, or give all others an empty key with `map`"),
        );
        said.iter().map(|sentence| format!(" {sentence}")).collect()
    }

    /// Where the setting belongs if the requests were chosen.
    pub(super) fn only(&self, place: &str) -> Option<String> {
        let filter = self.filter.as_ref()?;
        Some(format!("Only requests with `{filter}` were looked at: {place}; elsewhere it limits the rest too."))
    }

    /// The key as a value in code.
    pub(super) fn value(&self) -> Option<String> {
        let words: Vec<String> = self.key.as_ref()?.iter().map(Part::word).collect();
        Some(if words.len() == 1 { words[0].clone() } else { format!("({})", words.join(", ")) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(parts: &[&str], format: &str) -> Scope {
        let key_by = parts.iter().map(|part| (*part).to_owned()).collect();
        Scope::of(&Trace { key_by, ..Trace::default() }, format, true)
    }

    #[test]
    fn keys_are_named_as_nginx_names_them() {
        for (parts, format, key) in [
            (&[][..], "access-log", "$binary_remote_addr"),
            (&[], "csv", "$your_key"),
            (&["client"], "access-log", "$binary_remote_addr"),
            (&["user"], "access-log", "-$remote_user"),
            (&["user", "path"], "access-log", "$remote_user:$uri"),
            (&["method", "client"], "w3c", "$request_method:$binary_remote_addr"),
            (&["Tenant-Id", "ip"], "csv", "$your_tenant_id:$binary_remote_addr"),
        ] {
            assert_eq!(by(parts, format).nginx(), key, "{parts:?} of {format}");
        }
        assert_eq!(Scope::default().nginx(), "$server_name");
        let column = Trace { columns: vec![("key".to_owned(), vec!["user".to_owned()])], ..Trace::default() };
        assert_eq!(Scope::of(&column, "access-log", true).nginx(), "-$remote_user");
    }

    #[test]
    fn what_nginx_does_not_know_is_said() {
        assert_eq!(by(&["client"], "alb").nginx_explained(), "");
        assert!(by(&["tenant"], "csv").nginx_explained().contains("nginx has no $your_tenant: define it"));
        assert!(by(&["status"], "csv").nginx_explained().contains("no server can limit by it"));
        let filter = Some("path ~ \"^/login\"".to_owned());
        let chosen = Scope::of(&Trace { filter, ..Trace::default() }, "access-log", false);
        assert!(
            chosen.nginx_explained().contains("Only requests with `path ~ \"^/login\"` were looked at: put limit_req")
        );
        assert_eq!(by(&["user", "path"], "csv").value().unwrap(), "(user, path)");
    }
}
