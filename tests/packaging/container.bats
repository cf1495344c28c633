#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Containers: real podman and runc, started with the CDI specification that `cuda-trace enable --cdi`
# writes, on a Debian root; traced from the host. /etc and /usr/local of the machine stay untouched:
# podman runs in a mount namespace with copies. `make check-packages` runs this file.

load ../lib/helpers
load ../lib/roots

setup_file() {
	[ "$(id -u)" = 0 ] && command -v podman debootstrap >/dev/null || return 0
	new_root bookworm "$BATS_FILE_TMPDIR/image"
	mkdir -p "$BATS_FILE_TMPDIR/image/opt/sim"
	cp -a "$B/simcuda/." "$BATS_FILE_TMPDIR/image/opt/sim"
	cp "$WORKLOADS/launch-storm" "$BATS_FILE_TMPDIR/image/opt/sim/$(program)"
}

# A name of its own, since the tool filters by it and sees the whole machine.
program() {
	echo "cdi-$((BATS_ROOT_PID % 100000))"
}

setup() {
	requires root bpf podman runc debootstrap
	IMAGE=$BATS_FILE_TMPDIR/image
}

# The machine as the container engine sees it: with a specification, and with a toolkit's libcupti.
cat_engine() {
	cat <<-'END'
		set -eu
		cp -a /etc "$1/etc"
		mount --bind "$1/etc" /etc
		mount -t tmpfs tmpfs /usr/local
		mkdir -p /usr/local/cuda-13.0/extras/CUPTI/lib64
		cp "$B/simcuda/libcupti.so.13" /usr/local/cuda-13.0/extras/CUPTI/lib64/
		"$CUDA_TRACE" enable --cdi >&2
		dir=$1
		shift
		exec podman --root "$dir/storage" --runroot "$dir/run" --cgroup-manager=cgroupfs \
			--events-backend=none --log-level=error --runtime runc run --rm --network=none \
			--ulimit nofile=1024:1024 --ulimit nproc=1000:1000 "$@"
	END
}

# container ARGS of podman run...
container() {
	mkdir -p "$BATS_TEST_TMPDIR/engine"
	CUDA_TRACE=$CUDA_TRACE timeout 60 unshare --mount bash -c "$(cat_engine)" engine \
		"$BATS_TEST_TMPDIR/engine" "$@"
}

# Runs the program in a container with these devices under `stat`, which is there before it.
watched() {
	local out=$BATS_TEST_TMPDIR
	start stat "$CUDA_TRACE" stat --json -o "$out/stat.json" -c "$(program)" -d 30
	sleep 1
	container "$@" -e LD_LIBRARY_PATH=/opt/sim --rootfs "$IMAGE" "/opt/sim/$(program)" -n 2000 \
		>"$out/program" 2>"$out/engine.err" || { cat "$out/engine.err"; return 1; }
	sleep 0.5
	kill -INT "$stat_PID"
	finished "$stat_PID"
	cat "$out/stat.err"
	[ "$status" = 0 ]
}

@test "container (without --device) has no library and is not traced" {
	watched
	[ "$(jq .totals.launches "$BATS_TEST_TMPDIR/stat.json")" = 0 ]
}

@test "container (--device cuda-trace/load=guest) is traced from the host, every launch and kernel" {
	watched --device cuda-trace/load=guest
	launches=$(expect_key "$BATS_TEST_TMPDIR/program" launches)
	[ "$launches" -gt 0 ]
	assert_equal "$(jq .totals.launches "$BATS_TEST_TMPDIR/stat.json")" "$launches"
	assert_equal "$(jq .totals.kernels "$BATS_TEST_TMPDIR/stat.json")" "$(expect_key "$BATS_TEST_TMPDIR/program" kernels)"
	assert_equal "$(jq .lost.total "$BATS_TEST_TMPDIR/stat.json")" 0
}

# consumer: podman (CDI) | itself | a device that loads the library and libcupti
@test "container (image without libcupti) gets GPU times by --device cuda-trace/load=cupti" {
	find "$IMAGE/opt/sim" -name 'libcupti*' -delete
	watched --device cuda-trace/load=guest
	assert_equal "$(jq .totals.kernels "$BATS_TEST_TMPDIR/stat.json")" 0
	watched --device cuda-trace/load=guest --device cuda-trace/load=cupti
	assert_equal "$(jq .totals.kernels "$BATS_TEST_TMPDIR/stat.json")" "$(expect_key "$BATS_TEST_TMPDIR/program" kernels)"
}

# The tool and its libraries, where an image of its packages would have them.
with_tool() {
	cp -a "$IMAGE" "$1"
	cp -a "$ROOT/usr/." "$1/usr"
	mkdir -p "$1/opt/libraries"
	ldd "$CUDA_TRACE" | awk '/=> \// && $1 !~ /^lib(c|m|dl|pthread)\.so/ {print $3}' | xargs -I{} cp -L {} "$1/opt/libraries"
}

