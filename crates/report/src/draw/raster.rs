//! From SVG to PNG, with the bundled font only: the same pixels on every machine.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

/// Pixels of the PNG in one unit of the picture.
const PIXELS: f32 = 2.0;

/// The picture `svg` as an opaque PNG, two pixels to the unit.
pub fn png(svg: &str) -> Vec<u8> {
    static FONTS: OnceLock<Arc<fontdb::Database>> = OnceLock::new();
    let fonts = FONTS.get_or_init(|| {
        let mut fonts = fontdb::Database::new();
        for face in [dejavu::sans::regular(), dejavu::sans::bold()] {
            fonts.load_font_source(fontdb::Source::Binary(Arc::new(face)));
        }
        fonts.set_sans_serif_family("DejaVu Sans");
        Arc::new(fonts)
    });
    let options = Options { fontdb: fonts.clone(), font_family: "DejaVu Sans".to_owned(), ..Options::default() };
    let own = "our own drawing is valid SVG of a sane size";
    let tree = Tree::from_str(svg, &options).expect(own);
    let size = tree.size().to_int_size().scale_by(PIXELS).expect(own);
    let mut pixmap = Pixmap::new(size.width(), size.height()).expect(own);
    resvg::render(&tree, Transform::from_scale(PIXELS, PIXELS), &mut pixmap.as_mut());
    // The paper is opaque, so premultiplied colour is colour.
    let pixels: Vec<[u8; 3]> = pixmap.data().chunks_exact(4).map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    encode(&pixels, size.width(), size.height())
}

/// A drawing has few colours: as a palette it takes a third of the bytes and of the time.
fn encode(pixels: &[[u8; 3]], width: u32, height: u32) -> Vec<u8> {
    let memory = "encoding into memory cannot fail";
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Balanced);
    encoder.set_filter(png::Filter::NoFilter);
    let data = match indexed(pixels) {
        Some((palette, indices)) => {
            encoder.set_color(png::ColorType::Indexed);
            encoder.set_palette(palette);
            indices
        }
        None => {
            encoder.set_color(png::ColorType::Rgb);
            pixels.as_flattened().to_vec()
        }
    };
    let mut writer = encoder.write_header().expect(memory);
    writer.write_image_data(&data).expect(memory);
    writer.finish().expect(memory);
    bytes
}

/// The palette, in order of first use, and each pixel's place in it; `None` beyond 256 colours.
fn indexed(pixels: &[[u8; 3]]) -> Option<(Vec<u8>, Vec<u8>)> {
    let mut places: HashMap<[u8; 3], u8> = HashMap::new();
    let mut palette = Vec::new();
    let mut indices = Vec::with_capacity(pixels.len());
    let mut last = None;
    for &pixel in pixels {
        let index = match last {
            Some((known, index)) if known == pixel => index,
            _ => match places.get(&pixel) {
                Some(&index) => index,
                None => {
                    let index = u8::try_from(places.len()).ok()?;
                    palette.extend_from_slice(&pixel);
                    places.insert(pixel, index);
                    index
                }
            },
        };
        last = Some((pixel, index));
        indices.push(index);
    }
    Some((palette, indices))
}
