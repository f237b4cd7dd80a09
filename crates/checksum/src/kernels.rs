//! The ways to compute that there are, and the one this processor takes.

use crate::kernel::Kernel;
use std::sync::OnceLock;

/// Every kernel built for this kind of processor, best first.
pub(crate) static ALL: &[Kernel] = &[
    #[cfg(target_arch = "x86_64")]
    crate::x86::AVX512,
    #[cfg(target_arch = "x86_64")]
    crate::x86::AVX2,
    #[cfg(target_arch = "x86_64")]
    crate::x86::PCLMUL,
    #[cfg(target_arch = "aarch64")]
    crate::aarch64::CRC,
    crate::portable::PORTABLE,
];

/// The best kernel this processor runs.
pub(crate) fn chosen() -> &'static Kernel {
    static CHOSEN: OnceLock<&'static Kernel> = OnceLock::new();
    CHOSEN.get_or_init(|| {
        let best = ALL.iter().find(|kernel| (kernel.supported)());
        best.unwrap_or(&ALL[ALL.len() - 1])
    })
}
