#!/usr/bin/env bash
# Shows what joedb does, with the package index of this machine. Run it with: ./dev demo
set -Eeuo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
bold='' red='' plain=''
if [ -t 1 ]; then bold=$'\e[1m' red=$'\e[31m' plain=$'\e[0m'; fi

fail() {
  echo "${red}demo failed: $*$plain" >&2
  exit 1
}

for program in debian_packages joedb_logdump joedb_push joedb_benchmark sqlite_benchmark; do
  command -v "$program" >/dev/null || fail "there is no program $program; run it with: ./dev demo"
done

writer=
folder=$(mktemp -d)
clean_up() {
  if [ -n "$writer" ]; then kill -KILL "$writer" 2>/dev/null || true; fi
  rm -rf "$folder"
}
trap clean_up EXIT
trap 'fail "line $LINENO: $BASH_COMMAND"' ERR
cd "$folder"

say() { printf '\n%s== %s%s\n' "$bold" "$*" "$plain"; }

# Shows a command as one would type it, then runs it.
run() {
  printf '%s$ %s%s\n' "$bold" "$1" "$plain"
  bash -o pipefail -c "$1"
}

size_of() { stat --format %s "$1"; }
entries_of() { joedb_logdump "$1" | wc -l; }

# ---- the index ----------------------------------------------------------------------------------

package_count() { grep -c '^Package: ' index || true; }

get_index() {
  run 'apt-cache dumpavail >index'
  # A new machine knows only the packages that are installed.
  if [ "$(package_count)" -lt 10000 ] && [ "$(id -u)" = 0 ]; then
    run 'apt-get update -qq' && run 'apt-cache dumpavail >index' ||
      echo 'That did not work; going on with what there is.'
  fi
  [ "$(package_count)" -gt 0 ] || fail 'this machine has no package index; try: sudo apt-get update'
}

say "The package index of this machine, loaded into a joedb database"
command -v apt-cache >/dev/null || fail 'this is not a Debian machine: there is no apt-cache'
get_index
run 'debian_packages load packages.joedb <index'
echo "The index has $(size_of index) bytes, the database $(size_of packages.joedb)."

say "Loaded again, nothing has changed: not a byte is written"
cp packages.joedb before.joedb
run 'debian_packages load packages.joedb <index'
cmp packages.joedb before.joedb || fail 'something was written'

# ---- questions ----------------------------------------------------------------------------------

say "Opened again, and asked"
run 'debian_packages questions packages.joedb'

# ---- history ------------------------------------------------------------------------------------

# bash and hello are in every Debian; if not, two other packages do as well.
{ read -r first && read -r second; } < <(sed -n 's/^Package: //p' index || true) || fail 'the index is too short'
grown=$(grep -qx 'Package: bash' index && echo bash || echo "$first")
gone=$(grep -qx 'Package: hello' index && echo hello || echo "$second")

say "The index changes: $grown grows, $gone goes. Only this is appended to the journal"
run "sed '/^Package: $grown\$/,/^\$/ s/^Installed-Size: .*/Installed-Size: 999999/
     /^Package: $gone\$/,/^\$/ d' index >changed"
run 'debian_packages load packages.joedb <changed'
old_entries=$(entries_of before.joedb)
new_entries=$(($(entries_of packages.joedb) - old_entries))
[ "$new_entries" -gt 1 ] && [ "$new_entries" -lt 1000 ] || fail "$new_entries new entries"
run "joedb_logdump packages.joedb | tail -n +$old_entries"

say "Nothing is forgotten: the database as it was before"
run "joedb_push packages.joedb --until $(size_of before.joedb) file old.joedb 2>/dev/null"
run "debian_packages show old.joedb $gone"
if debian_packages show packages.joedb "$gone" 2>/dev/null | grep '^Version' >/dev/null; then
  fail "$gone is still there"
fi

# ---- a killed writer ----------------------------------------------------------------------------

# Starts a writer, and kills it in the middle of a transaction.
kill_a_writer() {
  debian_packages slow-writer packages.joedb >said &
  writer=$!
  local line checkpoints=0
  # Whatever happens to the writer, this ends.
  while IFS= read -r -t 20 line; do
    case "$line" in
      *'are safe') checkpoints=$((checkpoints + 1)) ;;
      *'dependency 5 of 10 written') if [ "$checkpoints" -ge 10 ]; then break; fi ;;
    esac
  done < <(tail -f --pid="$writer" -n +1 said 2>/dev/null || true)
  kill -KILL "$writer"
  wait "$writer" 2>/dev/null || true
  writer=
  [ "$checkpoints" -ge 10 ] || fail 'the writer made no progress'
}

say "A writer is killed in the middle of a transaction"
echo "${bold}\$ debian_packages slow-writer packages.joedb & sleep 1; kill -KILL \$!$plain"
for _ in 1 2 3 4 5; do
  kill_a_writer
  safe=$(grep 'are safe$' said | tail -n 1)
  safe_checkpoint=$(sed 's/.*checkpoint \([0-9]*\),.*/\1/' <<<"$safe")
  safe_versions=$(sed 's/.* \([0-9]*\) versions.*/\1/' <<<"$safe")
  if [ "$(size_of packages.joedb)" -gt "$safe_checkpoint" ]; then break; fi
done
echo '...'
tail -n 7 said
[ "$(size_of packages.joedb)" -gt "$safe_checkpoint" ] || fail 'the writer left no half transaction'

say "Its last transaction is in the file, but only half: joedb refuses to write behind it"
if run 'debian_packages load packages.joedb <changed' 2>refusal; then
  fail 'the damaged file was opened'
fi
cat refusal
grep -q "Checkpoint ([0-9]*) is smaller than file size ($(size_of packages.joedb))" refusal ||
  fail 'that is not the expected refusal'
run 'joedb_logdump --header packages.joedb'

say "The repair: a copy up to the last checkpoint"
run 'joedb_push packages.joedb file fixed.joedb 2>/dev/null'
run 'debian_packages count fixed.joedb'
fixed_versions=$(debian_packages count fixed.joedb | sed -n 's/ versions$//p')
[ "$fixed_versions" -ge "$safe_versions" ] && [ "$(size_of fixed.joedb)" -ge "$safe_checkpoint" ] ||
  fail "$safe_versions versions were safe, $fixed_versions are left"
echo "The writer was told that $safe_versions versions are safe: $fixed_versions are there."
run 'debian_packages load fixed.joedb <changed'

# ---- speed --------------------------------------------------------------------------------------

say "Ten million rows, beside SQLite"
cd "$root"
programs=$(dirname "$(command -v joedb_benchmark)")
run "benchmarks/run insert --rounds 1 --only joedb --only SQLite --check --programs ${programs#"$root/"}"

say "Everything was as expected."
