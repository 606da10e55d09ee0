#compdef shoal
# Completes shoal in zsh. Put into ~/.zshrc, after compinit: source <(shoal completion zsh)
_shoal() {
  local line
  local -a candidates
  for line in "${(@f)$(shoal __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -z "$line" ]] && continue
    [[ "$line" == ":files" ]] && { _files; continue }
    candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
  done
  _describe 'shoal' candidates
}
compdef _shoal shoal
