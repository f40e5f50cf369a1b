#!/usr/bin/env bash
# The steps of the image, which also run without one: the program, its encoder and nothing else in FOLDER.
#   deploy/install.sh FOLDER [WHEELS]
# WHEELS: a folder of wheels (see docs/running.md); with it nothing is asked of a network.
set -euo pipefail
folder=$1
wheels=${2:-}
source=$(cd "$(dirname "$0")/.." && pwd)

python3 -m venv "$folder"
pip=("$folder/bin/python" -m pip --disable-pip-version-check install --no-cache-dir --quiet --constraint "$source/constraints.txt")
if [ -n "$wheels" ]; then
  "${pip[@]}" --no-index --find-links "$wheels" 'cloud-training-advisor[postgres]'
else
  "${pip[@]}" "$source[postgres]"
fi
XDG_CACHE_HOME="$folder/cache" "$folder/bin/python" -c 'from knowledge.encoders import load_encoder; load_encoder()'
"$folder/bin/advisor" --version
