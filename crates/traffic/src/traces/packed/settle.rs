//! Runs that overlap, merged once and for all, so that going through them again and again costs no merge each time.

use super::super::chunk::AMOUNTS;
use super::{Merge, Packed, Packing};
use limiters::Nanos;

/// Rows that are about to be packed.
#[derive(Default)]
struct Part {
    at: Vec<Nanos>,
    key: Vec<u32>,
    amounts: [Vec<u64>; AMOUNTS],
}

impl Packed {
    /// The same rows in runs that do not overlap.
    ///
    /// # Errors
    /// When there is no room for them beside those that overlap, or these cannot be read: a text that says where.
    pub fn settled(self) -> Result<Packed, String> {
        if !self.overlap {
            return Ok(self);
        }
        let constant = self.varies.map(|varies| !varies);
        let (mut packing, mut part) = (Packing::new(&self.limits, false), Part::default());
        let mut merge = Merge::without(&self, constant);
        let unreadable = |error| super::super::recorded::unreadable(&error);
        while let Some((block, range)) = merge.next(&self, self.limits.block - part.at.len()).map_err(unreadable)? {
            part.at.extend_from_slice(&block.at[range.clone()]);
            // Keys are numbered in 32 bits; blocks have them wider.
            part.key.extend(block.key[range.clone()].iter().map(|key| *key as u32));
            for ((column, from), varies) in part.amounts.iter_mut().zip(&block.amounts).zip(self.varies) {
                if varies {
                    column.extend_from_slice(&from[range.clone()]);
                }
            }
            if part.at.len() == self.limits.block {
                part.pack(&mut packing)?;
            }
        }
        part.pack(&mut packing)?;
        Ok(Packed { varies: self.varies, ..packing.finish()? })
    }
}

impl Part {
    fn pack(&mut self, packing: &mut Packing) -> Result<(), String> {
        if self.at.is_empty() {
            return Ok(());
        }
        packing.pack(&self.at, &self.key, self.amounts.each_ref().map(Vec::as_slice));
        self.at.clear();
        self.key.clear();
        self.amounts.iter_mut().for_each(Vec::clear);
        if packing.rows >= packing.limits.run as u64 { packing.close() } else { Ok(()) }
    }
}
