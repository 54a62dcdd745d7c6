#!/usr/bin/env bash
# Takes the pictures in screenshots/ from the real window, under Xvfb, driven by xdotool: welcome, the Adult
# sample's schema, a run that trains on it, its end, the export, the ledger; then dark and Chinese.
# Installs nothing: `bash tests/run` has done so.
#
# usage: tests/screenshots/take.sh [FOLDER]      (default: screenshots)
# BINARY=path/to/pointillist takes a program that is built already.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out="${1:-screenshots}"
mkdir -p "$out"
out="$(cd "$out" && pwd)"
program="${BINARY:-}"
if [ -z "$program" ]; then
  export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/pointillist-target}"
  cargo build --release --bin pointillist
  program="$CARGO_TARGET_DIR/release/pointillist"
fi

source "tests/screenshots/screen.sh"
open_screen

# Without a window manager the server may refuse a request that comes before the window is mapped ("Serial number of
# failed request"): it is asked again.
again() {
  for _ in $(seq 25); do
    "$@" 2>/dev/null && return 0
    kill -0 "$app" 2>/dev/null || { cat "$scratch/log"; echo "The program has ended."; exit 1; }
    sleep 0.2
  done
  echo "In vain: $*"
  exit 1
}
visible() { window="$(xdotool search --onlyvisible --pid "$app" 2>/dev/null | tail -n 1)" && [ -n "$window" ]; }
start() {
  "$program" "$@" >"$scratch/log" 2>&1 &
  app=$!
  for _ in 1 2 3; do again visible; done
  again xdotool windowmove "$window" 0 0
  again xdotool windowsize "$window" "$width" "$height"
  again xdotool windowfocus "$window"
  settle
}
shot() { import -window root "$out/$1.png"; echo "$out/$1.png"; }
# Until two pictures half a second apart are the same.
settle() {
  local before='' now
  for _ in $(seq 40); do
    sleep 0.5
    now="$(import -window root -depth 8 rgb:- | md5sum)"
    [ "$now" = "$before" ] && return 0
    before="$now"
  done
}
click() { again xdotool mousemove "$1" "$2" click "${3:-1}"; sleep 0.5; }
# Real key presses: those sent to one window are ignored by some toolkits.
key() { again xdotool key --clearmodifiers "$@"; sleep 0.7; }
park() { again xdotool mousemove $((width - 4)) $((height / 2)); sleep 0.4; }
# A toast stays for seven seconds.
quiet() { park; sleep 8; }

# The Adult sample as a table of one's own, with a total: the gauge has something to show.
table="$HOME/adult.parquet"
cp assets/samples/adult.parquet "$table"
sed '/^public *= *true/d' assets/samples/adult.schema.toml >"$HOME/adult.schema.toml"

start
shot welcome
kill "$app"
wait "$app" 2>/dev/null || true
"$program" ledger set-total "$table" --epsilon 4 --delta 1e-5 --reason "a course on synthetic data" >/dev/null
start "$table"
quiet
settle
shot data
# Explore: what a budget buys, picture by picture.
key ctrl+2
park
settle
shot explore
click 668 81
park
settle
shot explore-noise
click 785 81
park
settle
shot explore-histogram
click 1030 81
park
settle
shot explore-several
key ctrl+3
settle
shot train-plan
key ctrl+Return
sleep "${LIVE:-30}"
park
shot train-live
key ctrl+t
park
sleep 2
shot train-live-dark
# The ledger says when the run has ended.
for _ in $(seq "${WAIT:-900}"); do
  sleep 1
  "$program" ledger list --json 2>/dev/null | grep -q '"status": *"finished"' && break
  kill -0 "$app" 2>/dev/null || { cat "$scratch/log"; echo "The program has ended."; exit 1; }
done
quiet
shot train-done-dark
# The menu of a plot.
click 640 180 3
sleep 0.5
shot plot-menu-dark
key Escape
key ctrl+t
key ctrl+4
settle
shot export
key ctrl+e
sleep 3
quiet
shot exported
# What runs have reached, over their ε.
key ctrl+2
click 1140 81
park
settle
shot explore-runs
key ctrl+5
park
settle
shot privacy
# What a further run would come to.
click 283 662
park
settle
shot privacy-what-if
click 206 662
# The language button stands left of the theme's.
click 1356 22
key ctrl+1
park
settle
shot data-zh
key ctrl+t
key ctrl+2
settle
click 515 81
park
settle
shot explore-zh-dark
key ctrl+3
settle
shot train-zh-dark
key ctrl+5
park
settle
shot privacy-zh-dark
# A private statistic: the question before it is charged, and what was released.
key ctrl+t
key ctrl+2
click 1356 22
click 206 818
settle
shot release-question
key Tab
key Return
sleep 2
click 1221 81
quiet
shot release
# At twice the size.
click 515 81
for _ in 1 2 3 4; do key ctrl+plus; done
park
settle
# The picture stands under the form.
again xdotool mousemove 800 600 click --repeat 14 5
settle
shot explore-200
# A second run of the same plan beside the first, which is drawn over it.
key ctrl+0
key ctrl+3
settle
key ctrl+Return
sleep "${LIVE:-30}"
click 478 157
quiet
shot train-runs
# Images, where there are some: ten thousand digits, and what is made of them after a while.
digits=../shared/data/images/mnist
if [ -f "$digits/t10k-images-idx3-ubyte.gz" ]; then
  cp "$digits"/t10k-* "$HOME"
  kill "$app"
  wait "$app" 2>/dev/null || true
  start "$HOME/t10k-images-idx3-ubyte.gz"
  key ctrl+0
  quiet
  settle
  shot images-data
  key ctrl+3
  settle
  key ctrl+Return
  sleep "${LIVE_IMAGES:-60}"
  park
  shot images-live
  # The same images with a critic, and what its cards say of it: the plan of the session that is kept, by another
  # method.
  sed 's/^method = .*/method = "dpgan"/' "$POINTILLIST_HOME/sessions/last.session.toml" >"$HOME/critic.session.toml"
  kill "$app"
  wait "$app" 2>/dev/null || true
  start "$HOME/critic.session.toml"
  quiet
  settle
  key ctrl+Return
  sleep "${LIVE_CRITIC:-120}"
  park
  shot images-critic
fi
