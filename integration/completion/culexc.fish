# Completion of culexc(1) for fish. Verbs and options are those that --help tells, so that they are
# right for any version; the values of options stand here, held to the program by a test.

function __culexc_verbs
    set -l words (commandline -opc)
    $words[1] --help 2>/dev/null | string replace -rf '^  ([a-z]+) +(.*)' '$1\t$2'
    printf '%s\n' --help --version
end

function __culexc_options # PROGRAM VERB
    $argv[1] $argv[2] --help 2>/dev/null | awk '
        /^usage:/ { in_usage = 1 }
        in_usage && !/^(usage:|  )/ { in_usage = 0 }
        in_usage { print; next }
        /^  -/ { sub(/^  /, ""); sub(/  .*/, ""); print }' |
        grep -oE -- '(^|[^[:alnum:]-])--?[A-Za-z][a-z-]*' | sed 's/^[^-]*//' | sort -u
    echo --help
end

function __culexc_ids # PROGRAM
    $argv[1] explain --list 2>/dev/null | string replace -r ' .*' ''
end

function __culexc_words
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l option $words[-1]
    set -l before ''
    if string match -qr -- '^-.*=' $word
        set option (string replace -r -- '=.*' '' $word)
        set before "$option="
    else if contains -- $option -Werror -Wno-error
        set option ''
    end
    switch $option
        case -Werror -Wno-error
            printf "$before%s\n" (__culexc_ids $words[1])
        case --message-format
            printf "$before%s\n" human short json sarif github junit
        case --color
            printf "$before%s\n" auto always never
        case --tier
            printf "$before%s\n" minimal basic standard strict comments
        case --mode
            printf "$before%s\n" rolling drain
        case --category
            printf "$before%s\n" stored source ops
        case --format
            printf "$before%s\n" md man
        case --build
            printf "$before%s\n" meson cmake make
        case -I --out
            __fish_complete_directories $word
        case --lock --live --depfile --beside --against
            __fish_complete_path $word
        case '*'
            __culexc_rest $words[1] $words[2] $word
    end
end

function __culexc_rest # PROGRAM VERB WORD
    switch $argv[3]
        case '-Wno-*'
            printf '%s\n' -Wno-error -Wno-(__culexc_ids $argv[1])
        case '-*'
            __culexc_options $argv[1] $argv[2]
        case '*'
            if test $argv[2] = explain
                __culexc_ids $argv[1]
            else if test $argv[2] != init
                __fish_complete_path $argv[3] | string match -r '.*(?:/|\.job)(?:\t.*)?$'
            end
    end
end

complete -c culexc -f -n 'test (count (commandline -opc)) -eq 1' -a '(__culexc_verbs)'
complete -c culexc -f -n 'test (count (commandline -opc)) -gt 1' -a '(__culexc_words)'
