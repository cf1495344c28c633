#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Pods, containers, jobs and units: what paths of control groups say, and what container engines answer. The engines
# are servers of the tests' own, of which one is made with Google's gRPC library.

load ../lib/helpers

ORIGIN=$B/tests/origin/origin
HERE=$TOP/tests/origin
ID=$(printf 'ab12%060d' 7)
OTHER=$(printf 'ab13%060d' 8)

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	chmod 755 .
	[ -x "$ORIGIN" ] || skip "needs the build folder"
	unset CONTAINER_RUNTIME_ENDPOINT DOCKER_HOST
}

# says PATH TEXT: of a control group alone.
says() {
	assert_equal "$1 → $("$ORIGIN" "$1")" "$1 → $2"
}

# cri [MODE]: a container runtime at ./cri.sock, which knows ./pods.
cri() {
	requires node
	[ -d "$B/npm/node_modules/@grpc/grpc-js" ] || skip "needs @grpc/grpc-js (mk/npm-packages)"
	touch pods
	start runtime node "$HERE/cri-server.js" "$B/npm/node_modules" "$PWD/cri.sock" pods "$@"
	wait_for 30 grep -qs listening runtime.out
}

# answers PATH TEXT ENV...: with what engines answer.
answers() {
	local path=$1 text=$2; shift 2
	assert_equal "$(env "$@" "$ORIGIN" -w "$path" 2>errors)" "$text" || { cat errors >&2; false; }
}

@test "paths (of Slurm) name job and step, where Slurm makes groups only" {
	says /system.slice/slurmstepd.scope/job_123/step_0/user/task_0 'slurm_job_id=123 slurm_step_id=0 [slurm:123.0]'
	says /system.slice/slurmstepd.scope/job_9/step_batch 'slurm_job_id=9 slurm_step_id=batch [slurm:9.batch]'
	says /system.slice/node7_slurmstepd.scope/job_9/step_extern/user 'slurm_job_id=9 slurm_step_id=extern [slurm:9.extern]'
	says /system.slice/slurmstepd.scope/job_9 'slurm_job_id=9 [slurm:9]'
	says /system.slice/slurmstepd.scope/system 'systemd_unit=slurmstepd.scope [slurmstepd.scope]'
	says /system.slice/slurmstepd.scope/job_9x/step_0 'systemd_unit=slurmstepd.scope [slurmstepd.scope]'
	says "/system.slice/slurmstepd.scope/job_$(printf '9%.0s' {1..30})/step_0" 'systemd_unit=slurmstepd.scope [slurmstepd.scope]'
	# A user's own.
	says /user.slice/user-1000.slice/user@1000.service/slurmstepd.scope/job_1/step_0 'systemd_unit=user@1000.service [user@1000.service]'
	says /user.slice/user-1000.slice/slurmstepd.scope/job_1/step_0 'systemd_unit=slurmstepd.scope [slurmstepd.scope]'
	says /job_1/step_0 '[]'
}

@test "paths (of systemd) name the unit" {
	says /system.slice/jupyter.service 'systemd_unit=jupyter.service [jupyter.service]'
	says /system.slice/system-trainer.slice/trainer@7.service/worker 'systemd_unit=trainer@7.service [trainer@7.service]'
	says /user.slice/user-1000.slice/session-3.scope 'systemd_unit=session-3.scope [session-3.scope]'
	says /user.slice/user-1000.slice/user@1000.service/app.slice/app-x.scope 'systemd_unit=user@1000.service [user@1000.service]'
	says /system.slice/_cgroup.service 'systemd_unit=cgroup.service [cgroup.service]'
	says '/system.slice/a\x2db.service' 'systemd_unit=a\x2db.service [a\x2db.service]'
	says / '[]'
	says /system.slice/.service '[]'
	says $'/system.slice/a\e[31m.service' '[]'
	says "/system.slice/$(printf 'x%.0s' {1..130}).service" '[]'
}

@test "paths (of containers) tell the engines that may know them, by the outermost id" {
	says "/kubepods.slice/kubepods-pod1.slice/cri-containerd-$ID.scope" 'ab1200:c []'
	says "/kubepods/besteffort/pod1/$ID" 'ab1200:cd []'
	says "/kubepods.slice/kubepods-pod1.slice/docker-$ID.scope" 'ab1200:cd []'
	says "/system.slice/docker-$ID.scope" 'ab1200:d []'
	says "/docker/$ID" 'ab1200:d []'
	says "/machine.slice/libpod-$ID.scope/container" 'ab1200:p []'
	says "/x/$ID" 'ab1200:cdp []'
	# Made inside: a container may make groups that are named as another container's.
	says "/kubepods.slice/kubepods-pod1.slice/cri-containerd-$ID.scope/cri-containerd-$OTHER.scope" 'ab1200:c []'
	says "/user.slice/user-1000.slice/user@1000.service/docker-$ID.scope" 'systemd_unit=user@1000.service [user@1000.service]'
	says "/x/docker-${ID:1}.scope" '[]'
	says "/x/docker-0$ID.scope" '[]'
	says "/x/docker-${ID^^}.scope" '[]'
	says "/x/evil-docker-$ID.scope" '[]'
	says "/x/docker-$ID.scope.d" '[]'
}

