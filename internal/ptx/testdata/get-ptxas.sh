#!/bin/sh
# Installs NVIDIA's PTX assembler from PyPI into a virtual environment and prints
# its path:  KELPIE_PTXAS=$(internal/ptx/testdata/get-ptxas.sh /tmp/ptxas) go test ./internal/ptx
# A 12.x version, because 13 no longer assembles for sm_70.
set -eu
dir=${1:?usage: get-ptxas.sh DIR}
tool=$(find "$dir" -path '*/bin/ptxas' 2>/dev/null | head -n 1)
if [ -z "$tool" ]; then
    python3 -m venv "$dir" >&2
    "$dir/bin/pip" install --quiet --no-deps 'nvidia-cuda-nvcc-cu12==12.9.*' >&2
    tool=$(find "$dir" -path '*/bin/ptxas' | head -n 1)
fi
chmod +x "$tool"
echo "$tool"
