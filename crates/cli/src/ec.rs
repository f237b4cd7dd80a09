//! `ec`: the erasure coding policies and codecs of a cluster, and the policy of a path, with the words, the
//! output and the exit codes of Apache's `hdfs ec`. Our NameNode has none of them; Apache's may.

use zerohop_client::Error;
use zerohop_conf::Conf;
use zerohop_proto::Checked;
use zerohop_proto::hdfs::{
    ErasureCodingPolicyProto, ErasureCodingPolicyState, GetErasureCodingCodecsRequestProto,
    GetErasureCodingCodecsResponseProto, GetErasureCodingPoliciesRequestProto,
    GetErasureCodingPoliciesResponseProto, GetErasureCodingPolicyRequestProto,
    GetErasureCodingPolicyResponseProto,
};

use crate::admin::words::{Answer, Arguments, failed, refuse};
use crate::admin::{Command, Tool};
use crate::fs::connect_at;
use crate::namenode_call;
use crate::settings::Settings;

const CLIENT_PROTOCOL: &str = "org.apache.hadoop.hdfs.protocol.ClientProtocol";

const COMMANDS: &[Command] = &[
    Command {
        name: "-listPolicies",
        usage: "",
        about: "Lists all erasure coding policies.",
        words: &[],
        run: list_policies,
    },
    Command {
        name: "-getPolicy",
        usage: " -path <path>",
        about: "Shows the erasure coding policy of a file or directory.",
        words: &[("<path>", "The file or directory.")],
        run: get_policy,
    },
    Command {
        name: "-listCodecs",
        usage: "",
        about: "Lists the erasure codecs and their coders.",
        words: &[],
        run: list_codecs,
    },
];

/// The tool with its commands.
pub const TOOL: Tool = Tool { name: "ec", commands: COMMANDS };

pub fn run(settings: Settings, words: Vec<String>) -> i32 {
    TOOL.run(&settings, words)
}

fn ask<Q: Checked, R: Checked>(conf: &Conf, method: &'static str, request: &Q) -> Answer<R> {
    let answer: Result<R, Error> = namenode_call::call(conf, CLIENT_PROTOCOL, method, request)?;
    answer.map_err(|error| failed(&error))
}

fn nothing_left(words: &Arguments, name: &str) -> Answer {
    match words.rest() {
        [] => Ok(()),
        _ => refuse(format!("{name}: Too many arguments")),
    }
}

/// The policies that every release has (`SystemErasureCodingPolicies`): only their ids travel. Id, name,
/// codec, data units, parity units; cells of 1 MB.
const BUILT_IN: [(u32, &str, &str, u32, u32); 5] = [
    (1, "RS-6-3-1024k", "rs", 6, 3),
    (2, "RS-3-2-1024k", "rs", 3, 2),
    (3, "RS-LEGACY-6-3-1024k", "rs-legacy", 6, 3),
    (4, "XOR-2-1-1024k", "xor", 2, 1),
    (5, "RS-10-4-1024k", "rs", 10, 4),
];

/// What is known of a policy, whether it travelled whole or by its id.
pub struct PolicyView {
    pub name: String,
    pub codec: String,
    pub data_units: u32,
    pub parity_units: u32,
    pub options: Vec<(String, String)>,
    pub cell_size: u32,
    pub state: &'static str,
}

