#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace report --parquet: what independent readers find in the files, and what is never overwritten.

load ../lib/helpers

FEEDER=$B/tests/recording/store/feeder
HERE=$TOP/tests/columns
MODULES=$B/npm/node_modules

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

feed() {
	"$FEEDER" "$@" >feeder.out 2>&1 || { cat feeder.out; fail "feeder $*"; }
}

# needs duckdb|hyparquet
needs() {
	requires node
	case $1 in
	duckdb) [ -d "$MODULES/@duckdb/node-api" ] || skip "needs @duckdb/node-api (mk/npm-packages)" ;;
	hyparquet) [ -d "$MODULES/hyparquet-compressors" ] || skip "needs hyparquet (mk/npm-packages)" ;;
	esac
}

rows() {
	node "$HERE/parquet-rows.mjs" "$MODULES" "$@"
}

# same READER DB FOLDER TABLE...: the rows of each table, one for one.
same() {
	python3 "$HERE/sqlite-rows.py" "$2" "${@:4}" >expected
	# shellcheck disable=SC2046 # tables are words
	rows "$1" $(printf "$3/%s.parquet " "${@:4}") >found
	cmp expected found || { diff expected found | head -c 1000; fail "not the same"; }
	[ -s found ]
}

tables_of() {
	sqlite3 "$1" "SELECT name FROM sqlite_master WHERE type = 'table'"
}

