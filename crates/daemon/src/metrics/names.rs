//! Names of series, as Hadoop's exporter makes them of the names of records and metrics.

/// The name of a series: `FSNamesystem` and `CapacityTotal` give `fs_namesystem_capacity_total`
/// (`PrometheusMetricsSink.prometheusName`). A new word begins at a capital letter, unless it follows another one or a `_` and
/// no small letter follows it.
pub fn series_name(record: &str, metric: &str) -> String {
    let mut letters = capitalized(record).chain(capitalized(metric)).peekable();
    let mut name = String::with_capacity(record.len() + metric.len() + 16);
    let mut before: Option<char> = None;
    while let Some(letter) = letters.next() {
        if let Some(before) = before
            && letter.is_ascii_uppercase()
        {
            let follows_small = !(before.is_ascii_uppercase() || before == '_');
            let precedes_small = letters.peek().is_some_and(char::is_ascii_lowercase);
            if follows_small || precedes_small {
                push_separator(&mut name);
            }
        }
        before = Some(letter);
        match letter.is_ascii_alphanumeric() {
            true => name.push(letter.to_ascii_lowercase()),
            false => push_separator(&mut name),
        }
    }
    name
}

fn push_separator(name: &mut String) {
    if !name.ends_with('_') {
        name.push('_');
    }
}

fn capitalized(text: &str) -> impl Iterator<Item = char> {
    text.chars().enumerate().map(|(at, letter)| match at {
        0 => letter.to_ascii_uppercase(),
        _ => letter,
    })
}

#[cfg(test)]
mod tests {
    use super::series_name;

    /// The names are those of Hadoop's own tests (TestPrometheusMetricsSink) and of a NameNode's page.
    #[test]
    fn names_are_those_of_hadoops_exporter() {
        for (record, metric, name) in [
            ("RpcMetrics", "TestMetrics", "rpc_metrics_test_metrics"),
            ("rpcMetrics", "testMetrics", "rpc_metrics_test_metrics"),
            (
                "ScmPipelineMetrics",
                "NumBlocksAllocated-RATIS-THREE-47659e3d-40c9-43b3-9792-4982fc279aba",
                "scm_pipeline_metrics_num_blocks_allocated_ratis_three_47659e3d_40c9_43b3_9792_4982fc279aba",
            ),
            ("rpc", "RpcQueueTimeAvgTime", "rpc_rpc_queue_time_avg_time"),
            ("FSNamesystem", "CapacityTotalGB", "fs_namesystem_capacity_total_gb"),
            ("rpcdetailed", "GetFileInfoNumOps", "rpcdetailed_get_file_info_num_ops"),
            (
                "RetryCache.NameNodeRetryCache",
                "CacheHit",
                "retry_cache_name_node_retry_cache_cache_hit",
            ),
            ("JvmMetrics", "GcTimeMillisPS MarkSweep", "jvm_metrics_gc_time_millis_ps_mark_sweep"),
            ("namenode", "GenerateEDEKTimeNumOps", "namenode_generate_edek_time_num_ops"),
            (
                "namenode",
                "Syncs60s50thPercentileLatency",
                "namenode_syncs60s50th_percentile_latency",
            ),
        ] {
            assert_eq!(series_name(record, metric), name);
        }
    }
}
