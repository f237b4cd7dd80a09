//! Completions for bash, zsh and fish.

use super::entry::{Entry, Shell};

/// The script for a shell to read.
pub fn script(shell: Shell, verbs: &[Entry]) -> String {
    match shell {
        Shell::Bash => with_places(&BASH.replace("@CASES@", &cases(verbs))),
        // There `words` is the command line.
        Shell::Zsh => {
            with_places(&ZSH.replace("@CASES@", &cases(verbs).replace("words=", "found=")))
        }
        Shell::Fish => fish(verbs),
    }
}

/// Commands of `fs` that copy local files to HDFS: the last path is in HDFS.
const UP: [&str; 4] = ["-put", "-copyFromLocal", "-moveFromLocal", "-appendToFile"];
/// Commands of `fs` that copy from HDFS to local files: the first path is in HDFS.
const DOWN: [&str; 4] = ["-get", "-copyToLocal", "-moveToLocal", "-getmerge"];
/// Verbs whose paths are in HDFS; of `fs` those of all other commands.
const HDFS: [&str; 9] =
    ["fs", "fsck", "doctor", "dfsadmin", "storagepolicies", "ec", "cacheadmin", "mover", "distcp"];

/// Replaces the placeholders for the commands whose paths are in HDFS.
fn with_places(script: &str) -> String {
    let of_fs = |commands: &[&str]| {
        let patterns: Vec<String> = commands.iter().map(|name| format!("fs/{name}")).collect();
        patterns.join(" | ")
    };
    let verbs: Vec<String> = HDFS.iter().map(|verb| format!("{verb}/*")).collect();
    script
        .replace("@UP@", &of_fs(&UP))
        .replace("@DOWN@", &of_fs(&DOWN))
        .replace("@HDFS@", &verbs.join(" | "))
}

/// What bash and zsh share: `verb` and `command` are the words found so far.
fn cases(verbs: &[Entry]) -> String {
    let names = |entries: &[Entry]| {
        entries.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>().join(" ")
    };
    let options =
        |entry: &Entry| entry.options.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    let mut text = format!("    /) words='{} --config -D --help --version' ;;\n", names(verbs));
    for verb in verbs {
        for command in &verb.commands {
            let name = &command.name;
            text.push_str(&format!("    {}/{name}) words='{}' ;;\n", verb.name, options(command)));
        }
        let first = names(&verb.commands);
        let words = if verb.commands.is_empty() { options(verb) } else { first };
        text.push_str(&format!("    {}/*) words='{words}' ;;\n", verb.name));
    }
    text
}

const BASH: &str = r#"# bash completion of zerohop; source it, or put it into the directory of completions.
# Prints the paths in HDFS that begin with a word; directories end with a slash. The program and its options follow.
_zerohop_paths() {
  local word="$1" directory=() mode path
  shift
  case "$word" in */*) directory=("${word%/*}/") ;; esac
  while read -r mode _ _ _ _ _ _ path; do
    case "$mode" in d*) path="$path/" ;; -*) ;; *) continue ;; esac
    case "$path" in "$word"*) printf '%q\n' "$path" ;; esac
  done < <(timeout 5 "$@" fs -ls "${directory[@]}" 2>/dev/null)
}
_zerohop() {
  local current="${COMP_WORDS[COMP_CWORD]}" verb= command= words= place=local arguments=0 word i
  local program=("${COMP_WORDS[0]}")
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="${COMP_WORDS[i]}"
    if [ -z "$verb" ]; then
      case "$word" in
        --config | -D | -fs | -conf) program+=("$word" "${COMP_WORDS[i + 1]}") && i=$((i + 1)) ;;
        -*) ;;
        *) verb="$word" ;;
      esac
    elif [ -z "$command" ]; then
      command="$word"
    else
      case "$word" in -*) ;; *) arguments=$((arguments + 1)) ;; esac
    fi
  done
  [ "$verb" = dfs ] && verb=fs
  case "$verb/$command" in
@CASES@  esac
  case "$verb/$command" in
    @UP@) [ $arguments = 0 ] || place=both ;;
    @DOWN@) [ $arguments = 0 ] && place=hdfs || place=both ;;
    @HDFS@) place=hdfs ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [ "$place" = local ] && return
  case "$current" in -*) return ;; esac
  # Files of this machine are not meant.
  compopt +o default +o bashdefault 2>/dev/null
  [ "$verb/$command" = fs/ ] && return
  [ "$place" = both ] && mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$current")
  mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(_zerohop_paths "$current" "${program[@]}")
  case "${#COMPREPLY[@]}:${COMPREPLY[0]}" in 1:*/) compopt -o nospace 2>/dev/null ;; esac
}
complete -o default -o bashdefault -F _zerohop zerohop
"#;

