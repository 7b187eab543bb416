#compdef kubectl-sched
# Completion of kubectl-sched for zsh: kubectl-sched completion zsh > "${fpath[1]}/_kubectl-sched"
_kubectl-sched() {
    local line directive=0
    local -a found options
    while IFS= read -r line; do
        if [[ $line == :* ]]; then
            directive=${line#:}
        elif [[ $line == *$'\t'* ]]; then
            found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
        else
            found+=("${line//:/\\:}")
        fi
    done < <("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null </dev/null)
    (( directive & 2 )) && options=(-S '')
    [[ ${words[CURRENT]} == --*=* ]] && compset -P '*='
    if (( ${#found} )); then
        _describe 'kubectl-sched' found "${options[@]}"
    elif (( ! (directive & 4) )); then
        _files
    fi
}
if [[ "${funcstack[1]}" == "_kubectl-sched" ]]; then
    _kubectl-sched "$@"
else
    compdef _kubectl-sched kubectl-sched
fi
