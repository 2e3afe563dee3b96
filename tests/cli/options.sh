# Command lines that are wrong: status 2 where they are so by themselves, 1 where it takes the file to see it; one line that
# names the option; no output.
source "$(dirname "$0")/checks.sh" "$@" || exit 1

printf 'P5 4 3 255\n\1\1\1\1\1\0\1\1\1\1\1\2' >mask.pgm
make_npy float.npy '<f4' '2,' '\0\0\0\0\0\0\0\0'
make_npy wide.npy '<u2' '2,' '\1\1\0\0'
make_npy long.npy '<i8' '1,' '\0\0\0\0\0\0\0\0'

# Subcommands and arguments.
refuses 2 "subcommand is needed: edt, voronoi, skeleton, thickness, morph, compare, cvt, esf, pass, info, methods, devices, bench, tune, report"
refuses 2 "no subcommand 'skeletons'; there are edt, voronoi, skeleton, thickness, morph, compare, cvt, esf, pass, info, methods, devices, bench, tune, report" skeletons mask.pgm -o out/d.npy
refuses 2 "--gamma needs --pruning linear or constant" skeleton mask.pgm -o out/d.npy --gamma 1
refuses 2 "--pruning linear needs --gamma G" skeleton mask.pgm -o out/d.npy --pruning linear
refuses 2 "'angle' is not one of square-root, linear, constant" skeleton mask.pgm -o out/d.npy --pruning angle
refuses 2 "--gamma: " skeleton mask.pgm -o out/d.npy --pruning linear --gamma -1
refuses 2 "no option --limit" skeleton mask.pgm -o out/d.npy --limit 3
refuses 1 "a skeleton is uint8 or bool" skeleton mask.pgm -o out/d.npy --dtype int32
refuses 1 "method brute/cpu computes distances" skeleton mask.pgm -o out/d.npy --method brute/cpu
refuses 2 "input file is missing" edt
refuses 2 "-o OUTPUT is missing" edt mask.pgm
refuses 2 "one input" edt mask.pgm mask.pgm -o out/d.npy
refuses 2 "name is empty" edt "" -o out/d.npy
refuses 2 "name is empty" edt mask.pgm -o ""
refuses 2 "the file is missing" info
refuses 2 "takes no argument" methods mask.pgm
refuses 2 "takes no argument" devices mask.pgm
refuses 2 "takes no argument" bench mask.pgm
refuses 2 "report: -o OUT.html is missing" report
refuses 2 "report takes one input" report a.json b.json -o out/r.html
refuses 2 "no option --json" report -o out/r.html --json
PYTHON=/bin/false refuses 1 "report: there is no Python with matplotlib and the package distmap" report -o out/r.html
refuses 1 "report: .*(there is no such file or folder|there is no Python)" report none.json -o out/r.html
# Python runs nothing that lies in the current folder, nor where PYTHONPATH says.
for module in matplotlib distmap json sitecustomize; do
    echo "open('$work/was_run', 'a').write('$module ')" >"$module.py"
