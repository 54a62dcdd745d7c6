#!/usr/bin/env bash
# How long a warm start takes from the command to the first frame on the screen, under Xvfb with Mesa's software
# Vulkan: the program is started once to warm the caches, then five times, and the screen is looked at until the
# window's rail has its colour. A look takes a few milliseconds and is part of the figure.
#
# usage: BINARY=path/to/pointillist tests/screenshots/start.sh
set -euo pipefail
program="${BINARY:?the program, built with cargo build --release}"
source "$(dirname "${BASH_SOURCE[0]}")/screen.sh"
# The screen lies in a file, so that looking at it costs nothing.
open_screen -fbdir "$scratch"

drawn() {
  # The rail's light colour, EFEDE6, as the screen's file has it (blue, green, red).
  LC_ALL=C grep -qaF $'\xe6\xed\xef' "$scratch/Xvfb_screen0"
}
once() {
  local start end
  start=$(date +%s%N)
  "$program" >/dev/null 2>&1 &
  app=$!
  until drawn; do :; done
  end=$(date +%s%N)
  kill "$app"
  wait "$app" 2>/dev/null || true
  app=''
  # Until the screen is empty again.
  while drawn; do sleep 0.05; done
  echo $(((end - start) / 1000000))
}
echo "first: $(once) ms"
for _ in 1 2 3 4 5; do echo "warm: $(once) ms"; done
