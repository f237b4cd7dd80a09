//! Completions for bash, zsh and fish.

use super::entry::{Entry, Shell};

/// The script for a shell to read.
pub fn script(shell: Shell, verbs: &[Entry]) -> String {
    match shell {
        Shell::Bash => BASH.replace("@CASES@", &cases(verbs)),
        // There `words` is the command line.
        Shell::Zsh => ZSH.replace("@CASES@", &cases(verbs).replace("words=", "found=")),
        Shell::Fish => fish(verbs),
    }
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
_zerohop() {
  local current="${COMP_WORDS[COMP_CWORD]}" verb= command= words= word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="${COMP_WORDS[i]}"
    if [ -z "$verb" ]; then
      case "$word" in --config | -D | -fs | -conf) i=$((i + 1)) ;; -*) ;; *) verb="$word" ;; esac
    elif [ -z "$command" ]; then
      command="$word"
    fi
  done
  [ "$verb" = dfs ] && verb=fs
  case "$verb/$command" in
@CASES@  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -o bashdefault -F _zerohop zerohop
"#;

const ZSH: &str = r#"#compdef zerohop
# zsh completion of zerohop; put it as _zerohop into a directory of fpath.
_zerohop() {
  local verb= command= found= word i
  for ((i = 2; i < CURRENT; i++)); do
    word="${words[i]}"
    if [[ -z $verb ]]; then
      case "$word" in --config | -D | -fs | -conf) i=$((i + 1)) ;; -*) ;; *) verb="$word" ;; esac
    elif [[ -z $command ]]; then
      command="$word"
    fi
  done
  [[ $verb = dfs ]] && verb=fs
  case "$verb/$command" in
@CASES@  esac
  compadd -- ${=found}
  _files
}
_zerohop "$@"
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
    text
}
