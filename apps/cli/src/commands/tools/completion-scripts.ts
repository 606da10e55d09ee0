const bash = `# Completes shoal in bash. Put into ~/.bashrc: source <(shoal completion bash)
_shoal() {
  local line candidate prefix="" head="\${COMP_LINE:0:$COMP_POINT}"
  local -a words=("\${COMP_WORDS[@]:1:$COMP_CWORD}")
  COMPREPLY=()
  # Bash splits words at colons: shoal cp research:/home
  if [[ "\${head##* }" == *:* && $COMP_WORDBREAKS == *:* ]]; then
    read -ra words <<< "$head"
    words=("\${words[@]:1}")
    prefix="\${head##* }"
    prefix="\${prefix%"\${prefix##*:}"}"
  fi
  while IFS= read -r line; do
    [ "$line" = ":files" ] && { compopt -o bashdefault -o default; continue; }
    candidate="\${line%%$'\\t'*}"
    [[ $candidate == *[/:] ]] && compopt -o nospace
    COMPREPLY+=("$(printf '%q' "\${candidate#"$prefix"}")")
  done < <(shoal __complete -- "\${words[@]}" 2>/dev/null)
}
complete -F _shoal shoal
`;

const zsh = `#compdef shoal
# Completes shoal in zsh. Put into ~/.zshrc, after compinit: source <(shoal completion zsh)
_shoal() {
  local line
  local -a candidates
  for line in "\${(@f)$(shoal __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -z "$line" ]] && continue
    [[ "$line" == ":files" ]] && { _files; continue }
    candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe 'shoal' candidates
}
compdef _shoal shoal
`;

const fish = `# Completes shoal in fish. Write to ~/.config/fish/completions/shoal.fish
function __shoal_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines (shoal __complete -- $words[2..] "$current" 2>/dev/null)
    if contains -- ':files' $lines
        __fish_complete_path "$current"
    end
    string match --invert -- ':files' $lines
end
complete -c shoal -f -a '(__shoal_complete)'
`;

const powershell = `# Completes shoal in PowerShell. Put into $PROFILE: shoal completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName shoal -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.Extent.Text })
    if ($wordToComplete -eq '') { $words += ':empty' }
    # A word that was completed before may have quotes.
    $words = @($words | ForEach-Object { if ($_ -match "^'(.*?)'?$") { $Matches[1].Replace("''", "'") } else { $_ } })
    shoal __complete -- @words 2>$null | Where-Object { $_ -ne ':files' } | ForEach-Object {
        $name, $text = $_ -split "\`t", 2
        if (-not $text) { $text = $name }
        # Pages choose names of files, which PowerShell would execute without quotes.
        $value = $name
        if ($name -notmatch '^[\\w./:\\\\=+-]+\\z') {
            $value = "'" + [System.Management.Automation.Language.CodeGeneration]::EscapeSingleQuotedStringContent($name) + "'"
        }
        [System.Management.Automation.CompletionResult]::new($value, $name, 'ParameterValue', $text)
    }
}
`;

const scripts: Readonly<Record<string, string>> = { bash, zsh, fish, powershell };

/** Scripts call `shoal __complete`, so they never become outdated. */
export function completionScript(shell: string): string {
  return scripts[shell] ?? "";
}