const ZSH: &str = r#"#compdef zerohop
# zsh completion of zerohop; put it as _zerohop into a directory of fpath.
# Adds the paths in HDFS that begin with the current word; directories end with a slash. The program and its options follow.
_zerohop_paths() {
  local word="$PREFIX" mode one
  local -a directory files directories
  [[ $word = */* ]] && directory=("${word%/*}/")
  while read -r mode _ _ _ _ _ _ one; do
    case "$mode" in
      d*) directories+=("$one/") ;;
      -*) files+=("$one") ;;
    esac
  done < <(timeout 5 "$@" fs -ls $directory 2>/dev/null)
  compadd -- $files
  compadd -S '' -- $directories
}
_zerohop() {
  local verb= command= found= place=local word i
  local -i arguments=0
  local -a program
  program=("${words[1]}")
  for ((i = 2; i < CURRENT; i++)); do
    word="${words[i]}"
    if [[ -z $verb ]]; then
      case "$word" in
        --config | -D | -fs | -conf) program+=("$word" "${words[i + 1]}"); i=$((i + 1)) ;;
        -*) ;;
        *) verb="$word" ;;
      esac
    elif [[ -z $command ]]; then
      command="$word"
    elif [[ $word != -* ]]; then
      arguments+=1
    fi
  done
  [[ $verb = dfs ]] && verb=fs
  case "$verb/$command" in
@CASES@  esac
  case "$verb/$command" in
    @UP@) ((arguments)) && place=both ;;
    @DOWN@) place=hdfs; ((arguments)) && place=both ;;
    @HDFS@) place=hdfs ;;
  esac
  compadd -- ${=found}
  [[ $verb/$command = fs/ ]] && return
  [[ $place != hdfs ]] && _files
  [[ $place != local && $PREFIX != -* ]] && _zerohop_paths "${program[@]}"
}
_zerohop "$@"
"#;

/// Functions of fish that complete paths in HDFS.
const FISH_PATHS: &str = r#"# Prints the paths in HDFS below the directory of the current word; directories end with a slash.
function __zerohop_paths
  set -l word (commandline -ct)
  set -l directory
  string match -q -- '*/*' $word; and set directory (string replace -r '[^/]*$' '' -- $word)
  timeout 5 zerohop fs -ls $directory 2>/dev/null | while read -l line
    set -l parts (string match -r '^([d-])\S+(?:\s+\S+){6} (.*)$' -- $line); or continue
    test $parts[2] = d; and echo $parts[3]/; or echo $parts[3]
  end
end
function __zerohop_takes
  set -l words (commandline -opc)
  for word in $words
    contains -- $word $argv; and return 0
  end
  return 1
end
"#;

fn fish(verbs: &[Entry]) -> String {
    let quote = |text: &str| format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"));
    let mut text =
        "# fish completion of zerohop; put it into ~/.config/fish/completions.\n".to_owned();
    let names: Vec<&str> = verbs.iter().map(|verb| verb.name.as_str()).collect();
    let none = format!("not __fish_seen_subcommand_from {}", names.join(" "));
    for verb in verbs {
        text.push_str(&format!(
            "complete -c zerohop -n {} -f -a {} -d {}\n",
            quote(&none),
            quote(&verb.name),
            quote(&verb.about)
        ));
        let seen = quote(&format!("__fish_seen_subcommand_from {}", verb.name));
        for command in &verb.commands {
            let name = quote(&command.name);
            let about = quote(&command.about);
            text.push_str(&format!("complete -c zerohop -n {seen} -a {name} -d {about}\n"));
        }
        for option in verb.options.iter().filter(|_| verb.commands.is_empty()) {
            text.push_str(&format!("complete -c zerohop -n {seen} -a {}\n", quote(option)));
        }
    }
    text.push_str(FISH_PATHS);
    let (verbs, local) = (HDFS.join(" "), [UP, DOWN].concat().join(" "));
    let mixed = quote(&format!("__zerohop_takes fs dfs; and __zerohop_takes {local}"));
    let pure = quote(&format!("__zerohop_takes dfs {verbs}; and not __zerohop_takes {local}"));
    text.push_str(&format!("complete -c zerohop -n {mixed} -F -a '(__zerohop_paths)'\n"));
    text.push_str(&format!("complete -c zerohop -n {pure} -f -a '(__zerohop_paths)'\n"));
    text
}
