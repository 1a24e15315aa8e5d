//! The page and the description of the API, which are part of the program.

use super::answers::{Answered, of};

macro_rules! page {
    ($($name:ident $file:literal $kind:literal),* $(,)?) => {
        $(pub async fn $name() -> Answered {
            of(200, $kind, include_str!(concat!("../../page/", $file)))
        })*
    };
}

page! {
    index "index.html" "text/html; charset=utf-8",
    style "style.css" "text/css; charset=utf-8",
    names "names.js" "text/javascript; charset=utf-8",
    words "words.js" "text/javascript; charset=utf-8",
    draw "draw.js" "text/javascript; charset=utf-8",
    app "app.js" "text/javascript; charset=utf-8",
    openapi "openapi.json" "application/json",
}

/// Nothing: the page's own icon is in the page.
pub async fn icon() -> Answered {
    of(204, "image/x-icon", "")
}
