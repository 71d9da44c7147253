# Completion of culex(1) for bash. `culex complete` tells what may stand where the line ends: commands,
# options, and the queues, jobs, runs and workers of the store that the line names.

_culex() {
    local program=${COMP_WORDS[0]/#\~/$HOME} line=${COMP_LINE:0:COMP_POINT} last cut
    local -a words
    read -ra words <<<"$line"
    [[ $line != *[[:blank:]] ]] || words+=('')
    last=${words[${#words[@]} - 1]}
    if [[ $last == --*=* ]]; then
        words[${#words[@]} - 1]=${last%%=*}
        words+=("${last#*=}")
        last=${last#*=}
    fi
    # What is replaced begins behind the last of these.
    cut=
    [[ $COMP_WORDBREAKS != *:* ]] || cut+=:
    [[ $COMP_WORDBREAKS != *=* ]] || cut+='='
    [[ -z $cut ]] || cut=${last%"${last##*["$cut"]}"}
    mapfile -t COMPREPLY < <("$program" complete "${words[@]:1}" 2>/dev/null | cut -c $((${#cut} + 1))-)
    # A value comes behind it.
    [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null
}

complete -F _culex culex
