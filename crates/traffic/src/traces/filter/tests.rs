//! What a filter means, and what is said about one that means nothing.

use super::*;
use proptest::prelude::*;

fn row() -> Row {
    Row {
        method: b"GET".to_vec(),
        path: b"/api/v1/users?id=7".to_vec(),
        status: 404,
        user: b"ann \"q\"".to_vec(),
        cost: 3,
        input_tokens: 1500,
        microusd: 4_785,
        own: vec![b" 12.50 ".to_vec(), b"eu-west".to_vec()],
        ..Row::default()
    }
}

fn holds(text: &str) -> bool {
    let filter = Where::parse(text).unwrap_or_else(|error| panic!("{text}: {}", error.within(text)));
    let slots: Vec<usize> = filter.columns().iter().map(|name| usize::from(name == "region")).collect();
    filter.holds(&row(), &slots)
}

#[test]
fn tests_hold_or_not() {
    for yes in [
        r#"path ~ "^/api/" and status != 304"#,
        r#"method = "GET""#,
        r#"not method = "POST""#,
        r#"path ~ "v\d+/users\?""#,
        r#"path !~ "^/static""#,
        "status >= 400 and status<500",
        r#"status ~ "^4""#,
        r#"user = "ann \"q\"""#,
        r#"user ~ "\"q\"""#,
        "input-tokens > 1e3",
        "input_tokens = 1500.0",
        "output-tokens = 0",
        "price = 0.004785 and price < $0.005",
        r#"key = """#,
        r#"column("ms") = 12.5 and column("ms") > 12.49999999999999999999"#,
        r#"column("region") = "eu-west" and column("region") < "us""#,
        r#"column("region") != 5 and not column("region") < 5"#,
        r#"status = 1 or status = 404 and cost = 3"#,
        r#"(status = 404 or status = 1) and not (cost = 1 or cost = 2)"#,
        "not not status = 404",
    ] {
        assert!(holds(yes), "{yes}");
    }
    for no in [
        r#"method = "get""#,
        "status = 404 and cost = 1",
        r#"(status = 404 or cost = 3) and method ~ "^P""#,
        "not (status = 404 or cost = 1)",
        r#"column("region") = 5"#,
    ] {
        assert!(!holds(no), "{no}");
    }
}

#[test]
fn a_row_without_a_status_matches_no_pattern_of_one() {
    let none = Row::default();
    let holds = |text| Where::parse(text).unwrap().holds(&none, &[]);
    assert!(!holds(r#"status ~ "0""#) && holds("status = 0") && holds("status != 304"));
}

#[test]
fn what_cannot_be_read_is_said_with_its_column() {
    let mut said = String::new();
    for text in [
        "",
        "pth ~ \"^/api/\"",
        "status",
        "status 5",
        "status = ",
        "status = =",
        "status == 200",
        "status = 200 && cost = 1",
        "status = 200 AND cost = 1",
        "status = 200 cost = 1",
        "!(status = 200)",
        "(status = 200",
        "status = 200)",
        "status = \"200\"",
        "status = abc",
        "status = 1.5",
        "status = -1",
        "status = 1x",
        "cost = $1",
        "cost ~ \"1\"",
        "price = 0.00000001",
        "path = 5",
        "path ~ 5",
        "path = '/api'",
        "path = \"/api",
        "path = \"\\d\"",
        "path ~ \"(\"",
        "path ~ \"x{1000}{1000}\"",
        "column = 5",
        "column(bytes) = 5",
        "column(\"bytes\" = 5",
        "größe = 5",
        "path = \"grün\" and sttus = 5",
    ] {
        let error = Where::parse(text).map(|_| ()).unwrap_err();
        assert!(text.get(error.place.clone()).is_some(), "{text}");
        said.push_str(&format!("{text}\n  {}\n", error.within(text)));
    }
    insta::assert_snapshot!(said);
    let deep = "(".repeat(100_000);
    assert!(Where::parse(&deep).unwrap_err().message.contains("within each other"));
    let deep = format!("{}status = 1", "not ".repeat(100_000));
    assert!(Where::parse(&deep).unwrap_err().message.contains("within each other"));
}

/// Expressions with the value they have for [`row`].
fn expression() -> impl Strategy<Value = (String, bool)> {
    let test = (0u64..6, 0usize..6).prop_map(|(number, op)| {
        let signs = ["=", "!=", "<", "<=", ">", ">="];
        let value = [3 == number, 3 != number, 3 < number, 3 <= number, 3 > number, 3 >= number][op];
        (format!("cost{}{number}", signs[op]), value)
    });
    test.prop_recursive(5, 40, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|(text, value)| (format!("not ({text})"), !value)),
            prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| {
                let text = parts.iter().map(|(text, _)| format!("({text})")).collect::<Vec<_>>().join(" and ");
                (text, parts.iter().all(|(_, value)| *value))
            }),
            prop::collection::vec(inner, 1..4).prop_map(|parts| {
                let text = parts.iter().map(|(text, _)| format!("({text})")).collect::<Vec<_>>().join(" or ");
                (text, parts.iter().any(|(_, value)| *value))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn an_expression_has_the_value_of_its_parts((text, value) in expression()) {
        prop_assert_eq!(holds(&text), value, "{}", text);
    }

    /// `a or b and c` is `a or (b and c)`, whatever the values are.
    #[test]
    fn and_binds_closer_than_or(values in prop::collection::vec((any::<bool>(), any::<bool>()), 1..8)) {
        let (mut text, mut any, mut all) = (String::new(), false, true);
        for (n, (value, or)) in values.iter().enumerate() {
            if n > 0 {
                text.push_str(if *or { " or " } else { " and " });
                if *or {
                    (any, all) = (any || all, true);
                }
            }
            text.push_str(if *value { "cost = 3" } else { "cost = 4" });
            all &= *value;
        }
        prop_assert_eq!(holds(&text), any || all, "{}", text);
    }

    /// A text in quotes is itself, whatever is in it.
    #[test]
    fn every_text_can_be_written(user in "\\PC*") {
        let quoted = user.replace('\\', "\\\\").replace('"', "\\\"");
        let filter = Where::parse(&format!("user = \"{quoted}\"")).unwrap();
        let row = Row { user: user.into_bytes(), ..Row::default() };
        prop_assert!(filter.holds(&row, &[]));
    }

    /// Whatever is written, it is read or refused at a place within it.
    #[test]
    fn nothing_panics(text in "[a-z \"\\\\()=<>!~0-9.$é'-]{0,40}") {
        if let Err(error) = Where::parse(&text) {
            prop_assert!(text.get(error.place.clone()).is_some() && !error.message.is_empty());
        }
    }
}
