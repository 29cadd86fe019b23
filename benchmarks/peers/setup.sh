#!/usr/bin/env bash
# Make a virtual environment for the peers of the engine benchmark and say what it holds.
#
#     benchmarks/peers/setup.sh [FOLDER]        (default: .peers/ in the repository's root)
#
# Torch and Transformers come first and are pinned for everything after them. A package whose declared requirements
# exclude them is installed without its requirements, and the reason is printed: whether it works is then a result.
# Where pip would fetch CUDA builds of torch, nothing is downloaded; set TORCH_INDEX to an index with CPU builds.
# PYTHON chooses the interpreter (default: python3).
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
folder=${1:-$root/.peers}
torch="torch==2.13.0"
transformers="transformers==5.24.0"

[ -x "$folder/bin/python" ] || "${PYTHON:-python3}" -m venv "$folder" || exit 1
echo '*' > "$folder/.gitignore"
pip="$folder/bin/python -m pip --disable-pip-version-check"
pins=$folder/pins.txt
log=$folder/setup.log
printf '%s\n' "$torch" "$transformers" > "$pins"

planned=$($pip install --dry-run ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} "$torch" 2>&1) || { echo "$planned"; exit 1; }
if grep -qiE 'would install.*(nvidia|cuda|triton)' <<< "$planned"; then
    echo "pip would install a CUDA build of $torch; set TORCH_INDEX=https://download.pytorch.org/whl/cpu" >&2
    exit 1
fi
$pip install -q ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} "$torch" || exit 1
$pip install -q -c "$pins" "$transformers" accelerate safetensors numpy || exit 1

# peer NAME REQUIREMENT [NEEDED...]: install a package; failing that, without its requirements but with those named.
peer() {
    local name=$1 requirement=$2
    shift 2
    if $pip install -c "$pins" "$requirement" > "$log" 2>&1; then
        echo "installed     $name, with everything that it requires"
        return
    fi
    local reason
    reason=$(grep -E "depends on (torch|transformers)" "$log" | head -1 | sed 's/^ *//')
    [ -n "$reason" ] || reason=$(grep ERROR "$log" | head -1)
    if $pip install -q --no-deps "$requirement" > "$log" 2>&1 && $pip install -q -c "$pins" "$@" > "$log" 2>&1; then
        echo "no-deps       $name, because: $reason"
    else
        echo "not installed $name, because: $reason"
    fi
}

peer nnsight "nnsight>=0.8,<0.9"
peer transformer-lens "transformer-lens>=4,<5"
peer steering-vectors "steering-vectors>=0.12.2" scikit-learn tqdm

echo
$pip list 2> /dev/null | grep -iE '^(torch|transformers|accelerate|numpy|nnsight|transformer-lens|steering-vectors|nvidia[^ ]*) '
echo
echo "pip check:"
$pip check || true
