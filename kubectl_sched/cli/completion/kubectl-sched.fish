# Completion of kubectl-sched for fish: kubectl-sched completion fish > ~/.config/fish/completions/kubectl-sched.fish
function __kubectl_sched_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    # of --flag=value the whole word is replaced
    set -l flag (string match -r '^--[^=]+=' -- $current)
    set -l directive 0
    for line in ($words[1] __complete $words[2..-1] "$current" 2>/dev/null </dev/null)
        if string match -q ':*' -- $line
            set directive (string sub -s 2 -- $line)
        else
            printf '%s\n' "$flag$line"
        end
    end
    if test (math "bitand($directive, 4)") -eq 0
        for path in (__fish_complete_path (string replace -r '^--[^=]+=' '' -- "$current"))
            printf '%s\n' "$flag$path"
        end
    end
end
complete -c kubectl-sched -f -a '(__kubectl_sched_complete)'
