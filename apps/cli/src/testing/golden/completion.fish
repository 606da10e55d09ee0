# Completes shoal in fish. Write to ~/.config/fish/completions/shoal.fish
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
