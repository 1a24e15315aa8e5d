//! Every figure draws whatever data there is, and nothing in it is cut or written over.

use std::sync::Arc;

use report::figures::{FIGURES, draw_all};
use report::{Report, Tables};
use resvg::usvg::{Node, Options, Rect, Tree, fontdb};

#[allow(dead_code)]
mod made_up;

fn report(tables: Tables) -> Report {
    Report { tables, ..Report::default() }
}

/// The made-up run with every number replaced.
fn with(change: impl Fn(u64) -> u64) -> Report {
    let mut tables = made_up::with_clients();
    for row in &mut tables.summary {
        for value in [
            &mut row.requests,
            &mut row.admitted,
            &mut row.refused,
            &mut row.offered_permits,
            &mut row.admitted_permits,
            &mut row.peak_window,
            &mut row.limit,
        ] {
            *value = change(*value);
        }
        row.over_admitted = row.over_admitted.map(&change);
        row.falsely_refused = row.falsely_refused.map(&change);
    }
    for row in &mut tables.timeline {
        row.offered_permits = change(row.offered_permits);
        row.admitted_permits = change(row.admitted_permits);
        row.delayed_permits = change(row.delayed_permits);
        row.refused_permits = change(row.refused_permits);
        row.started_permits = change(row.started_permits);
        row.level_milli = row.level_milli.map(|level| change(level.unsigned_abs()) as i64);
    }
    for row in &mut tables.envelope {
        row.measured_permits = change(row.measured_permits);
        row.bound_permits = row.bound_permits.map(&change);
    }
    for row in &mut tables.guarantee {
        row.guaranteed_permits = change(row.guaranteed_permits);
        row.refused_ratio = change((row.refused_ratio * 1000.0) as u64).min(1000) as f64 / 1000.0;
    }
    for row in &mut tables.waits {
        row.wait_ns = change(row.wait_ns);
    }
    for row in &mut tables.overhead {
        row.mean_ns = change(row.mean_ns as u64) as f64;
    }
    report(tables)
}

/// One row of each file.
fn one_point() -> Report {
    let mut tables = made_up::with_clients();
    tables.summary.truncate(1);
    tables.timeline.truncate(1);
    tables.envelope.truncate(1);
    tables.guarantee.truncate(1);
    tables.waits.retain(|row| row.wait_ns > 0);
    tables.waits.truncate(1);
    tables.overhead.truncate(1);
    report(tables)
}

/// As many limiters as nobody should compare at once, with names that are too long.
fn crowded() -> Report {
    let mut tables = made_up::with_clients();
    let few = tables.clone();
    for copy in 0..5 {
        let name = |name: &str| format!("{name}, variant {copy} of a sweep over every burst there is");
        for row in &few.summary {
            let variant = row.comparison == "equal-quota";
            let comparison = if variant { "variant" } else { &row.comparison };
            let row = replay::rows::SummaryRow {
                limiter: name(&row.limiter),
                comparison: comparison.to_owned(),
                ..row.clone()
            };
            tables.summary.push(row);
        }
        for row in few.timeline.iter().filter(|row| row.comparison == "equal-quota") {
            let (limiter, comparison) = (name(&row.limiter), "variant".to_owned());
            tables.timeline.push(replay::rows::TimelineRow { limiter, comparison, ..row.clone() });
        }
        for row in few.waits.iter().filter(|row| row.comparison == "equal-quota") {
            let (limiter, comparison) = (name(&row.limiter), "variant".to_owned());
            let wait_ns = row.wait_ns + copy * 1_000_000_000;
            tables.waits.push(replay::rows::WaitRow { limiter, comparison, wait_ns, ..row.clone() });
        }
        for row in &few.guarantee {
            let refused_ratio = row.refused_ratio / (copy + 2) as f64;
            tables.guarantee.push(replay::rows::GuaranteeRow {
                algorithm: name(&row.algorithm),
                refused_ratio,
                ..row.clone()
            });
        }
        for row in &few.overhead {
            tables.overhead.push(replay::rows::OverheadRow { limiter: name(&row.limiter), ..row.clone() });
        }
    }
    report(tables)
}

fn cases() -> Vec<(&'static str, Report)> {
    vec![
        ("normal", report(made_up::with_clients())),
        ("empty", Report::default()),
        ("one point", one_point()),
        ("zero", with(|_| 0)),
        ("flat", with(|_| 7)),
        ("huge", with(|value| value.saturating_mul(1 << 44))),
        ("largest", with(|_| u64::MAX)),
        ("crowded", crowded()),
    ]
}

