# Completes shoal in bash. Put into ~/.bashrc: source <(shoal completion bash)
_shoal() {
  local line candidate
  COMPREPLY=()
  while IFS= read -r line; do
    [ "$line" = ":files" ] && { compopt -o bashdefault -o default; continue; }
    candidate="${line%%$'\t'*}"
    [[ $candidate == */ ]] && compopt -o nospace
    COMPREPLY+=("$(printf '%q' "$candidate")")
  done < <(shoal __complete -- "${COMP_WORDS[@]:1:$COMP_CWORD}" 2>/dev/null)
}
complete -F _shoal shoal