done
PYTHONPATH=$work run report none.json -o out/r.html
rm ./*.py
check "report: no module of the current folder is run" equal "$(cat was_run 2>&1)" "cat: was_run: No such file or directory"
refuses 2 "no option --bogus" edt mask.pgm -o out/d.npy --bogus
refuses 2 "no option --labels" info mask.pgm --labels
refuses 2 "no option --metric" voronoi mask.pgm -o out/d.npy --metric squared
refuses 2 "-o: .*argument" edt mask.pgm -o
refuses 2 "--limit is given twice" edt mask.pgm -o out/d.npy --limit 1 --limit 2

# Edge strengths.
refuses 2 "thickness: -o OUTPUT is missing" thickness mask.pgm
refuses 2 "no option --limit" thickness mask.pgm -o out/d.npy --limit 3
refuses 2 "no option --index" thickness mask.pgm -o out/d.npy --index out/i.npy
refuses 1 "uint32" thickness mask.pgm -o out/d.npy --dtype uint32
refuses 1 "method skeleton/cpu computes skeletons" thickness mask.pgm -o out/d.npy --method skeleton/cpu
refuses 2 "--op dilate, erode, open or close is missing" morph mask.pgm -o out/d.npy --radius 3
refuses 2 "--radius R is missing" morph mask.pgm -o out/d.npy --op open
refuses 2 "--op: 'spread' is not one of dilate, erode, open, close" morph mask.pgm -o out/d.npy --op spread --radius 1
refuses 2 "--radius: " morph mask.pgm -o out/d.npy --op open --radius -1
refuses 2 "--radius: 'nan'" morph mask.pgm -o out/d.npy --op open --radius nan
refuses 2 "--radius: " morph mask.pgm -o out/d.npy --op open --radius inf
refuses 2 "--outside: 'sites' is not one of background, set" morph mask.pgm -o out/d.npy --op open --radius 1 --outside sites
refuses 2 "--labels needs --op dilate, erode or open" morph mask.pgm -o out/d.npy --op close --radius 1 --labels
refuses 2 "--sites and --labels contradict" morph mask.pgm -o out/d.npy --op erode --radius 1 --labels --sites 1
refuses 2 "no option --limit" morph mask.pgm -o out/d.npy --op open --radius 1 --limit 3
refuses 1 "masks are bool or uint8" morph mask.pgm -o out/d.npy --op open --radius 1 --dtype int16
refuses 2 "compare: the input files are missing" compare
refuses 1 "must be of one shape" compare mask.pgm wide.npy
refuses 2 "compare: the second input file is missing" compare mask.pgm
refuses 2 "takes two inputs" compare mask.pgm mask.pgm mask.pgm
refuses 2 "--points: 'corners' is not one of surface, set" compare mask.pgm mask.pgm --points corners
refuses 2 "--tolerance: " compare mask.pgm mask.pgm --tolerance -1
refuses 2 "--percentiles: " compare mask.pgm mask.pgm --percentiles 50,101
refuses 2 "--percentiles: 17 values given" compare mask.pgm mask.pgm --percentiles 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16
refuses 2 "--threshold: .,. has an empty item" compare mask.pgm mask.pgm --threshold ,
refuses 2 "--threshold: 3 values given" compare mask.pgm mask.pgm --threshold 1,2,3
refuses 2 "--threshold needs --sites" compare mask.pgm mask.pgm --threshold 1 --sites 3
refuses 2 "no option --limit" compare mask.pgm mask.pgm --limit 3
refuses 2 "--points N is missing" cvt mask.pgm -o out/p.npy
refuses 2 "--points: " cvt mask.pgm -o out/p.npy --points 0
refuses 2 "--omega: " cvt mask.pgm -o out/p.npy --points 2 --omega 2
refuses 2 "--omega: 'nan'" cvt mask.pgm -o out/p.npy --points 2 --omega nan
refuses 2 "--steps: " cvt mask.pgm -o out/p.npy --points 2 --steps -1
refuses 2 "points go to .npy, .csv or .svg" cvt mask.pgm -o out/p.png --points 2
refuses 2 "no option --sites" cvt mask.pgm -o out/p.npy --points 2 --sites zero
refuses 2 "no option --axes" cvt mask.pgm -o out/p.npy --points 2 --axes x
refuses 2 "--labels out/p.npy is the same file as -o" cvt mask.pgm -o out/p.npy --points 2 --labels out/p.npy
refuses 1 "problem.cvt.points is 13" cvt mask.pgm -o out/p.npy --points 13
refuses 1 "11 elements have a weight" cvt mask.pgm -o out/p.npy --points 12
printf 'P2\n2 2\n9\n9 9 0 9\n' >dark.pgm
refuses 1 "1 elements have a weight" cvt dark.pgm -o out/p.svg --points 2 --invert
refuses 1 "with that much around it" morph mask.pgm -o out/d.npy --op close --radius 1e12
refuses 2 "--rho R is missing" esf mask.pgm -o out/d.npy --steps 3
refuses 2 "--steps N or --steady is missing" esf mask.pgm -o out/d.npy --rho 3
refuses 2 "--steps and --steady contradict" esf mask.pgm -o out/d.npy --rho 3 --steps 3 --steady
refuses 2 "--dt needs --steps" esf mask.pgm -o out/d.npy --rho 3 --dt 0.1 --steady
refuses 2 "--tolerance needs --steady" esf mask.pgm -o out/d.npy --rho 3 --steps 3 --tolerance 1e-5
refuses 2 "--rho: " esf mask.pgm -o out/d.npy --rho 0 --steady
refuses 2 "--rho: 'nan'" esf mask.pgm -o out/d.npy --rho nan --steady
refuses 2 "--steps: " esf mask.pgm -o out/d.npy --rho 3 --steps 0
refuses 2 "no option --spacing" esf mask.pgm -o out/d.npy --rho 3 --steady --spacing 2
refuses 2 "no option --rho" edt mask.pgm -o out/d.npy --rho 3
refuses 1 "problem.esf.dt is 0.25.*limit of stability 2/.* = 0.246" esf mask.pgm -o out/d.npy --rho 3 --steps 3 --dt 0.25
refuses 1 "float32 reaches 1e-06 at best" esf mask.pgm -o out/d.npy --rho 3 --steady --tolerance 1e-7
refuses 1 "float32 or float64" esf mask.pgm -o out/d.npy --rho 3 --steady --dtype uint8
refuses 1 "method brute/cpu computes distances" esf mask.pgm -o out/d.npy --rho 3 --steady --method brute/cpu

# Values.
for sites in "" zeros 1..x x..1 .. nan 1..nan 1-2 " 1"; do
    refuses 2 "--sites: '$sites' is" edt mask.pgm -o out/d.npy --sites "$sites"
done
refuses 2 "--sites: the range 2..1 is empty" edt mask.pgm -o out/d.npy --sites 2..1
refuses 2 "--threshold: 'nan' is not a number" edt mask.pgm -o out/d.npy --threshold nan
refuses 2 "--threshold: 'x' is not a number" edt mask.pgm -o out/d.npy --threshold x
refuses 2 "--metric: 'manhattan' is not a metric" edt mask.pgm -o out/d.npy --metric manhattan
for metric in chamfer chamfer3,4 Cityblock; do
    refuses 2 "--metric: '$metric' is not a metric" edt mask.pgm -o out/d.npy --metric $metric
done
refuses 2 "--metric: chamfer takes two or three weights" edt mask.pgm -o out/d.npy --metric chamfer:3
refuses 2 "--metric: chamfer takes two or three weights" edt mask.pgm -o out/d.npy --metric chamfer:3,4,5,6
refuses 2 "--metric: '3,' has an empty item" edt mask.pgm -o out/d.npy --metric chamfer:3,
refuses 2 "--metric: 'x' is not a whole number" edt mask.pgm -o out/d.npy --metric chamfer:3,x
refuses 2 "--metric: 0 is out of range" edt mask.pgm -o out/d.npy --metric chamfer:0,1
refuses 1 "needs a <= b <= 2a" edt mask.pgm -o out/d.npy --metric chamfer:4,3
refuses 1 "spacing.* is 2, must be 1" edt mask.pgm -o out/d.npy --metric cityblock --spacing 2
refuses 1 "needs a mask" edt mask.pgm -o out/d.npy --metric cityblock --labels
refuses 1 "--dtype: int32 cannot hold the chamfer:3,4 distances of mask.pgm; these would do: uint32, uint64, uint16" \
    edt mask.pgm -o out/d.npy --metric chamfer:3,4 --dtype int32
refuses 2 "--signed and --labels contradict" edt mask.pgm -o out/d.npy --signed --labels
refuses 2 "--surface needs --signed" edt mask.pgm -o out/d.npy --surface half
refuses 2 "--surface: 'outer' is not one of centre, half" edt mask.pgm -o out/d.npy --signed --surface outer
refuses 2 "--surface half and --metric squared contradict" edt mask.pgm -o out/d.npy --signed --surface half --metric squared
refuses 2 "--signed needs --metric euclidean" edt mask.pgm -o out/d.npy --signed --metric cityblock
refuses 2 "--device: 'tpu' is not a device" edt mask.pgm -o out/d.npy --device tpu
refuses 2 "--device: 'cudax' is not a device" edt mask.pgm -o out/d.npy --device cudax
refuses 2 "--device: 'x' is not a whole number" edt mask.pgm -o out/d.npy --device cuda:x
refuses 2 "--device: -1 is out of range" edt mask.pgm -o out/d.npy --device cuda:-1
works "--device auto" edt mask.pgm -o out/d.npy --sites zero --device auto
# A GPU that cannot be had is one line, whether there is none at all or none of that number.
refuses 1 "(device cuda: |ordinal is 99)" edt mask.pgm -o out/d.npy --device cuda:99
refuses 2 "--spacing: 0 is" edt mask.pgm -o out/d.npy --spacing 0
refuses 2 "--spacing: -1 is" edt mask.pgm -o out/d.npy --spacing 1,-1
refuses 2 "--spacing: 'nan' is not a number" edt mask.pgm -o out/d.npy --spacing nan,1
refuses 2 "--spacing: inf is" edt mask.pgm -o out/d.npy --spacing inf
refuses 2 "--spacing: '1,' has an empty item" edt mask.pgm -o out/d.npy --spacing 1,
refuses 1 "--spacing: 3 values given, but mask.pgm has 2 axes \(yx\)" edt mask.pgm -o out/d.npy --spacing 1,1,1
refuses 1 "--axes: mask.pgm has no axis 'z'; it has yx" edt mask.pgm -o out/d.npy --axes z
refuses 1 "--axes: mask.pgm has no axis '2'" edt mask.pgm -o out/d.npy --axes 2
refuses 1 "--axes: axis 'y' is named twice" edt mask.pgm -o out/d.npy --axes x,y,y
for limit in 0 -1 nan inf; do
    refuses 2 "--limit: '?$limit'? is" edt mask.pgm -o out/d.npy --limit $limit
done
for threads in 0 -1 1025 two 1.5 99999999999999999999; do
    refuses 2 "--threads: '?$threads'? is" edt mask.pgm -o out/d.npy --threads $threads
done
refuses 2 "--method: there is no method 'magic/cpu'" edt mask.pgm -o out/d.npy --method magic/cpu
refuses 2 "--param: 'x' is not NAME=VALUE" edt mask.pgm -o out/d.npy --method brute/cpu --param x
refuses 2 "--param: 'y' is not a whole number" edt mask.pgm -o out/d.npy --method brute/cpu --param x=y
refuses 2 "--param needs --method" edt mask.pgm -o out/d.npy --param x=1
refuses 1 "brute/cpu has no parameter 'x'" edt mask.pgm -o out/d.npy --method brute/cpu --param x=1
refuses 2 "--preview: 'out/p.jpg' must end in .png" edt mask.pgm -o out/d.npy --preview out/p.jpg

# Contradictions.
refuses 2 "--threshold and --labels contradict" edt mask.pgm -o out/d.npy --threshold 1 --labels
refuses 2 "--labels and --components contradict" voronoi mask.pgm -o out/d.npy --labels --components
refuses 2 "--threshold needs --sites zero .below T. or nonzero" edt mask.pgm -o out/d.npy --threshold 1 --sites 1
refuses 2 "--threshold needs --sites zero .below T. or nonzero" edt mask.pgm -o out/d.npy --threshold 1 --sites 1..2
refuses 2 "--sites none needs edt --labels" edt mask.pgm -o out/d.npy --sites none
refuses 2 "-o - and --json contradict" edt mask.pgm -o - --json
refuses 2 "--index - and -o - contradict" edt mask.pgm -o - --index -
refuses 2 "--index - and --json contradict" edt mask.pgm -o out/d.npy --index - --json
refuses 2 "--index out/d.npy is the same file as -o out/d.npy" edt mask.pgm -o out/d.npy --index out/d.npy
refuses 2 "--preview .* is the same file as -o" edt mask.pgm -o out/d.png --preview ./out/../out/d.png

# The output must not be the input, under whatever name.
cp "$data/coins.png" coins.png
ln -s coins.png symbolic.png
ln coins.png hard.png
before=$(cksum <coins.png)
for name in coins.png ./coins.png "$work/coins.png" symbolic.png hard.png; do
    refuses 2 "-o $name is the same file as the input" edt coins.png -o "$name"
    refuses 2 "--preview $name is the same file as the input" edt coins.png -o out/d.npy --preview "$name"
done
check "the input is as it was" equal "$(cksum <coins.png)" "$before"

# Types.
refuses 2 "--dtype: 'float16' is not an element type" edt mask.pgm -o out/d.npy --dtype float16
refuses 1 "--dtype: uint32 cannot hold the euclidean distances of mask.pgm; these would do: float32, float64" \
    edt mask.pgm -o out/d.npy --dtype uint32
refuses 1 "--dtype: uint32 cannot hold the squared distances of mask.pgm; these would do: uint64, float64" \
    edt mask.pgm -o out/d.npy --metric squared --dtype uint32 --spacing 100000
refuses 1 "--dtype: uint64 cannot hold the squared distances of mask.pgm; these would do: float64" \
    edt mask.pgm -o out/d.npy --metric squared --dtype uint64 --spacing 0.3
refuses 1 "--dtype: uint8 cannot hold labels from 0 to 65535; uint16 would do" voronoi wide.npy -o out/d.npy --dtype uint8
refuses 1 "--dtype: float32 cannot hold labels" voronoi mask.pgm -o out/d.npy --dtype float32
refuses 1 "--labels: labels are integers, but float.npy holds float32" edt float.npy -o out/d.npy --labels
refuses 1 "--labels: labels are integers, but float.npy holds float32" voronoi float.npy -o out/d.npy --labels
refuses 1 "--threshold: .* is beyond 2\^53" edt long.npy -o out/d.npy --threshold 1e18
refuses 1 "out/d.png: .*float32.*uint8" edt mask.pgm -o out/d.png
refuses 1 "out/i.png: .*int32.*uint8" edt mask.pgm -o out/d.npy --index out/i.png
# 300 groups do not fit uint8.
{
    printf 'P5 600 1 255\n'
    for ((i = 0; i < 300; i++)); do printf '\1\0'; done
} >many.pgm
refuses 1 "--dtype: uint8 cannot hold labels from 0 to 300; int16 would do" \
    voronoi many.pgm -o out/d.npy --components --dtype uint8
refuses 1 "out/d.xyz: " edt mask.pgm -o out/d.xyz

# Bench.
refuses 2 "--methods: there is no method 'magic'" bench --methods magic
refuses 2 "--patterns: there is no pattern 'stars'" bench --patterns random,stars
refuses 2 "--densities: 2 is out of range" bench --densities 2
refuses 2 "--sizes: 0 is" bench --sizes 0
refuses 2 "--repeat: 0 is" bench --repeat 0
refuses 2 "--param needs --methods with one name" bench --param x=1

finish
