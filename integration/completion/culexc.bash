# Completion of culexc(1) for bash. Verbs and options are those that --help tells, so that they are
# right for any version; the values of options stand here, held to the program by a test.

_culexc_options() { # PROGRAM VERB
    "$1" "$2" --help 2>/dev/null | awk '
        /^usage:/ { in_usage = 1 }
        in_usage && !/^(usage:|  )/ { in_usage = 0 }
        in_usage { print; next }
        /^  -/ { sub(/^  /, ""); sub(/  .*/, ""); print }' |
        grep -oE -- '(^|[^[:alnum:]-])--?[A-Za-z][a-z-]*' | sed 's/^[^-]*//' | sort -u
    echo --help
}

_culexc_ids() { # PROGRAM
    "$1" explain --list 2>/dev/null | cut -d ' ' -f 1
}

_culexc_words() { # CANDIDATES
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$word")
}

_culexc_files() { # PATTERN of compgen, and folders
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -X "$1" -- "$word"; compgen -d -- "$word")
}

_culexc() {
    local program=${COMP_WORDS[0]/#\~/$HOME} verb=${COMP_WORDS[1]-}
    local word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}
    COMPREPLY=()
    # "--name=value" comes in three words.
    if [ "$word" = = ]; then
        word=
    elif [ "$option" = = ]; then
        option=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if [ "$COMP_CWORD" = 1 ]; then
        _culexc_words "$("$program" --help 2>/dev/null | sed -n 's/^  \([a-z]*\)  *.*/\1/p') --help --version"
        return
    fi
    case $option in
    -Werror | -Wno-error) _culexc_words "$(_culexc_ids "$program")" ;;
    --message-format) _culexc_words 'human short json sarif github junit' ;;
    --color) _culexc_words 'auto always never' ;;
    --tier) _culexc_words 'minimal basic standard strict comments' ;;
    --mode) _culexc_words 'rolling drain' ;;
    --category) _culexc_words 'stored source ops' ;;
    --format) _culexc_words 'md man' ;;
    --build) _culexc_words 'meson cmake make' ;;
    -I | --out) _culexc_files '*' ;;
    --lock | --live | --depfile | --beside | --against) _culexc_files '' ;;
    *)
        case $word in
        -Wno-*) _culexc_words "$(_culexc_ids "$program" | sed 's/^/-Wno-/') -Wno-error" ;;
        -*) _culexc_words "$(_culexc_options "$program" "$verb")" ;;
        *)
            case $verb in
            explain) _culexc_words "$(_culexc_ids "$program")" ;;
            init) ;;
            *) _culexc_files '!*.job' ;;
            esac
            ;;
        esac
        ;;
    esac
}

complete -F _culexc culexc
