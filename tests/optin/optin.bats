#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Opting in: profile scripts in every shell, and the commands enable, disable, status.

load ../lib/helpers
load ../lib/cost

# The installed scripts, looking for the files of this test instead of the system's: they name
# absolute paths, which this run must neither have nor touch.
setup() {
	export HOME=$BATS_TEST_TMPDIR/home ETC=$BATS_TEST_TMPDIR/etc
	mkdir -p "$HOME" "$ETC/cuda-trace"
	unset XDG_CONFIG_HOME
	export SHELL=/bin/bash
	AGENT_DIR=$(dirname "$AGENT")
	SCRIPTS=$BATS_TEST_TMPDIR/scripts
	mkdir "$SCRIPTS"
	local file name
	for name in etc/profile.d/cuda-trace.sh etc/profile.d/cuda-trace.csh etc/csh/login.d/cuda-trace.csh \
		usr/share/fish/vendor_conf.d/cuda-trace.fish; do
		for file in "$ROOT/$name" "/$name"; do
			[ -e "$file" ] || continue
			sed "s,/etc/cuda-trace/,$ETC/cuda-trace/,g; s,/usr/lib/$TRIPLET/cuda-trace/,$AGENT_DIR/,g" \
				"$file" >"$SCRIPTS/cuda-trace.${file##*.}"
			break
		done
	done
}

teardown() {
	stop_started
	[ -z "${OPEN-}" ] || rm -rf "$OPEN"
}

opt_in() {
	mkdir -p "$HOME/.config/cuda-trace"
	touch "$HOME/.config/cuda-trace/enabled"
}

opt_out() {
	mkdir -p "$HOME/.config/cuda-trace"
	touch "$HOME/.config/cuda-trace/disabled"
}

# login SHELL: what CUDA_INJECTION64_PATH is after the script, "unset" if it is not. Any word on
# stderr and any failure fails the test.
login() {
	local program='echo "value=${CUDA_INJECTION64_PATH-unset}"' out
	case $1 in
	csh | tcsh)
		out=$("$1" -fc "source $SCRIPTS/cuda-trace.csh; printenv CUDA_INJECTION64_PATH || echo unset" 2>&1) || true
		out="value=$out"
		;;
	fish)
		out=$(fish --no-config -c "source $SCRIPTS/cuda-trace.fish; or exit 9
			if set -q CUDA_INJECTION64_PATH; echo value=(printenv CUDA_INJECTION64_PATH); else; echo value=unset; end" 2>&1)
		;;
	zsh) out=$(zsh -f -euc ". $SCRIPTS/cuda-trace.sh; $program" 2>&1) ;;
	*) out=$("$1" -euc ". $SCRIPTS/cuda-trace.sh; $program" 2>&1) ;;
	esac
	echo "$1: ${out#value=}"
}

SHELLS="sh dash bash zsh csh tcsh fish"

# everywhere VALUE: so it is in every shell.
everywhere() {
	local shell
	requires $SHELLS
	for shell in $SHELLS; do
		run -0 login "$shell"
		assert_output "$shell: $1"
	done
}

@test "profile scripts (nobody opted in) set nothing" {
	everywhere unset
}

@test "profile scripts (user opted in) set the library's bare name" {
	opt_in
	everywhere libcupti-usdt.so
}

@test "profile scripts (system opted in) set it, but not for a user who opted out" {
	touch "$ETC/cuda-trace/enabled"
	everywhere libcupti-usdt.so
	opt_out
	everywhere unset
}

@test "profile scripts (opted in, CUDA_TRACE=off) set nothing" {
	opt_in
	export CUDA_TRACE=off
	everywhere unset
	export CUDA_TRACE=0
	everywhere unset
	export CUDA_TRACE=on
	everywhere libcupti-usdt.so
}

@test "profile scripts (opted in, variable set by somebody else) leave its value alone" {
	opt_in
	CUDA_INJECTION64_PATH=/opt/nsight/libToolsInjection64.so everywhere /opt/nsight/libToolsInjection64.so
}

