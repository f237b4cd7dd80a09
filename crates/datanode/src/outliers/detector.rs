//! Which of many comparable things is slow (`OutlierDetector`).

/// Turns a median absolute deviation into a standard deviation, for values of a normal distribution.
const MAD_MULTIPLIER: f64 = 1.4826;
/// How many deviations above the median, or how many times the median, a slow one takes at least.
const MULTIPLIER: f64 = 3.0;

/// What makes an outlier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OutlierLimits {
    /// Fewer than so many are not compared.
    pub(crate) resources_min: usize,
    /// What takes less is never slow, in milliseconds.
    pub(crate) low_threshold_ms: f64,
}

/// How far one stands out; all in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Outlier {
    pub(crate) mean_ms: f64,
    pub(crate) median_ms: f64,
    pub(crate) mad_ms: f64,
    pub(crate) limit_ms: f64,
}

impl OutlierLimits {
    /// Those of `means` that stand out.
    pub(crate) fn outliers<K: Clone>(&self, means: &[(K, f64)]) -> Vec<(K, Outlier)> {
        if means.is_empty() || means.len() < self.resources_min {
            return Vec::new();
        }
        let median_ms = median(means.iter().map(|(_, mean)| *mean).collect());
        let deviations = means.iter().map(|(_, mean)| (mean - median_ms).abs()).collect();
        let mad_ms = median(deviations) * MAD_MULTIPLIER;
        let by_median = (median_ms * MULTIPLIER).max(median_ms + MULTIPLIER * mad_ms);
        let limit_ms = by_median.max(self.low_threshold_ms);
        let outlier = |mean_ms: f64| Outlier { mean_ms, median_ms, mad_ms, limit_ms };
        let slow = means.iter().filter(|(_, mean)| *mean > limit_ms);
        slow.map(|(key, mean)| (key.clone(), outlier(*mean))).collect()
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let (half, at) = (values.len() / 2, |index: usize| values.get(index).copied().unwrap_or(0.0));
    if values.len().is_multiple_of(2) {
        (at(half) + at(half.saturating_sub(1))) / 2.0
    } else {
        at(half)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: OutlierLimits = OutlierLimits { resources_min: 3, low_threshold_ms: 5.0 };

    fn found(means: &[f64]) -> Vec<(usize, Outlier)> {
        let means: Vec<(usize, f64)> = means.iter().copied().enumerate().collect();
        LIMITS.outliers(&means)
    }

    /// The limits that Apache's detector finds for the same values.
    #[test]
    fn outliers_are_those_of_apache() {
        assert_eq!(found(&[1.0, 1.0, 4.9]), [], "below the low threshold");
        assert_eq!(found(&[10.0, 500.0]), [], "too few");
        let slow = Outlier { mean_ms: 40.0, median_ms: 10.0, mad_ms: 1.4826, limit_ms: 30.0 };
        assert_eq!(
            found(&[9.0, 10.0, 11.0, 10.0, 40.0]),
            [(4, Outlier { mad_ms: 1.4826, ..slow })]
        );
        let wide = found(&[1.0, 10.0, 19.0, 20.0, 200.0]);
        let [(4, outlier)] = wide[..] else { panic!("{wide:?}") };
        assert_eq!((outlier.median_ms, outlier.mad_ms), (19.0, 9.0 * MAD_MULTIPLIER));
        assert!((outlier.limit_ms - (19.0 + 27.0 * MAD_MULTIPLIER)).abs() < 1e-9);
    }

    #[test]
    fn an_even_number_has_the_mean_of_the_two_in_the_middle_as_median() {
        let slow = found(&[2.0, 4.0, 2.0, 100.0]);
        assert_eq!(slow[0].1.median_ms, 3.0);
    }
}
