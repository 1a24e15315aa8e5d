//! `notes.csv`: what a reader must know about how the figures came to be.

use replay::rows::NoteRow;

use super::Row;

impl Row for NoteRow {
    const FILE: &str = "notes.csv";

    fn round(&mut self) {}
}