@test "profile scripts (opted in, library not installed) set nothing" {
	opt_in
	sed -i "s,$AGENT_DIR/,/nonexistent/,g" "$SCRIPTS"/*
	everywhere unset
}

@test "profile script (no HOME, odd HOME) stays silent" {
	unset HOME
	run -0 env -u HOME dash -euc ". $SCRIPTS/cuda-trace.sh; echo fine"
	assert_output fine
	HOME='/tmp/a b*$(false)' run -0 dash -euc ". $SCRIPTS/cuda-trace.sh; echo fine"
	assert_output fine
}

@test "profile script (sourced) leaves no variable, function or option behind" {
	opt_in
	run -0 bash -c ". $SCRIPTS/cuda-trace.sh; before=\$(set; set +o; declare -F); . $SCRIPTS/cuda-trace.sh
		unset CUDA_INJECTION64_PATH; diff <(echo \"\$before\" | grep -v '^_=\|CUDA_INJ') <(set | grep -v '^before=\|^_=\|^PIPESTATUS\|CUDA_INJ' ; set +o; declare -F) | grep -c '^[<>] [a-z_]*cuda_trace' || true"
	assert_output 0
}

# One login's share, from 200 in one shell; the bound of 1 ms is 20 times what is usual.
@test "profile script (opted in) costs a login less than 1 ms and starts no program" {
	opt_in
	run -0 bash -c "start=\${EPOCHREALTIME/./}
		for ((i = 0; i < 200; i++)); do unset CUDA_INJECTION64_PATH; . $SCRIPTS/cuda-trace.sh; done
		echo \$(((\${EPOCHREALTIME/./} - start) / 200))"
	echo "# $output us" >&3
	[ "$output" -lt 1000 ]
	# Nothing can be started without a PATH: a program would be complained about.
	for shell in dash bash; do
		run -0 env PATH=/nonexistent "$(command -v $shell)" -euc ". $SCRIPTS/cuda-trace.sh"
		assert_output ""
	done
}

@test "enable, disable (user) write and remove what the profile scripts look for" {
	requires fish
	run -0 ct enable
	assert_output --partial "Enabled for this user"
	[ "$(login dash)" = "dash: libcupti-usdt.so" ]
	run -0 ct enable
	run -0 ct disable
	[ "$(login dash)" = "dash: unset" ]
	touch "$ETC/cuda-trace/enabled"
	[ "$(login dash)" = "dash: unset" ]
	run -0 ct enable
	[ "$(login dash)" = "dash: libcupti-usdt.so" ]
}

@test "enable (home that cannot be written) says so, exits 1" {
	requires root setpriv
	chmod 755 "$BATS_TEST_TMPDIR" "$HOME"
	rm -rf "$HOME/.config"
	mkdir -m 700 "$HOME/.config"
	run -1 --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$HOME" "$CUDA_TRACE" enable
	[ "${#stderr_lines[@]}" -ge 1 ]
	[ ! -e "$HOME/.config/cuda-trace" ]
}

@test "enable, disable (four at once) all succeed and leave nothing else behind" {
	local round i pids
	cd "$BATS_TEST_TMPDIR"
	without "$CUDA_TRACE" enable
	"$CUDA_TRACE" disable >/dev/null
	# shellcheck disable=SC2016 # for the inner shell
	attacked bash -c 'for i in 1 2 3 4; do "$0" enable & pids+=($!); done
		for i in "${pids[@]}"; do wait $i || exit 1; done' "$CUDA_TRACE"
	"$CUDA_TRACE" disable >/dev/null
	rm "$HOME/.config/cuda-trace/disabled"
	for round in {1..12}; do
		pids=()
		for i in 1 2 3 4; do
			ct enable >"$BATS_TEST_TMPDIR/out$i" 2>&1 &
			pids+=($!)
		done
		for i in "${pids[@]}"; do
			wait "$i" || fail "$(cat "$BATS_TEST_TMPDIR"/out?)"
		done
		[ "$(ls -A "$HOME/.config/cuda-trace")" = enabled ]
		ct disable >/dev/null
		rm "$HOME/.config/cuda-trace/disabled"
	done
}

@test "enable (root, another user's link or folder on the way) writes nothing, says why" {
	requires root setpriv
	other() {
		setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
	}
	OPEN=$(mktemp -d /tmp/cuda-trace-optin.XXXXXX)
	chmod 1777 "$OPEN"
	mkdir "$BATS_TEST_TMPDIR/victim"
	export HOME=$OPEN
	# A link beside a folder, a link in the folder, and the folder itself.
	other ln -s "$BATS_TEST_TMPDIR/victim" "$OPEN/.config"
	run -1 ct enable
	assert_output --partial "belongs to another user"
	other rm "$OPEN/.config"
	other mkdir -p "$OPEN/.config"
	other ln -s "$BATS_TEST_TMPDIR/victim" "$OPEN/.config/cuda-trace"
	run -1 ct enable
	run -1 ct disable
	other rm "$OPEN/.config/cuda-trace"
	other mkdir "$OPEN/.config/cuda-trace"
	other touch "$OPEN/.config/cuda-trace/enabled"
	run -1 ct disable
	[ -e "$OPEN/.config/cuda-trace/enabled" ]
	[ "$(ct status --json | jq -r .verdict)" = not_enabled ]
	[ -z "$(ls -A "$BATS_TEST_TMPDIR/victim")" ]
	# One's own links, and root's, are followed.
	other rm -r "$OPEN/.config"
	ln -s "$BATS_TEST_TMPDIR/victim" "$OPEN/.config"
	run -0 ct enable
	[ -e "$BATS_TEST_TMPDIR/victim/cuda-trace/enabled" ]
}

@test "status (each state) prints it, and --json agrees" {
	verdict() {
		ct status --json | jq -er .verdict
	}
	[ "$(verdict)" = not_enabled ]
	run -0 ct status
	assert_line --regexp '^user +not set$'
	# It promises of enable what enable does.
	if [ -r /etc/profile.d/cuda-trace.sh ]; then
		assert_line '`cuda-trace enable` changes that.'
	else
		assert_line '`cuda-trace enable` changes that once /etc/profile.d/cuda-trace.sh is installed.'
	fi
	ct enable
	# Says nothing of a login that no script of ours takes part in, or of a file that is not there.
	if [ -r /etc/profile.d/cuda-trace.sh ]; then
		[ "$(verdict)" = next_login ]
	else
		[ "$(verdict)" = no_login_script ]
	fi
	if ldconfig -p | grep -q libcupti-usdt.so; then
		[ "$(CUDA_INJECTION64_PATH=libcupti-usdt.so verdict)" = loaded ]
	else
		[ "$(CUDA_INJECTION64_PATH=libcupti-usdt.so verdict)" = not_found ]
	fi
	[ "$(CUDA_INJECTION64_PATH=$AGENT verdict)" = loaded ]
	[ "$(CUDA_INJECTION64_PATH=/no/such/libcupti-usdt.so verdict)" = not_found ]
	[ "$(CUDA_INJECTION64_PATH=/x/other.so verdict)" = other ]
	ct disable
	[ "$(verdict)" = not_enabled ]
	run -0 env CUDA_TRACE=off "$CUDA_TRACE" status --json
	[ "$(jq -r .verdict <<<"$output")" = off ]
}

@test "status (hostile value of the variable) shows it escaped" {
	run -0 env CUDA_INJECTION64_PATH=$'/x/\e[31m\n.so' "$CUDA_TRACE" status
	refute_output --partial $'\e'
	run -0 env CUDA_INJECTION64_PATH=$'/x/\e[31m\n.so' "$CUDA_TRACE" status --json
	[ "$(jq -r .injection <<<"$output")" = $'/x/\e[31m\n.so' ]
}

# A system image with the library in it, which the loader's cache does not know.
make_image() {
	IMAGE=$BATS_TEST_TMPDIR/image
	mkdir -p "$IMAGE/etc" "$IMAGE/usr/lib/$TRIPLET/cuda-trace"
	cp "$AGENT" "$IMAGE/usr/lib/$TRIPLET/cuda-trace/"
}

@test "enable --system --root (an image) writes below it only, disable takes it back" {
	make_image
	run -0 ct enable --system --root "$IMAGE"
	[ -s "$IMAGE/etc/cuda-trace/enabled" ]
	[ "$(stat -c %a "$IMAGE/etc/cuda-trace/enabled")" = 644 ]
	run -0 ct disable --system --root "$IMAGE"
	[ ! -e "$IMAGE/etc/cuda-trace" ]
}

@test "enable --root (an image whose /etc leads out of it) does not follow it out" {
	make_image
	mkdir "$BATS_TEST_TMPDIR/victim"
	rmdir "$IMAGE/etc"
	ln -s "$BATS_TEST_TMPDIR/victim" "$IMAGE/etc"
	run ct enable --system --root "$IMAGE"
	[ -z "$(ls -A "$BATS_TEST_TMPDIR/victim")" ]
	rm "$IMAGE/etc"
	ln -s ../../../../../../victim "$IMAGE/etc"
	run ct enable --cdi --root "$IMAGE"
	[ -z "$(ls -A "$BATS_TEST_TMPDIR/victim")" ]
}

make_unit() {
	mkdir -p "$IMAGE/etc/systemd/system"
	printf '[Service]\nExecStart=/bin/true\n' >"$IMAGE/etc/systemd/system/$1"
}

@test "enable --service (no such unit, systemd does not run) refuses and writes nothing" {
	make_image
	run -1 ct enable --service nowhere --root "$IMAGE"
	assert_output --partial 'there is no unit nowhere.service (no unit file of that name in'
	run -1 ct enable --service worker@1 --root "$IMAGE"
	[ ! -e "$IMAGE/etc/systemd" ]
	# Instances are made from templates, and scripts in init.d become units.
	make_unit worker@.service
	run -0 ct enable --service worker@1 --root "$IMAGE"
	mkdir "$IMAGE/etc/init.d"
	: >"$IMAGE/etc/init.d/old"
	run -0 ct enable --service old --root "$IMAGE"
	# This machine's own, if systemd does not run here.
	run -1 ct enable --service no-such-unit-at-all
	assert_output --partial 'there is no unit no-such-unit-at-all.service'
	[ ! -e /etc/systemd/system/no-such-unit-at-all.service.d ]
}

@test "enable (the login script is installed) says how to opt in this shell, too; --root (an image) does not" {
	requires root
	login_script() {
		unshare --mount bash -c 'mount -t tmpfs tmpfs /etc/profile.d && touch /etc/profile.d/cuda-trace.sh && exec "$@"' sh \
			"$CUDA_TRACE" "$@" 2>/dev/null
	}
	run -0 login_script enable
	assert_output "Enabled for this user: CUDA programs load the library from the next login on; in this shell:
  . /etc/profile.d/cuda-trace.sh"
	make_image
	run -0 login_script enable --system --root "$IMAGE"
	assert_line --index 0 'Enabled for all users: CUDA programs load the library from the next login on.'
}

@test "enable (no login script is installed) does not promise that a login will notice" {
	[ ! -e /etc/profile.d/cuda-trace.sh ] || skip "the login script is installed"
	run -0 ct enable
	assert_line 'Enabled for this user, but without effect so far: no login shell reads it.'
	refute_output --partial 'from the next login on'
}

@test "enable --service --root writes a drop-in with the whole path, where the loader knows none" {
	make_image
	make_unit jupyterhub.service
	run -0 ct enable --service jupyterhub --root "$IMAGE"
	dropin=$IMAGE/etc/systemd/system/jupyterhub.service.d/cuda-trace.conf
	grep -qx "Environment=CUDA_INJECTION64_PATH=/usr/lib/$TRIPLET/cuda-trace/libcupti-usdt.so" "$dropin"
	# systemd's own reading of it, where it is installed.
	if command -v systemd-analyze >/dev/null; then
		run systemd-analyze --root "$IMAGE" cat-config systemd/system/jupyterhub.service
		assert_output --partial "CUDA_INJECTION64_PATH=/usr/lib"
	fi
	run -0 ct disable --service jupyterhub.service --root "$IMAGE"
	[ ! -e "${dropin%/*}" ]
}

@test "enable --service (a drop-in of somebody else's) leaves it alone, exits 1" {
	make_image
	make_unit x.service
	mkdir -p "$IMAGE/etc/systemd/system/x.service.d"
	echo "[Service]" >"$IMAGE/etc/systemd/system/x.service.d/cuda-trace.conf"
	run -1 ct enable --service x --root "$IMAGE"
	assert_output --partial "not written by cuda-trace"
	run -1 ct disable --service x --root "$IMAGE"
	[ "$(cat "$IMAGE/etc/systemd/system/x.service.d/cuda-trace.conf")" = "[Service]" ]
}

@test "enable --service (names that are none) exits 2 and writes nothing" {
	make_image
	for name in '' '../x' 'a b' $'a\nb' 'x.socket' '.service' "$(printf 'x%.0s' {1..300})"; do
		run -2 ct enable --service "$name" --root "$IMAGE"
		run -2 ct disable --service "$name" --root "$IMAGE"
	done
	[ ! -e "$IMAGE/etc/systemd" ]
}

@test "enable --cdi writes a specification of the library and of this machine's libcupti" {
	requires python3
	python3 -c 'import yaml' 2>/dev/null || skip "needs python3-yaml"
	make_image
	mkdir -p "$IMAGE/usr/local/cuda-13.0/extras/CUPTI/lib64"
	cp "$B/simcuda/libcupti.so.13" "$IMAGE/usr/local/cuda-13.0/extras/CUPTI/lib64/"
	run -0 ct enable --cdi --root "$IMAGE"
	python3 - "$IMAGE/etc/cdi/cuda-trace.yaml" <<-'END'
		import sys, yaml
		spec = yaml.safe_load(open(sys.argv[1]))
		assert spec["cdiVersion"] == "0.3.0" and spec["kind"] == "cuda-trace/load"
		devices = {d["name"]: d["containerEdits"] for d in spec["devices"]}
		assert devices["guest"]["env"] == ["CUDA_INJECTION64_PATH=/usr/lib/cuda-trace/libcupti-usdt.so"]
		mount, = devices["guest"]["mounts"]
		assert mount["containerPath"] == "/usr/lib/cuda-trace/libcupti-usdt.so"
		assert mount["hostPath"].endswith("/cuda-trace/libcupti-usdt.so") and "ro" in mount["options"]
		mount, = devices["cupti"]["mounts"]
		assert mount["containerPath"] == "/usr/lib/cuda-trace/cupti/13/libcupti.so.13", mount
		assert mount["hostPath"] == "/usr/local/cuda-13.0/extras/CUPTI/lib64/libcupti.so.13", mount
	END
	run -0 ct disable --cdi --root "$IMAGE"
	[ ! -e "$IMAGE/etc/cdi" ]
}

@test "enable --howto (each topic) is short text that names the variable or the device" {
	for topic in slurm cron docker kubernetes desktop zsh; do
		run -0 ct enable --howto $topic
		assert_output --regexp 'libcupti-usdt.so|cuda-trace.sh'
	done
	run -2 ct enable --howto nonsense
	assert_output --partial slurm
}

@test "enable (options that exclude each other) is a mistake" {
	run -2 ct enable --system --cdi
	run -2 ct enable --root /tmp
	run -2 ct enable surplus
	run -2 ct disable --howto cron
}

@test "program (library injected by hand, CUDA_TRACE=off) runs with an idle library" {
	requires sim
	CUDA_INJECTION64_PATH=$AGENT CUDA_TRACE=off run -0 sim "$WORKLOADS/saxpy"
	assert_line --index -1 --regexp '^expect '
}

# A driver that is found without any variable, since the loader drops those of such programs: by its
# cache, in a mount namespace of the test's own.
@test "program (set-user-ID, or with file capabilities) runs, and the library in it stays inert" {
	requires root sim unshare setcap
	local dir kind
	# Where another user can go.
	dir=$(mktemp -d /tmp/cuda-trace-optin.XXXXXX)
	OPEN=$dir
	chmod 755 "$dir"
	cp "$WORKLOADS/launch-storm" "$dir/plain"
	cp "$WORKLOADS/launch-storm" "$dir/setuid"
	cp "$WORKLOADS/launch-storm" "$dir/capable"
	chown 65534 "$dir/setuid"
	chmod 4755 "$dir/setuid"
	setcap cap_net_raw=ep "$dir/capable"
	cp -rL "$B/simcuda" "$dir/sim"
	cp "$AGENT" "$dir/libcupti-usdt.so"
	ldconfig -C "$dir/cache" -f /dev/null "$dir/sim"
	chmod -R a+rX "$dir/sim" "$dir/libcupti-usdt.so"
	threads() { cat "/proc/$1/task"/*/comm; }
	for kind in plain setuid capable; do
		start "$kind" unshare --mount sh -c 'mount --bind "$1/cache" /etc/ld.so.cache &&
			CUPTI_USDT_START=1 CUDA_INJECTION64_PATH=$1/libcupti-usdt.so exec setpriv --reuid=65533 --regid=65533 --clear-groups \
			"$1/$2" --seconds 60 --pause 1000' sh "$dir" "$kind"
		local pid=${kind}_PID
		wait_for 20 grep -qs libcupti-usdt "/proc/${!pid}/maps"
		if [ "$kind" = plain ]; then
			wait_for 20 eval "threads ${!pid} | grep -q cupti-usdt"
		else
			# It has made its launches by now, and nothing came along.
			wait_for 20 grep -q "libcuda\.so" "/proc/${!pid}/maps"
			sleep 1
			run threads "${!pid}"
			refute_output --partial cupti-usdt
			run grep -c "libcupti\.so" "/proc/${!pid}/maps"
			assert_output 0
		fi
		kill -0 "${!pid}"
		stop_started
	done
}
