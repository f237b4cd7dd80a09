//! A core-site.xml or hdfs-site.xml of any text, and every value in it.
#![no_main]
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let mut conf = zerohop_conf::Conf::new();
    if conf.parse_xml(text).is_ok() {
        let names: Vec<String> = conf.iter().map(|(name, _)| name.to_owned()).collect();
        for name in names {
            let _ = conf.get_checked(&name);
        }
    }
});