#[test]
fn every_figure_draws_whatever_there_is() {
    for (case, report) in cases() {
        for figure in FIGURES {
            let svg = (figure.draw)(&report);
            let context = format!("{} of {case}", figure.name);
            let document = roxmltree::Document::parse(&svg).unwrap_or_else(|error| panic!("{context}: {error}"));
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{context}");
            assert_eq!(document.root_element().attribute("width"), Some("840"), "{context}");
            let texts: Vec<_> = document.descendants().filter(|node| node.has_tag_name("text")).collect();
            assert_eq!(texts[0].text(), Some(figure.title), "{context}");
            let keys = document.descendants().filter(|node| {
                ["fill", "stroke"].iter().any(|name| node.attribute(*name).is_some_and(|ink| ink.starts_with("#0")))
            });
            let allowed = |ink: &str| ["#0072b2", "#00855f"].contains(&ink);
            for node in keys {
                let ink = node.attribute("fill").filter(|ink| *ink != "none").or(node.attribute("stroke"));
                assert!(ink.is_some_and(allowed), "{context}: a key colour was left: {ink:?}");
            }
        }
    }
}

#[test]
fn text_is_never_cut_and_never_written_over() {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_source(fontdb::Source::Binary(Arc::new(dejavu::sans::regular())));
    fonts.load_font_source(fontdb::Source::Binary(Arc::new(dejavu::sans::bold())));
    let options = Options { fontdb: Arc::new(fonts), ..Options::default() };
    for (case, report) in cases() {
        for figure in FIGURES {
            let context = format!("{} of {case}", figure.name);
            let tree = Tree::from_str(&(figure.draw)(&report), &options).unwrap();
            let mut boxes = Vec::new();
            collect(tree.root().children(), &mut boxes);
            assert!(boxes.len() >= 2, "{context}");
            for (i, (text, a)) in boxes.iter().enumerate() {
                let inside = a.left() >= 0.0 && a.right() <= tree.size().width() && a.bottom() <= tree.size().height();
                assert!(inside, "{context}: “{text}” is cut: {a:?}");
                for (other, b) in &boxes[..i] {
                    let across = a.right().min(b.right()) - a.left().max(b.left());
                    let down = a.bottom().min(b.bottom()) - a.top().max(b.top());
                    assert!(across < 1.0 || down < 2.5, "{context}: “{text}” over “{other}”: {a:?} {b:?}");
                }
            }
        }
    }
}

fn collect(nodes: &[Node], boxes: &mut Vec<(String, Rect)>) {
    for node in nodes {
        match node {
            Node::Group(group) => collect(group.children(), boxes),
            Node::Text(text) => {
                let letters = text.chunks().iter().map(|chunk| chunk.text()).collect();
                boxes.push((letters, text.abs_bounding_box()));
            }
            _ => {}
        }
    }
}

#[test]
fn pngs_show_the_drawing_at_twice_its_size() {
    let drawn = draw_all(&report(made_up::with_clients()));
    let names: Vec<_> = drawn.iter().map(|drawn| drawn.figure.name).collect();
    assert_eq!(names, FIGURES.iter().map(|figure| figure.name).collect::<Vec<_>>());
    for picture in drawn {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(&picture.png));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.width, info.color_type), (1680, png::ColorType::Rgb));
        let inked = pixels.chunks_exact(3).filter(|pixel| **pixel != [255, 255, 255]).count();
        let share = inked as f64 / (pixels.len() / 3) as f64;
        assert!((0.01..0.6).contains(&share), "{}: {share} of the paper is inked", picture.figure.name);
    }
}

#[test]
fn figures_without_data_are_left_out() {
    assert!(draw_all(&Report::default()).is_empty());
    let mut tables = made_up::with_clients();
    tables.waits.iter_mut().for_each(|row| row.wait_ns = 0);
    tables.overhead.clear();
    let drawn = draw_all(&report(tables));
    assert!(drawn.iter().all(|drawn| !["waits", "overhead"].contains(&drawn.figure.name)));
    assert_eq!(drawn.len(), FIGURES.len() - 2);
}

#[test]
fn lines_that_coincide_are_said_to() {
    let svg = (FIGURES.iter().find(|figure| figure.name == "guarantee").unwrap().draw)(&report(made_up::tables()));
    assert!(svg.contains("token-bucket = leaky-bucket-meter ="), "the three equal buckets share a label");
}

#[test]
fn money_and_permits_share_no_axis() {
    let mut report = report(made_up::with_clients());
    report.tables.summary.iter_mut().for_each(|row| row.meter = "requests".to_owned());
    let all = report.panels().len();
    assert_eq!(report.panels_of_quota(), (report.panels(), String::new()));
    let name = report.panels()[1].limiter.clone();
    report.tables.summary.iter_mut().filter(|row| row.limiter == name).for_each(|row| row.meter = "spend".to_owned());
    let (own, words) = report.panels_of_quota();
    assert_eq!((own.len(), own.iter().filter(|row| row.limiter == name).count()), (all - 1, 0));
    assert_eq!(
        words,
        format!(" Not drawn, since they count money: “{name}”; what is spent behind them is in spend.png.")
    );
}
