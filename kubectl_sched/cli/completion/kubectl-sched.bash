# Completion of kubectl-sched for bash 4 and later: source <(kubectl-sched completion bash)
_kubectl_sched() {
    local line directive=0 begun="" at=$COMP_CWORD
    local prefix=${COMP_WORDS[COMP_CWORD]}
    [[ $prefix == ":" ]] && begun=":"
    [[ $prefix == [=:] ]] && prefix=""
    # ":" ends a word of bash, too: what stands before it stays
    while ((at > 1)) && [[ ${COMP_WORDS[at]} == ":" || ${COMP_WORDS[at - 1]} == ":" ]]; do
        begun=${COMP_WORDS[--at]}$begun
    done
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == :* ]]; then
            directive=${line#:}
        else
            line=${line%%$'\t'*}
            # "=" ends a word of bash, so that only what follows it is replaced
            [[ $line == *=?* ]] && line=${line##*=}
            line=${line#"$begun"}
            [[ $line == "$prefix"* ]] && COMPREPLY+=("$(printf '%q' "$line")")
        fi
    done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null </dev/null)
    ((directive & 2)) && compopt -o nospace
    ((directive & 4)) || compopt -o default
}
complete -F _kubectl_sched kubectl-sched
