# Bash completion for distmap. Options come from `distmap SUBCOMMAND --help`, method names from `distmap methods`, so that
# nothing is listed twice.

_distmap_options()
{
    "$1" "$2" --help 2>/dev/null | sed -n 's/^  *\(-.,\)* *\(--[a-z-]*\).*/\2/p'
}

_distmap_methods()
{
    "$1" methods 2>/dev/null | sed -n 's/^\([^ ][^ ]*\) .*/\1/p'
}

# Completes the last item of a list with commas: what is typed before the last comma stays.
_distmap_list()
{
    local word=$1 items=$2 head=
    case $word in
    *,*) head=${word%,*}, ;;
    esac
    COMPREPLY=($(compgen -P "$head" -W "$items" -- "${word##*,}"))
    compopt -o nospace
}

_distmap()
{
    local command=$1 word=$2 before=$3 subcommand=${COMP_WORDS[1]}
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        local subcommands
        subcommands=$("$command" --help 2>/dev/null | sed -n '/^Subcommands/,/^$/s/^  \([a-z]*\) .*/\1/p')
        COMPREPLY=($(compgen -W "$subcommands --help --version" -- "$word"))
        return
    fi
    case $before in
    --sites) COMPREPLY=($(compgen -W "zero nonzero none" -- "$word")) ;;
    --op) COMPREPLY=($(compgen -W "dilate erode open close" -- "$word")) ;;
    --points) COMPREPLY=($(compgen -W "surface set" -- "$word")) ;;
    --outside) COMPREPLY=($(compgen -W "background set" -- "$word")) ;;
    --metric)
        if [[ $subcommand == pass ]]; then
            COMPREPLY=($(compgen -W "euclidean squared" -- "$word"))
        else
            COMPREPLY=($(compgen -W "euclidean squared cityblock chessboard" -- "$word"))
        fi
        ;;
    --device) COMPREPLY=($(compgen -W "auto cpu cuda" -- "$word")) ;;
    --dtype)
        if [[ $subcommand == edt || $subcommand == pass ]]; then
            COMPREPLY=($(compgen -W "float32 float64 uint16 uint32 uint64" -- "$word"))
        elif [[ $subcommand == esf || $subcommand == thickness ]]; then
            COMPREPLY=($(compgen -W "float32 float64" -- "$word"))
        elif [[ $subcommand == skeleton ]]; then
            COMPREPLY=($(compgen -W "uint8 bool float32 float64" -- "$word"))
        elif [[ $subcommand == morph ]]; then
            COMPREPLY=($(compgen -W "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64" -- "$word"))
        else
            COMPREPLY=($(compgen -W "uint8 uint16 uint32 uint64 int8 int16 int32 int64" -- "$word"))
        fi
        ;;
    --pruning) COMPREPLY=($(compgen -W "square-root linear constant" -- "$word")) ;;
    --method) COMPREPLY=($(compgen -W "$(_distmap_methods "$command")" -- "$word")) ;;
    --methods) _distmap_list "$word" "$(_distmap_methods "$command")" ;;
    --patterns)
        _distmap_list "$word" "random even points corner lattice diagonal circle parabola blobs regions objects strapwork"
        ;;
    --signed) COMPREPLY=($(compgen -W "outside inside $(_distmap_options "$command" edt)" -- "$word")) ;;
    --channel) COMPREPLY=($(compgen -W "red green blue alpha luma" -- "$word")) ;;
    --compress) COMPREPLY=($(compgen -W "yes none deflate zstd lzw blosc" -- "$word")) ;;
    --zarr-format) COMPREPLY=($(compgen -W "2 3" -- "$word")) ;;
    --nodata) COMPREPLY=($(compgen -W "ignore site object" -- "$word")) ;;
    --surface) COMPREPLY=($(compgen -W "centre half" -- "$word")) ;;
    --suite) COMPREPLY=($(compgen -W "man-edm pba psds erosion esf" -- "$word")) ;;
    --scratch)
        compopt -o filenames
        COMPREPLY=($(compgen -d -- "$word"))
        ;;
    --memory | --points | --omega | --grids | --gamma | --radius | --axis | --shard | --chunks | --shards | --rho | --steps | --dt | --tolerance | --percentiles | --threshold | --nodata-value | --fill | --spacing | --axes | --time | --limit | --threads | --param | --sizes | --volumes | --densities | --repeat | --seed) ;;
    *)
        if [[ $word == -* ]]; then
            COMPREPLY=($(compgen -W "$(_distmap_options "$command" "$subcommand")" -- "$word"))
        else
            compopt -o filenames
            COMPREPLY=($(compgen -f -- "$word"))
        fi
        ;;
    esac
}

complete -F _distmap distmap
