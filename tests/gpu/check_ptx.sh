#!/bin/sh
# Holds the PTX of a kernel to what its protocol asked for.
#
#   check_ptx.sh FILE ENTRY [--has REGEX]... [--lacks REGEX]...   within the kernel ENTRY
#   check_ptx.sh FILE - [--lacks REGEX]...                        within the whole file
#   check_ptx.sh --self-test
#
# Comments are left out before anything is looked for.
set -eu

text_of() { # FILE ENTRY
  sed -e 's://.*$::' "$1" | awk -v entry="$2" '
    entry == "-" { print; next }
    $0 ~ ("\\.entry[ \t]+" entry "[ \t]*\\(") { inside = 1 }
    inside { print }
    inside && /^}/ { exit }'
}

check() { # FILE ENTRY RULES...
  file=$1 entry=$2
  shift 2
  [ -s "$file" ] || { echo "check_ptx: $file is missing or empty"; return 1; }
  text=$(text_of "$file" "$entry")
  [ -n "$text" ] || { echo "check_ptx: $file has no kernel $entry"; return 1; }
  failed=0
  while [ $# -gt 0 ]; do
    found=no
    if printf '%s\n' "$text" | grep -Eq -e "$2"; then found=yes; fi
    case "$1:$found" in
      --has:yes | --lacks:no) ;;
      --has:no) echo "check_ptx: kernel $entry of $file has no $2"; failed=1 ;;
      --lacks:yes)
        echo "check_ptx: kernel $entry of $file must not have $2, but has:"
        printf '%s\n' "$text" | grep -E -e "$2" | head -n 5
        failed=1 ;;
      *) echo "check_ptx: unknown rule $1"; return 2 ;;
    esac
    shift 2
  done
  return $failed
}

self_test() {
  sample=$(mktemp)
  trap 'rm -f "$sample"' EXIT
  cat > "$sample" <<'PTX'
.func helper ( .param .b64 p )
;
.visible .entry good(
	.param .u64 p
)
{
	// fence.acq_rel.sys in a comment is no fence
	st.release.sys.b32 [%rd1],%r1;
	ld.acquire.sys.b32 %r2,[%rd1];
	ret;
}
.visible .entry bad(
	.param .u64 p
)
{
	fence.acq_rel.sys;
	st.relaxed.sys.b32 [%rd1],%r1;
	ret;
}
PTX
  expect() { # 0|1 ARGS...: check must end like this
    wanted=$1
    shift
    if check "$@" > /dev/null; then got=0; else got=1; fi
    [ "$got" = "$wanted" ] || { echo "self-test: check $* gave $got, not $wanted"; exit 1; }
  }
  expect 0 "$sample" good --has 'st\.release\.sys' --has 'ld\.acquire\.sys' --lacks 'fence|membar'
  expect 1 "$sample" bad --has 'st\.release\.sys'
  expect 1 "$sample" bad --lacks 'fence|membar'
  expect 1 "$sample" good --lacks 'st\.release'
  expect 1 "$sample" - --lacks 'fence|membar'
  expect 1 "$sample" goo --has 'st\.release\.sys'
  expect 1 "$sample" absent --lacks 'fence'
  expect 1 "$sample.none" good --lacks 'fence'
  expect 1 "$sample" good --hass 'st'
  echo "check_ptx: self-test passed"
}

if [ "${1:-}" = "--self-test" ]; then self_test; else check "$@"; fi
