# Completes shoal in bash. Put into ~/.bashrc: source <(shoal completion bash)
_shoal() {
  local line candidate prefix="" head="${COMP_LINE:0:$COMP_POINT}"
  local -a words=("${COMP_WORDS[@]:1:$COMP_CWORD}")
  COMPREPLY=()
  # Bash splits words at colons: shoal cp research:/home
  if [[ "${head##* }" == *:* && $COMP_WORDBREAKS == *:* ]]; then
    read -ra words <<< "$head"
    words=("${words[@]:1}")
    prefix="${head##* }"
    prefix="${prefix%"${prefix##*:}"}"
  fi
  while IFS= read -r line; do
    [ "$line" = ":files" ] && { compopt -o bashdefault -o default; continue; }
    candidate="${line%%$'\t'*}"
    [[ $candidate == *[/:] ]] && compopt -o nospace
    COMPREPLY+=("$(printf '%q' "${candidate#"$prefix"}")")
  done < <(shoal __complete -- "${words[@]}" 2>/dev/null)
}
complete -F _shoal shoal
