# A screen of its own for the program (Xvfb), and a home that is thrown away at the end. To be sourced; sets `scratch`,
# DISPLAY and the homes, and ends `app` (the program's process, if any) with the screen.
#
# usage: open_screen [OPTIONS of Xvfb]

width=1440 height=900
app='' xvfb=''
scratch="$(mktemp -d)"
export XDG_RUNTIME_DIR="$scratch/runtime" POINTILLIST_HOME="$scratch/home" HOME="$scratch/user"
mkdir -p "$XDG_RUNTIME_DIR" "$POINTILLIST_HOME" "$HOME"
chmod 700 "$XDG_RUNTIME_DIR"
unset WAYLAND_DISPLAY

finish() {
  [ -n "$app" ] && kill "$app" 2>/dev/null || true
  [ -n "$xvfb" ] && kill "$xvfb" 2>/dev/null || true
  rm -rf "$scratch"
}
trap finish EXIT

open_screen() {
  # Xvfb itself picks a display that is free.
  Xvfb -displayfd 3 -screen 0 "${width}x${height}x24" -nolisten tcp "$@" 3>"$scratch/display" >/dev/null 2>&1 &
  xvfb=$!
  for _ in $(seq 50); do
    [ -s "$scratch/display" ] && break
    sleep 0.1
  done
  DISPLAY=":$(cat "$scratch/display")"
  export DISPLAY
}
