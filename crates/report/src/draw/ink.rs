//! Inks: what a line or letter means, its colour on light and dark paper, and the dash of a line.
//!
//! Plotters' SVG backend writes plain colours and knows neither dashes nor style sheets. So every stroke is drawn in a
//! *key* colour that says which ink and dash is meant, and [`resolve`] turns keys into colours, dashes and class names
//! once the drawing is done. The same drawing is then right on light and dark paper.

use limiters::ALGORITHMS;
use plotters::style::RGBColor;

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    Paper,
    Text,
    Muted,
    Grid,
    Axis,
    Offered,
    Admitted,
    Delayed,
    Refused,
    Released,
    Bound,
    /// A line of an algorithm; its place in the registry picks the hue.
    Series(usize),
}

/// How a line is dashed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dash {
    #[default]
    Solid,
    Long,
    Dots,
    Mixed,
}

impl Dash {
    pub const ALL: [Self; 4] = [Self::Solid, Self::Long, Self::Dots, Self::Mixed];
}

/// Class name, colour on light paper, colour on dark paper. The hues keep apart in the three common kinds of colour
/// blindness (they follow Okabe and Ito, darkened to read on white); red is left to refusals.
const INKS: &[(&str, &str, &str)] = &[
    ("paper", "#ffffff", "#15181c"),
    ("text", "#1c2127", "#e8eaed"),
    ("muted", "#59626d", "#a3adb8"),
    ("grid", "#e3e7eb", "#2b3138"),
    ("axis", "#8a949f", "#69737e"),
    ("offered", "#9aa4af", "#77818c"),
    ("admitted", "#0072b2", "#4aa8e0"),
    ("delayed", "#8cc6ec", "#bfe3fb"),
    ("refused", "#c8321e", "#ff7058"),
    ("released", "#c77700", "#ffb84d"),
    ("bound", "#1c2127", "#e8eaed"),
    ("s0", "#59626d", "#a3adb8"),
    ("s1", "#0072b2", "#4aa8e0"),
    ("s2", "#c77700", "#ffb84d"),
    ("s3", "#00855f", "#35c79a"),
    ("s4", "#aa4499", "#e08fd2"),
    ("s5", "#3f9fd8", "#9ad6fb"),
    ("s6", "#7a1f4b", "#d883ab"),
    ("s7", "#84841a", "#cfcf5a"),
    ("s8", "#3b2f9e", "#a99df7"),
    ("s9", "#1c2127", "#e8eaed"),
];

const SERIES: usize = 11;

impl Ink {
    fn index(self) -> usize {
        match self {
            Self::Paper => 0,
            Self::Text => 1,
            Self::Muted => 2,
            Self::Grid => 3,
            Self::Axis => 4,
            Self::Offered => 5,
            Self::Admitted => 6,
            Self::Delayed => 7,
            Self::Refused => 8,
            Self::Released => 9,
            Self::Bound => 10,
            Self::Series(n) => SERIES + n % (INKS.len() - SERIES),
        }
    }

    /// The colour plotters is given instead of the real one.
    pub fn key(self, dash: Dash) -> RGBColor {
        RGBColor(dash as u8, 0, self.index() as u8)
    }

    /// The real colour on light paper.
    #[cfg(test)]
    pub fn light(self) -> &'static str {
        INKS[self.index()].1
    }
}

/// Ink and dash of the `nth` entry of an algorithm. Ten hues and four dashes, whose cycles meet only every twentieth
/// algorithm, so that two lines never look the same.
pub fn series(algorithm: &str, nth: usize) -> (Ink, Dash) {
    // A stack or a foreign limiter is not in the registry; its name picks a place.
    let other = || ALGORITHMS.len() + algorithm.bytes().map(usize::from).sum::<usize>();
    let place = ALGORITHMS.iter().position(|known| known.name == algorithm).unwrap_or_else(other);
    (Ink::Series(place), Dash::ALL[(place + nth) % Dash::ALL.len()])
}

/// Replaces key colours by the light theme's, adds class names and dashes. `unit` is the length of one unit of the
/// picture on the canvas.
pub fn resolve(attributes: &str, unit: u32) -> String {
    let mut out = String::with_capacity(attributes.len() + 32);
    let mut rest = attributes;
    while let Some(at) = rest.find("=\"#") {
        let (before, key) = (&rest[..at], &rest[at + 3..at + 9]);
        let number = u32::from_str_radix(key, 16).unwrap_or_default();
        let (dash, ink) = ((number >> 16) as usize, (number & 0xff) as usize);
        let (name, light, _) = INKS[ink.min(INKS.len() - 1)];
        out.push_str(before);
        out.push_str(&format!("=\"{light}\" class=\"{}-{name}\"", if before.ends_with("stroke") { 's' } else { 'f' }));
        let pattern: &[u32] = match Dash::ALL.get(dash) {
            Some(Dash::Long) => &[7, 4],
            Some(Dash::Dots) => &[2, 3],
            Some(Dash::Mixed) => &[8, 3, 2, 3],
            _ => &[],
        };
        if !pattern.is_empty() {
            let lengths: Vec<_> = pattern.iter().map(|length| (length * unit).to_string()).collect();
            out.push_str(&format!(" stroke-dasharray=\"{}\"", lengths.join(" ")));
        }
        rest = &rest[at + 10..];
    }
    out.push_str(rest);
    out
}

/// Style sheet that turns a drawing's colours into those for dark paper.
pub fn dark_css() -> String {
    INKS.iter().map(|(name, _, dark)| format!(".s-{name}{{stroke:{dark}}}.f-{name}{{fill:{dark}}}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_become_colours_classes_and_dashes() {
        let RGBColor(r, g, b) = Ink::Refused.key(Dash::Long);
        let text = resolve(&format!("<line stroke=\"#{r:02X}{g:02X}{b:02X}\" x=\"1\"/>"), 8);
        assert_eq!(text, "<line stroke=\"#c8321e\" class=\"s-refused\" stroke-dasharray=\"56 32\" x=\"1\"/>");
        assert_eq!(Ink::Refused.light(), "#c8321e");
    }

    #[test]
    fn no_two_of_twenty_neighbours_look_the_same() {
        let look = |place: usize| (Ink::Series(place).index(), place % Dash::ALL.len());
        for a in 0..20 {
            for b in 0..a {
                assert_ne!(look(a), look(b), "{a} and {b}");
            }
        }
    }
}
