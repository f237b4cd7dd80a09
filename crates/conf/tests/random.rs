//! Random text never panics, and what is written comes back.

use proptest::prelude::*;
use zerohop_conf::{Conf, Unit, parse_duration, parse_size, site_xml};

/// Pieces of configuration files in any order reach deeper than random characters.
fn soup() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("<configuration>".to_owned()),
        Just("</configuration>".to_owned()),
        Just("<property>".to_owned()),
        Just("</property>".to_owned()),
        Just("<name>".to_owned()),
        Just("</name>".to_owned()),
        Just("<value>".to_owned()),
        Just("</value>".to_owned()),
        Just("<final>true</final>".to_owned()),
        Just("<xi:include href='x'>".to_owned()),
        Just("<xi:fallback/>".to_owned()),
        Just("<!DOCTYPE a [<!ENTITY é 'é'>]>".to_owned()),
        Just("&é;&#x0;&lt;${a}".to_owned()),
        Just("<property name='a' value='${a}&q;' final='true'/>".to_owned()),
        any::<String>(),
    ];
    prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = Conf::new().parse_xml(&bytes);
    }

    #[test]
    fn any_soup(text in soup()) {
        let _ = Conf::new().parse_xml(text.as_bytes());
        let _ = Conf::new().parse_xml(format!("<configuration>{text}</configuration>").as_bytes());
    }

    #[test]
    fn any_value(value in any::<String>(), other in "[${}a-c. é-]{0,20}") {
        let mut conf = Conf::new();
        conf.set("a", value.as_str());
        conf.set("b", other.as_str());
        conf.set("c", format!("{other}${{b}}${{a}}"));
        for name in ["a", "b", "c"] {
            let _ = conf.get_raw(name);
        }
        let _ = parse_size(&value);
        let _ = parse_duration(&value, Unit::Seconds);
        let _ = parse_duration(&other, Unit::Minutes);
    }

    #[test]
    fn written_and_read(pairs in prop::collection::btree_map("[a-z.]{1,12}", "[ -~é]{1,30}", 0..8)) {
        let mut pairs = pairs;
        pairs.retain(|name, _| zerohop_conf::replaced_by(name).is_none());
        let text = site_xml(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let mut conf = Conf::new();
        conf.parse_xml(text.as_bytes()).unwrap();
        let read: Vec<_> = conf.iter().collect();
        let written: Vec<_> = pairs.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        prop_assert_eq!(read, written);
    }
}
