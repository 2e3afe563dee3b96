#!/bin/sh
# Distance maps, Voronoi maps, edge strengths and pictures of a real image and of a real volume: tools/demo.sh [COMMAND]
# They go to build/demo/; what was made, and how long each computation took, is printed.
set -eu
cd "$(dirname "$0")/.."
distmap=${1:-build/release/distmap}
case $distmap in
/*) ;;
*) distmap=./$distmap ;;
esac
out=build/demo
horse=data/horse.png
coins=data/coins.png
brain=data/mni152_gray_matter.nii.gz
# The volume holds probabilities of grey matter, 0 to 255: at 128 it is more likely than not.
mkdir -p "$out"

show() { # a title, then the command's arguments
    printf '\n%s\n  distmap' "$1"
    shift
    printf ' %s' "$@"
    printf '\n'
    "$distmap" "$@" 2>&1
}

show "How deep every point of the horse lies:" \
    edt "$horse" --channel luma -o "$out/horse_depth.npy" --threshold 128 --sites nonzero --preview "$out/horse_depth.png"
show "How far every point is from the horse:" \
    edt "$horse" --channel luma -o "$out/horse_distance.npy" --threshold 128 --preview "$out/horse_distance.png"
show "How far every point is from the horse's outline, on either side:" \
    edt "$horse" --channel luma -o "$out/horse_signed.npy" --threshold 128 --signed --preview "$out/horse_signed.png"
show "Which part of the horse is nearest:" \
    voronoi "$horse" --channel luma -o "$out/horse_voronoi.npy" --threshold 128 --sites zero --index "$out/horse_nearest.npy" \
    --preview "$out/horse_voronoi.png"
show "The horse's skeleton:" \
    skeleton "$horse" --channel luma -o "$out/horse_skeleton.npy" --threshold 128 --sites nonzero --preview "$out/horse_skeleton.png"
show "How thick the horse is (the largest ball in it that holds the point):" \
    thickness "$horse" --channel luma -o "$out/horse_thickness.npy" --threshold 128 --sites nonzero --preview "$out/horse_thickness.png"
show "How the horse's outline grows smooth inwards (edge strength function at rest):" \
    esf "$horse" --channel luma -o "$out/horse_strength.npy" --threshold 128 --rho 16 --steady --preview "$out/horse_strength.png"
show "What is left of the horse where a ball of radius 9 finds room:" \
    morph "$horse" --channel luma -o "$out/horse_opened.pbm" --threshold 128 --sites zero --op open --radius 9 --preview "$out/horse_opened.png"
show "How far the horse's outline is from that:" \
    compare "$horse" "$out/horse_opened.pbm" --channel luma --threshold 128 --sites zero --preview "$out/horse_lost.png"
show "The coins by 8000 dots, many where it is dark (centroidal Voronoi diagram):" \
    cvt "$coins" -o "$out/coins_stipples.svg" --points 8000 --omega 1.5 --invert --preview "$out/coins_stipples.png"
show "How deep every point of the brain's grey matter lies (mm):" \
    edt "$brain" -o "$out/brain_depth.nii.gz" --threshold 128 --preview "$out/brain_depth.png"
show "How thick the brain's grey matter is (mm):" \
    thickness "$brain" -o "$out/brain_thickness.nii.gz" --threshold 128 --preview "$out/brain_thickness.png"
show "How far every point is from the grey matter (mm):" \
    edt "$brain" -o "$out/brain_distance.nii.gz" --threshold 128 --sites nonzero --preview "$out/brain_distance.png"
show "Which part of the grey matter is nearest:" \
    voronoi "$brain" -o "$out/brain_voronoi.nii.gz" --threshold 128 --preview "$out/brain_voronoi.png"

printf '\nMaps (.npy: NumPy, .nii.gz: NIfTI) and pictures (.png) are in %s:\n' "$(pwd)/$out"
ls -lh "$out" | awk 'NR > 1 { printf "  %-24s %s\n", $NF, $5 }'