@test "Slurm's job (control groups version 1) comes from /proc, if the process is still the same" {
	requires root
	sleep 60 & echo $! >>started; local pid=$!
	as() {
		unshare --mount sh -c 'mount --bind groups "/proc/$1/cgroup" && exec "$2" -p "$1" "$3"' sh "$pid" "$ORIGIN" "$1"
	}
	printf '%s\n' 9:freezer:/slurm/uid_1000/job_77/step_3/task_0 3:cpu:/ 0::/system.slice/slurmd.service >groups
	assert_equal "$(as /system.slice/slurmd.service)" 'slurm_job_id=77 slurm_step_id=3 [slurm:77.3]'
	assert_equal "$(as /system.slice/other.service)" 'systemd_unit=other.service [other.service]'
	printf '%s\n' 9:freezer:/slurm_node1/uid_1000/job_78/step_batch/task_special >groups
	assert_equal "$(as '')" 'slurm_job_id=78 slurm_step_id=batch [slurm:78.batch]'
	printf '%s\n' 9:freezer:/user/slurm/uid_1000/job_78/step_0 9:memory:/slurm/job_78/step_0 >groups
	assert_equal "$(as '')" '[]'
	kill "$pid"
}

@test "a container runtime (gRPC) names pod, namespace and container, by the whole id" {
	cri
	printf '%s\n' "$OTHER wrong wrong wrong" "$ID team-a train-0 worker" >pods
	local endpoint=CONTAINER_RUNTIME_ENDPOINT=unix://$PWD/cri.sock
	answers "/kubepods/pod1/$ID" 'k8s_namespace_name=team-a k8s_pod_name=train-0 k8s_container_name=worker ab1200:cd [team-a/train-0/worker]' "$endpoint"
	answers "/kubepods/pod1/${ID%7}9" 'ab1200:cd []' "$endpoint"
	assert_equal "$(cat errors)" ""
	assert_equal "$(sed 1d runtime.out)" "$(printf '%s\n' "$ID" "${ID%7}9")"
}

@test "a container runtime (names that are none) is not believed" {
	cri
	printf '%s\n' "$ID team\"a "$'\e[31mred'" worker" "$OTHER ns $(printf 'p%.0s' {1..256}) $(printf 'c%.0s' {1..63})" >pods
	local endpoint=CONTAINER_RUNTIME_ENDPOINT=$PWD/cri.sock
	answers "/kubepods/pod1/$ID" 'k8s_container_name=worker ab1200:cd []' "$endpoint"
	answers "/kubepods/pod1/$OTHER" "k8s_namespace_name=ns k8s_container_name=$(printf 'c%.0s' {1..63}) ab1300:cd []" "$endpoint"
}

@test "a container runtime (at its usual place) is found" {
	requires root
	cri
	echo "$ID team-b serve-1 server" >pods
	# shellcheck disable=SC2016
	run -0 unshare --mount sh -c 'mount -t tmpfs none /run && mkdir /run/crio && touch /run/crio/crio.sock &&
		mount --bind cri.sock /run/crio/crio.sock && exec "$@"' sh "$ORIGIN" -w "/kubepods.slice/crio-$ID.scope"
	assert_output 'k8s_namespace_name=team-b k8s_pod_name=serve-1 k8s_container_name=server ab1200:c [team-b/serve-1/server]'
}

@test "a container runtime (hangs, refuses, answers too much, is another user's, is gone) gives no names, in bounded time" {
	requires root setpriv
	local began
	cri hang
	echo "$ID a b c" >pods
	began=$SECONDS
	answers "/kubepods/pod1/cri-containerd-$ID.scope" 'ab1200:c []' CONTAINER_RUNTIME_ENDPOINT="$PWD/cri.sock"
	[ $((SECONDS - began)) -lt 9 ]
	assert_equal "$(cat errors)" "cuda-trace: no names of containers from $PWD/cri.sock: it does not answer"
	stop_started; rm -f cri.sock
	cri refuse
	answers "/kubepods/pod1/cri-containerd-$ID.scope" 'ab1200:c []' CONTAINER_RUNTIME_ENDPOINT="$PWD/cri.sock"
	assert_equal "$(cat errors)" ""
	stop_started; rm -f cri.sock
	cri large
	echo "$ID a b c" >pods
	answers "/kubepods/pod1/cri-containerd-$ID.scope" 'ab1200:c []' CONTAINER_RUNTIME_ENDPOINT="$PWD/cri.sock"
	assert_equal "$(cat errors)" "cuda-trace: no names of containers from $PWD/cri.sock: Message too long"
	chown 65534 cri.sock
	answers "/kubepods/pod1/cri-containerd-$ID.scope" 'ab1200:c []' CONTAINER_RUNTIME_ENDPOINT="$PWD/cri.sock"
	assert_equal "$(cat errors)" "cuda-trace: no names of containers from $PWD/cri.sock: nobody listens there, or not root"
	stop_started; rm -f cri.sock
	answers "/kubepods/pod1/cri-containerd-$ID.scope" 'ab1200:c []' CONTAINER_RUNTIME_ENDPOINT="$PWD/cri.sock"
	assert_equal "$(cat errors)" ""
}