# As a DaemonSet's pod runs, with the capabilities that docs/guide/fleet.md names, and without a filter, as Kubernetes
# has it where nobody asks for one. The program's container has the engine's filter and no library.
@test "container (with the engine's filter, no library) is attached to by an exporter in another container" {
	local capabilities
	capabilities=$(sed -n "s/.*--set 'capabilities={\(.*,DAC_OVERRIDE\)}'.*/\1/p" "$TOP/docs/guide/fleet.md")
	[ -n "$capabilities" ]
	cp "$B"/simcuda/libcupti* "$IMAGE/opt/sim"
	with_tool "$BATS_TEST_TMPDIR/tool"
	export CUDA_TRACE
	cd "$BATS_TEST_TMPDIR"
	start program bash -c "$(declare -f container cat_engine); container --name program -e LD_LIBRARY_PATH=/opt/sim \
		--rootfs '$IMAGE' '/opt/sim/$(program)' -s 40 -p 1000"
	wait_for 30 pgrep -x "$(program)" || { cat program.err; false; }
	assert_equal "$(awk '/^Seccomp:/ {print $2}' "/proc/$(pgrep -x "$(program)")/status")" 2
	mkdir "$BATS_TEST_TMPDIR/second"
	BATS_TEST_TMPDIR=$BATS_TEST_TMPDIR/second container --pid=host --cap-drop=all --cap-add="$capabilities" --read-only \
		--security-opt=seccomp=unconfined --security-opt=no-new-privileges -e LD_LIBRARY_PATH=/opt/libraries \
		--rootfs "$BATS_TEST_TMPDIR/tool" cuda-trace metrics -v --attach --textfile - -d 12s >m.prom 2>m.err || { cat m.err; false; }
	# The other tests' programs have this name, too.
	pkill -x "$(program)"
	finished "$program_PID"
	awk -v name="comm=\"$(program)\"" '/^cuda_kernel_duration_seconds_sum.*container_id="[0-9a-f]+"/ && index($0, name) && $NF > 0 {found++}
		END {exit !found}' m.prom || { cat m.err; grep duration m.prom; false; }
}

# Engines differ in where a container's control group lies, not in its name.
@test "rows (program in a control group named as engines name them) show the container" {
	local groups id group shown
	groups=$(findmnt -nt cgroup2 -o TARGET | head -n 1)
	id=$(printf '%064x' $$)
	[ -n "$groups" ] || skip "needs control groups (version 2)"
	for group in "docker-$id.scope" "cri-containerd-$id.scope" "libpod-$id.scope" "$id" \
		'machine-box\x2d'$$.scope "systemd-nspawn@box-$$.service" "lxc.payload.box-$$" "box-$$.scope"; do
		GROUPS_MADE=$groups/$group
		mkdir "$GROUPS_MADE" 2>/dev/null || skip "no control groups can be made here"
		run -0 timeout 60 "$CUDA_TRACE" stat --json -o "$BATS_TEST_TMPDIR/json" -- \
			sh -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' sh "$GROUPS_MADE" "$SIM" "$WORKLOADS/saxpy"
		rmdir "$GROUPS_MADE"
		case $group in
		*"$id"*) shown=${id:0:12} ;;
		box-*) shown= ;;
		*) shown=box-$$ ;;
		esac
		assert_equal "$(jq -r '.processes[] | select(.launches > 0) | .container' "$BATS_TEST_TMPDIR/json")" "$shown"
	done
}

# The library is built here, with a glibc from which what it is built with does not load into programs
# of this image.
@test "container (image of Debian 11, whose C library is older) is traced, every launch and kernel" {
	IMAGE=$BATS_TEST_TMPDIR/old
	new_root bullseye "$IMAGE"
	"$TOP/mk/export" "$IMAGE/src"
	in_root "$IMAGE" '
		apt-get -qq install -y --no-install-recommends gcc libc6-dev make >/dev/null
		cd /src
		make -s -j2 B=/opt/build /opt/build/simcuda/libcupti.so.13 /opt/build/workloads/launch-storm
		[[ $(ldd --version) == *" 2.31"* ]]
		mkdir -p /opt/sim
		cp -a /opt/build/simcuda/. /opt/sim
		mv /opt/build/workloads/launch-storm "/opt/sim/$1"
	' "$(program)"
	watched --device cuda-trace/load=guest
	assert_equal "$(jq .totals.launches "$BATS_TEST_TMPDIR/stat.json")" "$(expect_key "$BATS_TEST_TMPDIR/program" launches)"
	assert_equal "$(jq .totals.kernels "$BATS_TEST_TMPDIR/stat.json")" "$(expect_key "$BATS_TEST_TMPDIR/program" kernels)"
}

@test "libraries (built here) ask for no function of a glibc newer than 2.17" {
	local library
	for library in "$AGENT" "${AGENT%.so}-nvtx.so"; do
		run -0 bash -c 'objdump -T "$1" | grep -o "GLIBC_[0-9.]*" | sort -uV | tail -n 1' sh "$library"
		assert_output GLIBC_2.17
	done
}
