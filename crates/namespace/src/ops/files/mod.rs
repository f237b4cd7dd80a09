//! `create`, `append`, `truncate` and `concat`.

mod append;
mod concat;
mod create;
mod truncate;

use super::lease_recovery::LeaseRecovery;
use super::new_directories::NewDirectories;
use crate::call::Call;

/// Creates, appends to, truncates and concatenates files.
pub struct Files<'n> {
    pub(crate) call: Call<'n>,
}

impl<'n> Files<'n> {
    fn new_directories(&mut self) -> NewDirectories<'_, 'n> {
        NewDirectories { call: &mut self.call }
    }

    fn recovery(&mut self) -> LeaseRecovery<'_, 'n> {
        LeaseRecovery { call: &mut self.call }
    }
}