@test "a socket (that another user listens at, or in another user's folder) is not used by root" {
	requires root setpriv /usr/bin/python3
	mkdir theirs && chmod 777 theirs
	echo '[]' >list
	chmod 644 list
	start docker setpriv --reuid 65534 --regid 65534 --clear-groups /usr/bin/python3 -c "$(cat "$HERE/docker-server.py")" theirs/docker.sock list
	wait_for 20 grep -qs listening docker.out
	chown 0 theirs/docker.sock
	answers "/docker/$ID" 'ab1200:d []' DOCKER_HOST="unix://$PWD/theirs/docker.sock"
	assert_equal "$(sed 1d docker.out)" ""
	grep -q 'nobody listens there, or not root' errors
	stop_started
	rm theirs/docker.sock
	start docker /usr/bin/python3 "$HERE/docker-server.py" theirs/docker.sock list
	wait_for 20 grep -qs listening docker.out
	chown 65534 theirs
	answers "/docker/$ID" 'ab1200:d []' DOCKER_HOST="unix://$PWD/theirs/docker.sock"
	chown 0 theirs
	ln -s docker.sock theirs/link.sock
	answers "/docker/$ID" 'ab1200:d []' DOCKER_HOST="unix://$PWD/theirs/link.sock"
	assert_equal "$(sed 1d docker.out)" ""
	# As a check: with nothing wrong it is used.
	answers "/docker/$ID" 'ab1200:d []' DOCKER_HOST="unix://$PWD/theirs/docker.sock"
	assert_equal "$(sed 1d docker.out | wc -l)" 1
}

@test "Docker (its API) names containers, and pods below Kubernetes" {
	requires /usr/bin/python3
	jq -n --arg id "$ID" --arg other "$OTHER" '[
		{Id: $other, Names: ["/k8s_worker_train-0_team-a_uid_0"], Labels: {"io.kubernetes.pod.name": "train-0",
			"io.kubernetes.pod.namespace": "team-a", "io.kubernetes.container.name": "worker", other: "x"}},
		{Id: $id, Names: ["/jupyter_7", "/web/alias"], Labels: {}, State: "running", Ports: []}]' >list
	start docker /usr/bin/python3 "$HERE/docker-server.py" "$PWD/docker.sock" list
	wait_for 20 grep -qs listening docker.out
	answers "/system.slice/docker-$ID.scope" 'container_name=jupyter_7 ab1200:d [jupyter_7]' DOCKER_HOST="unix://$PWD/docker.sock"
	answers "/kubepods/pod1/$OTHER" \
		'k8s_namespace_name=team-a k8s_pod_name=train-0 k8s_container_name=worker container_name=k8s_worker_train-0_team-a_uid_0 ab1300:cd [team-a/train-0/worker]' \
		DOCKER_HOST="unix://$PWD/docker.sock"
	answers "/docker/${ID%7}9" 'ab1200:d []' DOCKER_HOST="unix://$PWD/docker.sock"
	echo '{"message": "nested' >list
	answers "/docker/$ID" 'ab1200:d []' DOCKER_HOST="unix://$PWD/docker.sock"
}

@test "podman (its list of containers) names root's containers" {
	requires root
	in_store() {
		# shellcheck disable=SC2016
		run -0 unshare --mount sh -c 'mount -t tmpfs none /var/lib && mkdir -p "/var/lib/containers/storage/$1-containers" &&
			cp containers.json "/var/lib/containers/storage/$1-containers/$2" && chown "$3" "/var/lib/containers/storage/$1-containers/$2" &&
			exec "$4" -w "$5"' sh "$1" "$2" "$3" "$ORIGIN" "/machine.slice/libpod-$ID.scope/container"
	}
	printf '[{"id":"%s","names":["other"]},{"id":"%s","names":["trainer"],"image":"0","layer":"1","metadata":"{}"}]' "$OTHER" "$ID" >containers.json
	in_store overlay containers.json 0
	assert_output 'container_name=trainer ab1200:p [trainer]'
	in_store vfs volatile-containers.json 0
	assert_output 'container_name=trainer ab1200:p [trainer]'
	in_store overlay containers.json 65534
	assert_output 'ab1200:p []'
	printf '[{"id":"%s","names":["trai' "$ID" >containers.json
	in_store overlay containers.json 0
	assert_output 'ab1200:p []'
}