impl PolicyView {
    pub fn of(policy: &ErasureCodingPolicyProto) -> PolicyView {
        let built_in = BUILT_IN.iter().find(|(id, ..)| *id == policy.id);
        let (codec, data_units, parity_units) = match (&policy.schema, built_in) {
            (Some(schema), _) => {
                (schema.codec_name.clone(), schema.data_units, schema.parity_units)
            }
            (None, Some((_, _, codec, data, parity))) => ((*codec).to_owned(), *data, *parity),
            (None, None) => (String::new(), 0, 0),
        };
        let options = policy.schema.iter().flat_map(|schema| &schema.options);
        PolicyView {
            name: match (&policy.name, built_in) {
                (Some(name), _) => name.clone(),
                (None, Some((_, name, ..))) => (*name).to_owned(),
                (None, None) => format!("policy {}", policy.id),
            },
            codec,
            data_units,
            parity_units,
            options: options.map(|option| (option.key.clone(), option.value.clone())).collect(),
            cell_size: policy.cell_size.unwrap_or(1 << 20),
            state: match policy.state() {
                ErasureCodingPolicyState::Disabled => "DISABLED",
                ErasureCodingPolicyState::Enabled => "ENABLED",
                ErasureCodingPolicyState::Removed => "REMOVED",
            },
        }
    }
}

/// As `ErasureCodingPolicyInfo.toString`.
fn shown(policy: &ErasureCodingPolicyProto) -> String {
    let PolicyView { name, codec, data_units, parity_units, options, cell_size, state } =
        PolicyView::of(policy);
    let options: String = options.iter().map(|(key, value)| format!(", {key}={value}")).collect();
    format!(
        "ErasureCodingPolicy=[Name={name}, Schema=[ECSchema=[Codec={codec}, numDataUnits={data_units}, \
         numParityUnits={parity_units}{options}]], CellSize={cell_size}, Id={}], State={state}",
        policy.id
    )
}

fn list_policies(conf: &Conf, words: Arguments) -> Answer {
    nothing_left(&words, "-listPolicies")?;
    let answer: GetErasureCodingPoliciesResponseProto =
        ask(conf, "getErasureCodingPolicies", &GetErasureCodingPoliciesRequestProto {})?;
    if answer.ec_policies.is_empty() {
        sayln!("There is no erasure coding policies in the cluster.");
        return Ok(());
    }
    sayln!("Erasure Coding Policies:");
    answer.ec_policies.iter().for_each(|policy| sayln!("{}", shown(policy)));
    Ok(())
}

fn get_policy(conf: &Conf, mut words: Arguments) -> Answer {
    let Some(text) = words.value("-path")? else {
        let synopsis = words.synopsis();
        return refuse(format!("Please specify the path with -path.\nUsage: {synopsis}"));
    };
    nothing_left(&words, "-getPolicy")?;
    let (fs, src) = connect_at(conf, &text)?;
    let mut conf = conf.clone();
    conf.set("fs.defaultFS", fs.uri());
    let request = GetErasureCodingPolicyRequestProto { src };
    let answer: GetErasureCodingPolicyResponseProto =
        ask(&conf, "getErasureCodingPolicy", &request)?;
    match &answer.ec_policy {
        Some(policy) => sayln!("{}", PolicyView::of(policy).name),
        None => sayln!("The erasure coding policy of {text} is unspecified"),
    }
    Ok(())
}

fn list_codecs(conf: &Conf, words: Arguments) -> Answer {
    nothing_left(&words, "-listCodecs")?;
    let answer: GetErasureCodingCodecsResponseProto =
        ask(conf, "getErasureCodingCodecs", &GetErasureCodingCodecsRequestProto {})?;
    if answer.codec.is_empty() {
        sayln!("No erasure coding codecs are supported on the cluster.");
        return Ok(());
    }
    sayln!("Erasure Coding Codecs: Codec [Coder List]");
    for codec in &answer.codec {
        sayln!("\t{} [{}]", codec.codec.to_uppercase(), codec.coders.to_uppercase());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_of_every_release_travels_by_its_id() {
        let mut policy = ErasureCodingPolicyProto { id: 1, ..Default::default() };
        policy.set_state(ErasureCodingPolicyState::Disabled);
        assert_eq!(
            shown(&policy),
            "ErasureCodingPolicy=[Name=RS-6-3-1024k, Schema=[ECSchema=[Codec=rs, numDataUnits=6, \
             numParityUnits=3]], CellSize=1048576, Id=1], State=DISABLED"
        );
    }
}
