//! Pearson's test: how well counts of random choices match their weights.

/// The quantile of the normal distribution that one in 10,000 exceeds. The seeds of the tests are fixed, so that a test
/// either always fails or never.
const QUANTILE: f64 = 3.719;

/// Panics if equally likely choices are improbable to give these counts.
pub(crate) fn assert_uniform(what: &str, counts: &[u64]) {
    assert_weighted(what, counts, &vec![1.0; counts.len()]);
}

/// Panics if choices with these weights are improbable to give these counts.
pub(crate) fn assert_weighted(what: &str, counts: &[u64], weights: &[f64]) {
    let (total, sum) = (counts.iter().sum::<u64>() as f64, weights.iter().sum::<f64>());
    let parts = counts.iter().zip(weights).map(|(count, weight)| {
        let expected = total * weight / sum;
        assert!(expected >= 5.0, "{what}: too few choices for a test: {expected} of each");
        (*count as f64 - expected).powi(2) / expected
    });
    let statistic: f64 = parts.sum();
    let limit = quantile(counts.len() - 1);
    assert!(statistic < limit, "{what}: chi square is {statistic}, not below {limit}: {counts:?}");
}

/// Returns the quantile of the chi-square distribution, by the approximation of Wilson and Hilferty.
fn quantile(freedoms: usize) -> f64 {
    let freedoms = freedoms as f64;
    let part = 2.0 / (9.0 * freedoms);
    freedoms * (1.0 - part + QUANTILE * part.sqrt()).powi(3)
}

#[test]
fn a_choice_of_the_next_acceptable_one_fails() {
    assert_uniform("even", &[100, 98, 103, 99]);
    assert_weighted("weighted", &[200, 98, 103, 99], &[2.0, 1.0, 1.0, 1.0]);
    let skewed = std::panic::catch_unwind(|| assert_uniform("skewed", &[300, 98, 103, 99]));
    assert!(skewed.is_err());
}
