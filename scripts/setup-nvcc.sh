#!/usr/bin/env bash
# Sets up NVIDIA's compiler and disassemblers from pinned Python wheels and prints the path of a working nvcc.
#
#     scripts/setup-nvcc.sh [VENV]        VENV defaults to .venv-nvcc in the project's root
#
# Needs Python 3.9 or newer with venv, and gcc for the host side; no GPU, no driver, no CUDA toolkit. Running it again costs nothing once
# the pinned versions are there. Beside nvcc, VENV/bin holds cuobjdump, nvdisasm and ptxas.
set -euo pipefail

# The oracles in tests/ pin what this compiler does: moving it means running them again.
WHEELS=(
  nvidia-cuda-nvcc==13.5.37
  nvidia-nvvm==13.5.37
  nvidia-cuda-crt==13.5.37
  nvidia-cuda-runtime==13.5.37
  nvidia-cuda-cccl==13.3.5.0.6
  nvidia-cuda-cuobjdump==13.5.37
  nvidia-cuda-nvdisasm==13.5.37
)

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p "${1:-$root/.venv-nvcc}"
venv=$(cd "${1:-$root/.venv-nvcc}" && pwd)
stamp=$venv/cudalint-wheels
wanted=$(printf '%s\n' "${WHEELS[@]}")

if [[ ! -x $venv/bin/nvcc || "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]]; then
  rm -f "$stamp"
  python3 -m venv "$venv" >&2
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps "${WHEELS[@]}" >&2
  toolkit=$("$venv/bin/python" -c 'import nvidia.cu13 as t; print(list(t.__path__)[0])')

  # nvcc finds cicc, headers and libraries relative to its own real path, so it is called there, not through a link.
  for tool in nvcc cuobjdump nvdisasm ptxas fatbinary; do
    printf '#!/bin/sh\nexec "%s/bin/%s" "$@"\n' "$toolkit" "$tool" >"$venv/bin/$tool.new"
    chmod +x "$venv/bin/$tool.new"
    mv "$venv/bin/$tool.new" "$venv/bin/$tool"
  done
  # The wheel ships the versioned library alone; `-cudart shared` asks for the plain name.
  ln -sf libcudart.so.13 "$toolkit/lib/libcudart.so"
  printf '%s\n' "$wanted" >"$stamp"
fi

"$venv/bin/nvcc" --version >/dev/null
echo "$venv/bin/nvcc"
