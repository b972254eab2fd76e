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

for program in debian_packages joedb joedb_benchmark sqlite_benchmark; do
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
export PAGER=cat # everything is shown at once

say() { printf '\n%s== %s%s\n' "$bold" "$*" "$plain"; }
show_command() { printf '%s$ %s%s\n' "$bold" "$1" "$plain"; }

# Shows a command as one would type it, then runs it.
run() {
  show_command "$1"
  bash -o pipefail -c "$1"
}

versions_in() { debian_packages count "$1" | sed -n 's/ versions$//p'; }
package_count() { grep -c '^Package: ' index || true; }

# ---- load, and a kill ---------------------------------------------------------------------------

say "The package index of this machine"
command -v apt-cache >/dev/null || fail 'this is not a Debian machine: there is no apt-cache'
run 'apt-cache dumpavail >index'
# A new machine knows only the packages that are installed.
if [ "$(package_count)" -lt 20000 ] && [ "$(id -u)" = 0 ]; then
  run 'apt-get update -qq && apt-cache dumpavail >index'
fi
[ "$(package_count)" -ge 20000 ] || fail 'the package index is not complete; try: sudo apt-get update'
echo "$(package_count) packages, $(stat --format %s index) bytes"

say "It is loaded into a database, and kill -9 comes in the middle"
show_command 'debian_packages follow packages.joedb <index & sleep 0.1; kill -9 $!'
# On a busy machine, the load may have ended before it is killed: then again.
for _ in 1 2 3 4 5; do
  rm -f packages.joedb
  : >said # before it is read
  debian_packages follow packages.joedb <index >>said 2>/dev/null &
  writer=$!
  # Whatever happens to the writer, this ends.
  while IFS= read -r -t 20 line; do
    if [ "${line%% *}" -ge 10000 ]; then break; fi
  done < <(tail -f --sleep-interval 0.01 --pid="$writer" -n +1 said 2>/dev/null || true)
  kill -KILL "$writer" 2>/dev/null || true
  status=0
  wait "$writer" 2>/dev/null || status=$?
  writer=
  if [ "$status" = 137 ]; then break; fi
done
[ "$status" = 137 ] || fail 'the load has ended before it was killed'
tail -n 3 said
safe=$(sed -n 's/ versions are safe$//p' said | tail -n 1)
[ "${safe:-0}" -ge 10000 ] || fail 'the load made no progress'

say "Opened again: nothing that was acknowledged is missing"
run 'debian_packages count packages.joedb'
found=$(versions_in packages.joedb)
[ "$found" -ge "$safe" ] || fail "$safe versions were safe, $found are there"
[ "$found" -lt "$(package_count)" ] || fail 'the load was complete: nothing was killed'
echo "$safe versions were safe, $found are there."

say "The load goes on where it stopped; then it has nothing to write"
run 'debian_packages load packages.joedb <index'
run 'debian_packages load packages.joedb <index | head -n 1'
[ "$(versions_in packages.joedb)" -gt "$found" ] || fail 'the second load has added nothing'

say "Questions"
run 'debian_packages questions packages.joedb | head -n 8'

say "The same file, asked in SQL"
cp "$root/examples/debian/questions.sql" .
run 'joedb sql packages.joedb <questions.sql >answers; head -n 18 answers'
[ "$(grep -c '^-' answers)" = 30 ] || fail 'not all of the ten questions have an answer'

# ---- history ------------------------------------------------------------------------------------

# bash is in every Debian; if not, another package does as well.
name=$(grep -qx 'Package: bash' index && echo bash || sed -n '0,/^Package: /s/^Package: //p' index)
size_of_package() { debian_packages show packages.joedb "$@" | sed -n 's/^Installed-Size: //p' | head -n 1; }
before=$(date +%s)
sleep 1.1 # time stamps count seconds
old_size=$(size_of_package "$name")

# What a day brings: a package grows, one has a new version, one is gone, one is new.
next_day() {
  awk -v name="$name" -v RS= -v ORS='\n\n' '
    $2 == name { sub(/\nInstalled-Size: [0-9]+/, "\nInstalled-Size: 999999") }
    NR == 2000 { sub(/\nVersion: [^\n]+/, "&+b1") }
    NR != 3000 { print }
    END { print "Package: joedb\nVersion: 10\nArchitecture: amd64\nSection: database\n" \
                "Maintainer: Debian <debian@localhost>\nInstalled-Size: 8000\nDescription: never forgets" }'
}

say "The index of the next day"
next_day <index >changed
run 'debian_packages load packages.joedb <changed'
run "debian_packages show packages.joedb $name | grep -E '^(Version|Installed)'"
[ "$(size_of_package "$name")" = 999999 ] || fail "$name has not grown"

say "$name as it was before"
run "debian_packages show packages.joedb $name --at-time $before | grep -E '^(Version|Installed)'"
[ "$(size_of_package "$name" --at-time "$before")" = "$old_size" ] || fail 'the past has changed'

say "What is different from the day before"
day_before=$(date --date "@$before" '+%Y-%m-%d %H:%M:%S')
run "joedb diff --table version packages.joedb '$day_before' >difference"
run 'cut -c 1-98 difference'
grep -q "installed_size $old_size → 999999" difference || fail "the difference has not that $name has grown"
run "joedb diff --stat packages.joedb '$day_before'"

say "Who wrote it, and when"
row=$(debian_packages show packages.joedb "$name" | sed -n 's/^Record: version //p' | head -n 1)
run "joedb log --table version --record $row packages.joedb >history; cat history"
[ "$(wc -l <history)" = 2 ] || fail 'the history is not complete'
run "joedb blame packages.joedb version $row installed_size"

# ---- speed --------------------------------------------------------------------------------------

rows=2000000
say "$rows rows inserted, one durable commit, beside SQLite"
programs=$(dirname "$(command -v joedb_benchmark)")
figures=$folder/figures.json
cd "$root"
compare=(benchmarks/run insert --rows "$rows" --rounds 1 --only joedb --only SQLite)
show_command "${compare[*]}"
"${compare[@]}" --programs "$programs" --json "$figures" 2>/dev/null | sed '/^$/d; /^goal/,$d' |
  sed -E '2,$s/^(.{16}).{58}/\1/'
python3 - "$figures" <<'END' || fail 'the comparison has no figures, or joedb is slower'
import json, sys
times = {r['name']: r['median'] for r in json.load(open(sys.argv[1]))['results']}
joedb, sqlite = times['joedb, one by one'], times['SQLite, prepared statement']
print(f'SQLite takes {sqlite / joedb:.0f} times as long as joedb.')
sys.exit(not 0 < joedb < sqlite)
END

say "Everything was as expected."