# odd OUT: a recording with a table of what SQLite may hold.
odd() {
	feed -n 10 "$1"
	python3 - "$1" <<-'PY'
		import random, sqlite3, sys
		chance = random.Random(7)
		db = sqlite3.connect(sys.argv[1])
		db.execute("CREATE TABLE odd (whole INTEGER, real REAL, text TEXT, bytes BLOB, twice INTEGER, seldom INTEGER,"
		           " never INTEGER, one TEXT, word TEXT)")
		edges = [0, 1, -1, 2**63 - 1, -2**63, 2**53 + 1, None]
		reals = [0.0, -0.0, 0.1, 1e308, 5e-324, float("inf"), float("-inf"), None]
		for i in range(130000):
		    db.execute("INSERT INTO odd VALUES (?,?,?,?,?,?,?,?,?)", (
		        edges[i % 7] if i < 1000 else chance.getrandbits(62),
		        reals[i % 8] if i < 1000 else chance.random(),
		        ["", "ä€😀", "a\tb\n", "x" * 500, None][i % 5] if i < 1000 else "text %d" % i,
		        [b"", b"\0\xff", None][i % 3] if i % 2 else i.to_bytes(4, "big"),
		        i // 2 % 40, i if i % 1000 == 0 else None, None, "same", "word %d" % chance.randrange(40000)))
		db.commit()
	PY
}

# consumer: DuckDB | itself | every row of every table
@test "report --parquet (in DuckDB) has every row of every table" {
	needs duckdb
	requires python3 sqlite3
	feed -n 3000 -k 20 -p 3 r.db
	ct report --parquet out r.db
	assert_equal "$(tables_of r.db | sort)" \
		"$(cd out && ls | sed 's/\.parquet$//' | grep -vxE 'kernels|copies|calls|ranges' | sort)"
	# shellcheck disable=SC2046
	same duckdb r.db out $(tables_of r.db)
}

@test "report --parquet (in DuckDB: files with names) sums to what report sums to" {
	needs duckdb
	requires sqlite3
	feed -n 3000 -k 20 -p 3 r.db
	ct report --parquet out r.db
	rows sql "SELECT name, count(*), sum(duration) FROM 'out/kernels.parquet' GROUP BY 1 ORDER BY 1" >found
	ct report --json --kernels r.db | jq -sr 'sort_by(.kernel) | .[] | [.kernel, .kernels, .total_ns] | @tsv' >expected
	diff <(LC_ALL=C sort expected) <(LC_ALL=C sort found)
	[ "$(wc -l <found)" = 20 ]
	rows sql "SELECT kind, source, target, count(*), sum(bytes), sum(\"end\" - start) FROM 'out/copies.parquet'
		GROUP BY ALL ORDER BY ALL" >found
	sqlite3 -separator $'\t' r.db "SELECT o.label, s.label, t.label, count(*), sum(bytes), sum(end - start)
		FROM CUPTI_ACTIVITY_KIND_MEMCPY JOIN ENUM_CUDA_MEMCPY_OPER AS o ON o.id = copyKind
		JOIN ENUM_CUDA_MEM_KIND AS s ON s.id = srcKind JOIN ENUM_CUDA_MEM_KIND AS t ON t.id = dstKind
		GROUP BY 1, 2, 3 ORDER BY 1, 2, 3" >expected
	diff expected found
	rows sql "SELECT name, kernel, pid, tid, count(*), sum(duration), sum(returnValue) FROM 'out/calls.parquet'
		GROUP BY ALL" >found
	sqlite3 -separator $'\t' r.db "SELECT n.value, k.value, globalTid >> 24 & 0xffffff, globalTid & 0xffffff, count(*),
		sum(end - start), sum(returnValue) FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds AS n ON n.id = nameId
		LEFT JOIN StringIds AS k ON k.id = launchName GROUP BY 1, 2, 3, 4" >expected
	diff <(LC_ALL=C sort expected) <(LC_ALL=C sort found)
	rows sql "SELECT name, count(*), sum(duration) FROM 'out/ranges.parquet' GROUP BY ALL ORDER BY ALL" >found
	sqlite3 -separator $'\t' r.db "SELECT text, count(*), sum(end - start) FROM NVTX_EVENTS
		WHERE eventType IN (59, 60) GROUP BY 1 ORDER BY 1" >expected
	diff expected found
	[ -s found ]
}

@test "report --parquet (numbers from the edges, bytes, NULLs, in two readers) is exact" {
	needs duckdb
	needs hyparquet
	requires python3
	odd r.db
	ct report --parquet out r.db
	same hyparquet r.db out odd CUPTI_ACTIVITY_KIND_KERNEL StringIds PROCESSES
	same duckdb r.db out odd
	# Two groups of rows; of integers readers know the limits, which lets them skip groups.
	rows sql "SELECT num_values, stats_min_value, stats_max_value, stats_null_count FROM parquet_metadata('out/odd.parquet')
		WHERE path_in_schema = 'seldom'" >groups
	assert_equal "$(cat groups)" "$(printf '122880\t0\t122000\t122757\n7120\t123000\t129000\t7113')"
}

@test "report --parquet (values that are not what their column says) takes a type that has them all, and says so" {
	needs duckdb
	requires sqlite3
	feed -n 10 r.db
	sqlite3 r.db "CREATE TABLE mixed (number INTEGER, real INTEGER, large INTEGER, text INTEGER, none, broken TEXT);
		INSERT INTO mixed VALUES (1, 2, 9007199254740993, 1, 'a', 'fine'), (2, 0.5, 0.5, 'x', NULL, CAST(X'61ff62' AS TEXT));
		INSERT INTO StringIds VALUES (900, CAST(X'6bff' AS TEXT)); UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = 900"
	ct report --parquet out r.db 2>err
	assert_equal "$(rows sql "SELECT number, real, large, text, none, hex(broken) FROM 'out/mixed.parquet'")" \
		"$(printf '1\t2\t9007199254740993\t1\ta\t66696E65\n2\t0.5\t0.5\tx\t\t61FF62')"
	assert_equal "$(rows sql "SELECT DISTINCT name FROM 'out/kernels.parquet'")" 'k\xff'
	run cat err
	assert_line --partial 'mixed.parquet: column real has values of another type than its table says: all are doubles'
	assert_line --partial 'column large has values of another type than its table says: all are text'
	assert_line --partial 'column broken has values of another type than its table says: all are bytes'
	assert_line --partial 'StringIds.parquet: column value has'
	assert_equal "${#lines[@]}" 6
}

@test "report --parquet (tables with hostile names, views, virtual tables) stays in the folder" {
	requires sqlite3
	feed -n 10 r.db
	sqlite3 r.db 'CREATE TABLE "../escaped" (a); CREATE TABLE "KERNELS" (a); CREATE VIEW endless AS SELECT 1;
		CREATE TABLE "a'$'\033'']0;b" (a); CREATE VIRTUAL TABLE virtual USING fts4(a);
		CREATE TABLE "odd columns" (a); CREATE TABLE columns ("../x" INTEGER, "q""uote" INTEGER, "ä" TEXT)'
	mkdir deep
	ct report --parquet deep/out r.db 2>err
	assert [ ! -e deep/escaped.parquet ]
	assert [ -e deep/out/columns.parquet ]
	assert [ ! -e deep/out/endless.parquet ]
	assert_equal "$(ls deep)" out
	assert_equal "$(grep -c 'is not exported' err)" 5
	run grep -P '[\x00-\x08\x0b-\x1f\x7f]' err
	assert_failure
}

@test "report --parquet (a folder that is there) replaces only an older export" {
	feed -n 100 r.db
	mkdir empty mine
	ct report --parquet empty r.db
	[ -s empty/kernels.parquet ]
	# What the older one had and the new one has not, goes.
	cp empty/kernels.parquet empty/LEFT.parquet
	touch empty/kernels.parquet.0123456789abcdef
	feed -n 50 s.db
	ct report --parquet empty s.db
	assert [ ! -e empty/LEFT.parquet ]
	assert_equal "$(ls -A empty | grep -vc '\.parquet$')" 0
	echo precious >mine/notes.txt
	run ct report --parquet mine r.db
	assert_failure 1
	assert_output 'cuda-trace report: mine has a file that --parquet did not write, notes.txt: nothing is overwritten (name another folder)'
	assert_equal "$(ls mine)" notes.txt
	# Another program's.
	rm mine/notes.txt
	printf 'PAR1 of another program PAR1' >mine/kernels.parquet
	run ct report --parquet mine r.db
	assert_failure 1
	assert_equal "$(cat mine/kernels.parquet)" 'PAR1 of another program PAR1'
	# What a link leads to.
	rm mine/kernels.parquet
	cp empty/kernels.parquet kept
	ln -s ../kept mine/kernels.parquet
	run ct report --parquet mine r.db
	assert_failure 1
	run ct report --parquet r.db r.db
	assert_failure 1
	assert_output --partial 'cannot write r.db: Not a directory'
	run ct report --parquet - r.db
	assert_failure 2
	run ct report --parquet out --compare r.db s.db
	assert_failure 2
	assert [ ! -e out ]
}

@test "report --parquet (full disk, read-only folder, damaged recording) fails and leaves the older export" {
	requires root
	feed -n 20000 r.db
	mkdir small
	mount -t tmpfs -o size=400k none small || skip "cannot mount a tmpfs"
	feed -n 10 s.db
	ct report --parquet small/out s.db
	(cd small/out && sha256sum ./*) >before
	run ct report --parquet small/out r.db
	assert_failure 1
	assert_output 'cuda-trace report: cannot write small/out: No space left on device'
	(cd small/out && sha256sum ./*) | diff before -
	run ct report --parquet small/new r.db
	assert_failure 1
	assert_equal "$(ls small)" out
	mount -o remount,ro small
	run ct report --parquet small/out s.db
	assert_failure 1
	assert_output --partial 'Read-only'
	mount -o remount,rw small
	head -c 300000 r.db >cut.db
	run ct report --parquet small/out cut.db
	assert_failure 1
	(cd small/out && sha256sum ./*) | diff before -
	umount small
}

@test "report --parquet (bytes changed at random) gives an error or files, never a crash" {
	requires python3
	feed -n 300 r.db
	local i code
	for i in $(seq 1 25); do
		python3 "$TOP/tests/recording/store/damage.py" "$i" r.db bad.db
		rm -rf out
		code=0
		LIMIT=20 ct report --parquet out bad.db >out.txt 2>&1 || code=$?
		if [ "$code" -gt 1 ] || grep -q Sanitizer out.txt; then
			cat out.txt
			fail "variant $i ended with $code"
		fi
		[ "$code" = 0 ] || assert [ ! -e out ]
	done
}

@test "report --parquet (a million rows) takes 64 MiB, and shows how far it is on a terminal" {
	requires script sqlite3
	feed -n 1000000 -k 3000 r.db
	# All that it writes to of its own: heap, stacks, data.
	(ulimit -d 65536 && ct report --parquet out r.db)
	[ "$(stat -c %s out/kernels.parquet)" -gt 1000000 ]
	script -qec "'$CUDA_TRACE' report --parquet out r.db" /dev/null >terminal
	grep -qE $'\rreading r\\.db: [0-9,]+ rows ' terminal
	assert_equal "$(tail -c 4 terminal | od -An -c | tr -d ' ')" '\r033[K'
}

@test "runs and packed bits, columns, Thrift (unit) are as the formats say" {
	# shellcheck disable=SC2046
	cc -std=gnu11 -D_GNU_SOURCE -fsanitize=address,undefined -fno-sanitize-recover=all -I"$TOP" -o unit \
		"$HERE/unit_hybrid_runs.c" $(tool_sources hybrid_runs parquet_column byte_buffer thrift_compact array_grow)
	run ./unit
	assert_success
	assert_output fine
}
