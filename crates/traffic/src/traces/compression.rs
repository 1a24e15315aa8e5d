//! Compressed input: recognised by its first bytes, whatever the file's name.

use super::fault::Fault;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, BufRead, Read};

/// The bytes of `raw`, decompressed when they are gzip (of any number of members) or Zstandard (of any number of frames).
pub(super) fn decompress(mut raw: impl BufRead + Send + 'static) -> Result<Box<dyn Read + Send>, Box<Fault>> {
    let magic = raw.fill_buf().map_err(|error| Fault::io(&error))?;
    if magic.starts_with(&[0x1f, 0x8b]) {
        return Ok(Box::new(flate2::bufread::MultiGzDecoder::new(raw)));
    }
    if magic.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        return Ok(Box::new(Zstd { source: raw, decoder: FrameDecoder::new() }));
    }
    for (magic_bytes, what) in
        [(&b"BZh"[..], "bzip2"), (b"\xfd7zXZ", "xz"), (b"PK\x03\x04", "zip"), (b"\x04\x22\x4d\x18", "lz4")]
    {
        if magic.starts_with(magic_bytes) {
            return Err(Fault::file(format!("this is {what} data; it is read plain, gzip (.gz) or zstd (.zst)")));
        }
    }
    Ok(Box::new(raw))
}

/// Frames of Zstandard one after another, as `pzstd` and appending write them.
struct Zstd<R> {
    source: R,
    decoder: FrameDecoder,
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.decoder.can_collect() == 0 {
            let step = if !self.decoder.is_finished() {
                self.decoder.decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1)).map(drop)
            } else if self.source.fill_buf()?.is_empty() {
                return Ok(0);
            } else {
                self.decoder.reset(&mut self.source)
            };
            match step {
                Ok(()) => {}
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    io::copy(&mut self.source.by_ref().take(length.into()), &mut io::sink())?;
                }
                Err(_) if self.source.fill_buf()?.is_empty() => return Err(io::ErrorKind::UnexpectedEof.into()),
                Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
            }
        }
        self.decoder.read(buffer)
    }
}
