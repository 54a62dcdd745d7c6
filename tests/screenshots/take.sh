#!/usr/bin/env bash
# Takes the pictures in screenshots/ from the real window, under Xvfb, driven by xdotool: welcome, the Adult
# sample's schema, a run that trains on it, its end, the export, the ledger; then dark and Chinese.
# Installs nothing: `bash tests/run` has done so.
#
# usage: tests/screenshots/take.sh [FOLDER]      (default: screenshots)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out="${1:-screenshots}"
mkdir -p "$out"
out="$(cd "$out" && pwd)"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/pointillist-target}"
cargo build --release --bin pointillist
program="$CARGO_TARGET_DIR/release/pointillist"

width=1440 height=900
scratch="$(mktemp -d)"
export XDG_RUNTIME_DIR="$scratch/runtime" POINTILLIST_HOME="$scratch/home" HOME="$scratch/user"
mkdir -p "$XDG_RUNTIME_DIR" "$POINTILLIST_HOME" "$HOME"
chmod 700 "$XDG_RUNTIME_DIR"
unset WAYLAND_DISPLAY
export DISPLAY=":$((90 + RANDOM % 100))"
Xvfb "$DISPLAY" -screen 0 "${width}x${height}x24" -nolisten tcp >/dev/null 2>&1 &
xvfb=$!
app=
finish() {
  [ -n "$app" ] && kill "$app" 2>/dev/null || true
  kill "$xvfb" 2>/dev/null || true
  rm -rf "$scratch"
}
trap finish EXIT
sleep 1

start() {
  "$program" "$@" >"$scratch/log" 2>&1 &
  app=$!
  for _ in $(seq 100); do
    window="$(xdotool search --pid "$app" --onlyvisible 2>/dev/null | tail -n 1 || true)"
    [ -n "$window" ] && break
    sleep 0.2
  done
  [ -n "$window" ] || { cat "$scratch/log"; echo "The window did not open."; exit 1; }
  xdotool windowsize "$window" "$width" "$height" windowmove "$window" 0 0 windowfocus "$window"
  sleep 3
}
shot() { import -window root "$out/$1.png"; echo "$out/$1.png"; }
click() { xdotool mousemove "$1" "$2" click 1; sleep "${3:-0.6}"; }
# Real key presses: those sent to one window are ignored by some toolkits.
key() { xdotool key "$@"; sleep 1; }
park() { xdotool mousemove $((width - 4)) $((height / 2)); sleep 0.4; }

start
shot welcome
click "${SAMPLE_X:-530}" "${SAMPLE_Y:-240}" 5
park
shot data
key ctrl+2
sleep 3
park
shot train-plan
key ctrl+Return
sleep "${LIVE:-9}"
park
shot train-live
key ctrl+t
park
shot train-live-dark
# The ledger says when the run has ended.
for _ in $(seq "${PATIENCE:-300}"); do
  sleep 1
  "$program" ledger list --json 2>/dev/null | grep -q '"status": *"finished"' && break
done
sleep 4
park
shot train-done-dark
key ctrl+t
key ctrl+3
park
shot export
key ctrl+e
sleep 5
park
shot exported
key ctrl+4
park
shot privacy
# The language button stands left of the theme's.
click 1356 22 1
key ctrl+1
park
shot data-zh
key ctrl+2
key ctrl+t
park
shot train-zh-dark
