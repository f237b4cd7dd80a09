//! Heat maps of latencies: [`LatencyHistory`] counts, [`HeatMap`] arranges, [`heat_picture`] draws.

mod buckets;
mod history;
mod map;
mod picture;

pub use buckets::{BUCKETS, bucket_start_us};
pub use history::{LatencyHistory, SECONDS_KEPT, Second};
pub use map::{HeatMap, Summary};
pub use picture::heat_picture;
