# Completion of culex(1) for fish. `culex complete` tells what may stand where the line ends: commands,
# options, and the queues, jobs, runs and workers of the store that the line names.

function __culex_words
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l before ''
    if string match -qr -- '^--.*=' $word
        set before (string replace -r -- '=.*' '=' $word)
        set -a words (string replace -r -- '=.*' '' $word)
        set word (string replace -r -- '^[^=]*=' '' $word)
    end
    for each in ($words[1] complete $words[2..] "$word" 2>/dev/null)
        printf '%s\n' $before$each
    end
end

complete -c culex -f -a '(__culex_words)'
