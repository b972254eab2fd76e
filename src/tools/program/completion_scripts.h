#ifndef JOEDB_SRC_TOOLS_PROGRAM_COMPLETION_SCRIPTS_H
#define JOEDB_SRC_TOOLS_PROGRAM_COMPLETION_SCRIPTS_H

// The scripts that `joedb completion` prints. @NAMES@ is replaced by all names of the program. To
// complete a tool, a script asks the program joedb in the directory of the tool or, if there is
// none, the one in the search path.

namespace joedb {

// bash also splits words at = and :, and quotes a name with spaces only with the option -o
// filenames. If no file name matches the expected pattern, all files are offered.
inline constexpr const char* bash_script = R"script(# bash completion of joedb
_joedb() {
  local words=() word meaning program current name
  for word in "${COMP_WORDS[@]:0:COMP_CWORD}"; do
    [ "$word" = = ] || words+=("$word")
  done
  current=${COMP_WORDS[COMP_CWORD]}
  [ "$current" = = ] && current=
  program=$(type -P "${words[0]%joedb*}joedb") || program=joedb
  COMPREPLY=()
  while IFS=$'\t' read -r word meaning; do
    case $word in
      :files)
        compopt -o filenames
        while IFS= read -r name; do
          if [ -d "$name" ] || [[ $name == $meaning ]]; then COMPREPLY+=("$name"); fi
        done < <(compgen -f -- "$current")
        if [ ${#COMPREPLY[@]} = 0 ]; then mapfile -t COMPREPLY < <(compgen -f -- "$current"); fi
        ;;
      :directories)
        compopt -o filenames
        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- "$current")
        ;;
      *)
        COMPREPLY+=("$word")
        case $word in *://) compopt -o nospace ;; esac
        ;;
    esac
  done < <("$program" completion words -- "${words[@]}" "$current" 2>/dev/null)
}
complete -F _joedb @NAMES@
)script";

inline constexpr const char* zsh_script = R"script(#compdef @NAMES@
# zsh completion of joedb
_joedb() {
  local -a asked candidates
  local line word meaning program=${${(Q)words[1]}%joedb*}joedb
  (( $+commands[$program] )) || [[ -x $program ]] || program=joedb
  asked=("${(@Q)words[1,CURRENT]}")
  "$program" completion words -- "${asked[@]}" 2>/dev/null | while IFS= read -r line; do
    word=${line%%$'\t'*} meaning=${line#*$'\t'}
    case $word in
      :files) _files -g "$meaning" ;;
      :directories) _files -/ ;;
      *) candidates+=("${word//:/\\:}:$meaning") ;;
    esac
  done
  (( ! $#candidates )) || _describe -o joedb candidates
}
if [ "${funcstack[1]}" = _joedb ]; then _joedb "$@"; else compdef _joedb @NAMES@; fi
)script";

inline constexpr const char* fish_script = R"script(# fish completion of joedb
function __joedb_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l program (string replace -r 'joedb[^/]*$' joedb -- $words[1])
    type -q $program; or set program joedb
    for line in ($program completion words -- $words 2>/dev/null)
        set -l parts (string split \t -- $line)
        switch $parts[1]
            case :files
                __fish_complete_suffix (string replace -a '*' '' -- $parts[2])
            case :directories
                __fish_complete_directories
            case '*'
                echo $line
        end
    end
end
for name in @NAMES@
    complete -c $name -f -a '(__joedb_complete)'
end
)script";

}  // namespace joedb

#endif
