#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace doctor: what it says of trees made for the purpose, of hostile ones, of processes and
# of this machine.

load ../lib/helpers
load fixtures

setup() {
	TREE=$BATS_TEST_TMPDIR/tree
	mkdir -p "$TREE"
	# Of whoever runs the tests.
	unset CUDA_HOME CUDA_PATH VIRTUAL_ENV CONDA_PREFIX LD_LIBRARY_PATH
}

teardown() {
	stop_started
	[ -z "${OPEN-}" ] || rm -rf "$OPEN"
	# Folders that nobody may enter are part of some trees.
	chmod -R u+rwx "$BATS_TEST_TMPDIR" 2>/dev/null || true
}

# open_folder: $OPEN, where anybody could leave a mark; the tests' own folders are closed.
open_folder() {
	OPEN=$(mktemp -d /tmp/cuda-trace-doctor.XXXXXX)
	chmod 1777 "$OPEN"
}

# examine [OPTIONS]: doctor --root on the tree, as text in $output and as JSON in $JSON.
examine() {
	JSON=$BATS_TEST_TMPDIR/json
	ct doctor --json --root "$TREE" "$@" >"$JSON" || true
	run ct doctor --root "$TREE" "$@"
}

# of_json FILTER: the first thing that the filter says of any of the objects; "null" if none.
of_json() {
	jq -nr "[inputs | $1][0]" "$JSON"
}

# library PATH KEY: what is said of one file, by any of its names.
library() {
	of_json "select(.key | startswith(\"library\")?) | .facts | (., .files[]?) |
		select(.path == \"$1\" or .real == \"$1\" or (.names // [] | index(\"$1\"))) | .$2"
}

# choice: the file that the agent would take.
choice() {
	realpath -sm "$(of_json 'select(.key == "libcupti") | .facts.choice')"
}

# expect_library PATH VERDICT SOURCE CUDA [API]
expect_library() {
	assert_equal "$(library "$1" verdict)" "$2"
	assert_equal "$(library "$1" source)" "$3"
	assert_equal "$(library "$1" cuda)" "$4"
	[ -z "${5-}" ] || assert_equal "$(library "$1" api)" "$5"
}

@test "doctor --root (toolkit as NVIDIA's deb puts it) names file, release and package" {
	ubuntu2204 "$TREE"
	cuda_devel "$TREE" 12.4.1 2024.1.1 22
	examine
	assert_success
	expect_library /usr/local/cuda-12.4/extras/CUPTI/lib64/libcupti.so.12 usable toolkit 12.4 22
	assert_equal "$(library /usr/local/cuda-12.4/lib64/libcupti.so package)" "cuda-cupti-12-4 12.4.127-1"
	assert_equal "$(library /usr/local/cuda-12.4/lib64/libcupti.so api_how)" "read from its code"
	# One file, whatever number of links lead to it.
	assert_equal "$(grep -c '"key":"library"' "$JSON")" 1
	assert_equal "$(choice)" /usr/local/cuda-12.4/targets/x86_64-linux/lib/libcupti.so.12
	assert_output --partial "CUDA 12.4, devel"
	# A devel image offers the COPY of the real file: a copied link would dangle.
	assert_output --partial \
		"COPY --from=STAGE /usr/local/cuda-12.4/targets/x86_64-linux/lib/libcupti.so.2024.1.1 "
}

@test "doctor --root (toolkit of the runfile) finds extras/CUPTI/lib64 alone" {
	cuda_base "$TREE" 12.8.0
	put "$TREE" /usr/local/cuda-12.8/extras/CUPTI/lib64/libcupti.so.2025.1.0 libcupti.so.12 26
	link "$TREE" /usr/local/cuda-12.8/extras/CUPTI/lib64/libcupti.so.12 libcupti.so.2025.1.0
	examine
	expect_library /usr/local/cuda-12.8/extras/CUPTI/lib64/libcupti.so.12 usable toolkit 12.8 26
	assert_equal "$(choice)" /usr/local/cuda-12.8/extras/CUPTI/lib64/libcupti.so.12
	# 18 is 11.8, 12.0 and 12.1, the SONAME has no minor: the file's year decides.
	put "$TREE" /usr/lib/x86_64-linux-gnu/libcupti.so.2023.1.1 libcupti.so.12 18
	examine
	expect_library /usr/lib/x86_64-linux-gnu/libcupti.so.2023.1.1 usable distribution 12.1 18
}

@test "doctor --root (Debian's own packages) knows 11.8 and 12.4 by their packages" {
	distribution "$TREE" debian 12 "Debian GNU/Linux 12 (bookworm)"
	put "$TREE" /usr/lib/x86_64-linux-gnu/libcupti.so.11.8 libcupti.so.11.8 18
	dpkg_package "$TREE" libcupti11.8 11.8.89~11.8.0-5 /usr/lib/x86_64-linux-gnu/libcupti.so.11.8
	put "$TREE" /usr/lib/x86_64-linux-gnu/libcupti.so.12 libcupti.so.12 22
	dpkg_package "$TREE" libcupti12 12.4.127~12.4.1-3 /usr/lib/x86_64-linux-gnu/libcupti.so.12
	examine
	assert_success
	expect_library /usr/lib/x86_64-linux-gnu/libcupti.so.11.8 usable distribution 11.8 18
	expect_library /usr/lib/x86_64-linux-gnu/libcupti.so.12 usable distribution 12.4 22
	assert_equal "$(library /usr/lib/x86_64-linux-gnu/libcupti.so.12 package)" \
		"libcupti12 12.4.127~12.4.1-3"
	# Without a driver and a libcudart, the newest major that there is.
	assert_equal "$(choice)" /lib/x86_64-linux-gnu/libcupti.so.12 ||
		assert_equal "$(choice)" /usr/lib/x86_64-linux-gnu/libcupti.so.12
}

@test "doctor --root (Python wheels of CUDA 12 and 13, PyTorch, Triton) finds each environment" {
	local site=/home/u/src/p/.venv/lib/python3.12/site-packages
	text "$TREE" /home/u/src/p/.venv/pyvenv.cfg </dev/null
	put "$TREE" $site/nvidia/cuda_cupti/lib/libcupti.so.12 libcupti.so.12 24
	mkdir -p "$TREE$site/nvidia_cuda_cupti_cu12-12.6.80.dist-info"
	put "$TREE" $site/triton/backends/nvidia/lib/cupti/libcupti.so libcupti.so.12 26
	mkdir -p "$TREE$site/triton-3.6.0.dist-info"
	put "$TREE" /usr/local/lib/python3.11/dist-packages/nvidia/cu13/lib/libcupti.so.13 libcupti.so.13 130001
	mkdir -p "$TREE/usr/local/lib/python3.11/dist-packages/nvidia_cuda_cupti-13.0.85.dist-info"
	put "$TREE" /opt/venv/lib/python3.10/site-packages/torch/lib/libcupti-53b21e8d.so.11.8 libcupti.so.11.8 18
	text "$TREE" /opt/venv/pyvenv.cfg </dev/null
	examine
	expect_library $site/nvidia/cuda_cupti/lib/libcupti.so.12 usable pip 12.6 24
	assert_equal "$(library $site/nvidia/cuda_cupti/lib/libcupti.so.12 package)" \
		"nvidia_cuda_cupti_cu12 12.6.80 (pip)"
	expect_library $site/triton/backends/nvidia/lib/cupti/libcupti.so usable triton 12.8 26
	assert_equal "$(library $site/triton/backends/nvidia/lib/cupti/libcupti.so package)" "triton 3.6.0 (pip)"
	expect_library /usr/local/lib/python3.11/dist-packages/nvidia/cu13/lib/libcupti.so.13 \
		usable pip 13.0 130001
	expect_library /opt/venv/lib/python3.10/site-packages/torch/lib/libcupti-53b21e8d.so.11.8 usable pip 11.8
}

@test "doctor --root (conda, Arch, HPC SDK, the administrator's copy) finds them" {
	local sdk=/opt/nvidia/hpc_sdk/Linux_x86_64/25.1/cuda/12.6/extras/CUPTI/lib64
	put "$TREE" /opt/conda/envs/ml/lib/libcupti.so.12 libcupti.so.12 22
	text "$TREE" /opt/conda/envs/ml/conda-meta/cuda-cupti-12.4.127-h59595ed_1.json </dev/null
	put "$TREE" /opt/cuda/extras/CUPTI/lib64/libcupti.so.13 libcupti.so.13 130100
	put "$TREE" $sdk/libcupti.so.2024.3.2 libcupti.so.12 24
	put "$TREE" /usr/lib/cuda-trace/cupti/12/libcupti.so.12 libcupti.so.12 28
	examine
	expect_library /opt/conda/envs/ml/lib/libcupti.so.12 usable conda 12.4 22
	assert_equal "$(library /opt/conda/envs/ml/lib/libcupti.so.12 package)" "cuda-cupti 12.4.127 (conda)"
	expect_library /opt/cuda/extras/CUPTI/lib64/libcupti.so.13 usable toolkit 13.1 130100
	expect_library $sdk/libcupti.so.2024.3.2 usable hpc_sdk 12.6 24
	expect_library /usr/lib/cuda-trace/cupti/12/libcupti.so.12 usable admin 12.9 28
	assert_equal "$(choice)" /opt/cuda/extras/CUPTI/lib64/libcupti.so.13
}

@test "doctor --root (CUPTI 12.9) reports graphs, and only then" {
	put "$TREE" /usr/lib/cuda-trace/cupti/12/libcupti.so.12 libcupti.so.12 28
	examine
	assert_equal "$(choice)" /usr/lib/cuda-trace/cupti/12/libcupti.so.12
	assert_regex "$(of_json 'select(.key == "graphs") | .text')" 'no GPU times with CUPTI 12.9'
	assert_regex "$(of_json 'select(.key == "graphs") | .fix')" CUDA_TRACE_LIBCUPTI
	put "$TREE" /usr/lib/cuda-trace/cupti/12/libcupti.so.12 libcupti.so.12 26
	examine
	assert_equal "$(of_json 'select(.key == "graphs") | .text')" null
}

@test "doctor --root (Nsight's private copies) lists them and never chooses them" {
	put "$TREE" /opt/nvidia/nsight-systems/2025.3.1/target-linux-x64/libcupti.so.13.0 libcupti.so.13 130000
	put "$TREE" /opt/nvidia/nsight-compute/2025.3.1/host/target-linux-x64/libcupti.so.12 libcupti.so.12 26
	examine
	expect_library /opt/nvidia/nsight-systems/2025.3.1/target-linux-x64/libcupti.so.13.0 private nsight 13.0
	expect_library /opt/nvidia/nsight-compute/2025.3.1/host/target-linux-x64/libcupti.so.12 private nsight 12.8
	put "$TREE" /opt/nvidia/nsight-compute/2025.3.1/host/target-linux-x64/libcupti.so.11.8 libcupti.so.11.8 18
	examine
	# One line a folder: Nsight brings a copy for each CUDA there ever was.
	assert_equal "$(grep -c private <<<"$output")" 2
	assert_output --regexp "target-linux-x64: 2 copies of libcupti private to Nsight"
	assert_failure 1
}

@test "doctor --root (files that are no usable libcupti) names what each is" {
	local d=/usr/local/cuda-12.4/extras/CUPTI/lib64 good
	good=$(fake libcupti.so.12 22)
	mkdir -p "$TREE$d" "$TREE$d/libcupti.so.folder"
	link "$TREE" $d/libcupti.so.dangling ../nowhere/libcupti.so.12
	link "$TREE" $d/libcupti.so.outside "$good"
	link "$TREE" $d/libcupti.so.loop libcupti.so.pool
	link "$TREE" $d/libcupti.so.pool libcupti.so.loop
	text "$TREE" $d/libcupti.so.empty </dev/null
	echo 'INPUT(-lcupti)' | text "$TREE" $d/libcupti.so.script
	head -c 3000 "$good" | text "$TREE" $d/libcupti.so.short
	cp "$good" "$TREE$d/libcupti.so.arm64" && patch "$TREE$d/libcupti.so.arm64" 18 b700
	cp "$good" "$TREE$d/libcupti.so.damaged" && patch "$TREE$d/libcupti.so.damaged" 56 ffff
	cp "$(fake libcupti.so.12 22 -DSTUB)" "$TREE$d/libcupti.so.stub"
	put "$TREE" $d/libcupti.so.old libcupti.so.11.2 14
	put "$TREE" $d/libcupti.so.faulty libcupti.so.13 130000
	mkfifo "$TREE$d/libcupti.so.fifo"
	distribution "$TREE" ubuntu 22.04 "Ubuntu 22.04.4 LTS"
	examine
	assert_failure 1
	local name verdict
	while read -r name verdict; do
		assert_equal "$name $(library "$d/libcupti.so.$name" verdict)" "$name $verdict"
	done <<-EOT
		dangling dangling
		outside dangling
		loop loop
		pool loop
		empty empty
		script not_library
		short truncated
		arm64 wrong_machine
		damaged damaged
		stub stub
		old too_old
		faulty faulty
		fifo not_file
		folder not_file
	EOT
	assert_output --regexp "libcupti.so.arm64: for another processor.*arm64"
}

@test "doctor --root (arm64 image) goes by the image's processor, not by ours" {
	cuda_devel "$TREE" 13.0.1 2025.3.1 130001
	distribution "$TREE" ubuntu 24.04 "Ubuntu 24.04 LTS"
	local lib=$TREE/usr/local/cuda-13.0/targets/x86_64-linux/lib
	mv "$TREE/usr/local/cuda-13.0/targets/x86_64-linux" "$TREE/usr/local/cuda-13.0/targets/sbsa-linux"
	lib=$TREE/usr/local/cuda-13.0/targets/sbsa-linux/lib
	patch "$lib/libcupti.so.2025.3.1" 18 b700
	patch "$TREE/usr/lib64/ld-linux-x86-64.so.2" 18 b700
	examine
	assert_success
	assert_equal "$(choice)" /usr/local/cuda-13.0/targets/sbsa-linux/lib/libcupti.so.13
}

# The story: a build that "found CUPTI" by its header, a COPY of a file that is in no runtime image,
# and libcupti-dev of another CUDA.
@test "doctor --root (the hunt for CUPTI in a runtime image) answers it, and its advice works" {
	ubuntu2204 "$TREE"
	cuda_runtime "$TREE" 12.4.1
	examine
	assert_failure 1
	assert_output --partial "CUDA 12.4, runtime"
	assert_line --index 1 --regexp '^problem  no libcupti that the injection library would use: .*\| fix: apt-get install -y cuda-cupti-12-4$'
	assert_output --partial "do not install libcupti-dev here: Ubuntu 22.04.4 LTS has that of CUDA 11.5, but this image is for CUDA "
	assert_output --partial "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04 AS cupti"
	assert_output --partial "COPY --from=cupti /cupti/libcupti.so.12 /usr/local/cuda-12.4/targets/x86_64-linux/lib/"
	assert_output --partial "or leave it out"

	# The header alone is what fooled the build.
	text "$TREE" /usr/local/cuda-12.4/targets/x86_64-linux/include/cupti.h </dev/null
	examine
	assert_output --partial "cupti.h exists, but there is no libcupti below /usr/local/cuda-12.4"

	# What apt-get install libcupti-dev did.
	put "$TREE" /usr/lib/x86_64-linux-gnu/libcupti.so.2021.3.1 libcupti.so.11.5 15
	link "$TREE" /usr/lib/x86_64-linux-gnu/libcupti.so.11.5 libcupti.so.2021.3.1
	link "$TREE" /usr/lib/x86_64-linux-gnu/libcupti.so libcupti.so.11.5
	dpkg_package "$TREE" libcupti11.5 11.5.114~11.5.1-1ubuntu1 /usr/lib/x86_64-linux-gnu/libcupti.so.2021.3.1
	dpkg_package "$TREE" libcupti-dev 11.5.114~11.5.1-1ubuntu1 /usr/lib/x86_64-linux-gnu/libcupti.so
	examine
	assert_failure 1
	expect_library /usr/lib/x86_64-linux-gnu/libcupti.so too_old distribution 11.5
	assert_output --partial "libcupti-dev 11.5.114~11.5.1-1ubuntu1 is installed: it is Ubuntu 22.04.4 LTS's own, of CUDA 11.5, but this image is for CUDA 12.4"
	assert_output --partial "fix: apt-get purge -y libcupti-dev && apt-get install -y cuda-cupti-12-4"

	# The advice B, followed to the letter in a devel tree.
	rm -r "$TREE/usr/lib/x86_64-linux-gnu" "$TREE/var/lib/dpkg/info/libcupti-dev.list"
	sed -i '/^Package: libcupti/,/^$/d' "$TREE/var/lib/dpkg/status"
	local devel=$BATS_TEST_TMPDIR/devel command to
	ubuntu2204 "$devel"
	cuda_devel "$devel" 12.4.1 2024.1.1 22
	command=$(grep '^    RUN mkdir /cupti' <<<"$output" | sed "s,^    RUN ,,; s, /usr/local, $devel/usr/local,; s,/cupti/\$,$devel/cupti/,; s,mkdir /cupti,mkdir $devel/cupti,")
	bash -c "$command"
	to=$(grep '^    COPY --from=cupti' <<<"$output" | sed 's/.* //')
	cp "$devel/cupti/libcupti.so.12" "$TREE$to"
	examine
	assert_success
	assert_equal "$(choice)" "${to}libcupti.so.12"
	refute_output --partial "cupti.h exists"
}

@test "doctor --root (base image, package lists kept) names the package and how big it is" {
	ubuntu2204 "$TREE"
	cuda_base "$TREE" 12.4.0
	text "$TREE" /var/lib/apt/lists/developer_compute_cuda_repos_ubuntu2204_x86%5f64_Packages <<-EOT
		Package: cuda-cupti-12-3
		Size: 1
		Installed-Size: 2

		Package: cuda-cupti-12-4
		Installed-Size: 110042
		Size: 17000000
	EOT
	examine
	assert_failure 1
	assert_output --partial "CUDA 12.4, base"
	assert_output --partial "17000000 bytes to fetch, 110042 kB installed"
}

@test "doctor --root (image whose CUDA is a Python wheel) advises the wheel" {
	local site=/usr/local/lib/python3.12/site-packages
	ubuntu2204 "$TREE"
	put "$TREE" $site/nvidia/cuda_runtime/lib/libcudart.so.12 libcudart.so.12 1
	text "$TREE" $site/torch/__init__.py </dev/null
	examine
	assert_failure 1
	assert_output --partial "CUDA 12, from Python wheels, with PyTorch"
	assert_output --partial "fix: pip install nvidia-cuda-cupti-cu12"
	put "$TREE" $site/nvidia/cuda_cupti/lib/libcupti.so.12 libcupti.so.12 22
	examine
	assert_success
	assert_equal "$(choice)" $site/nvidia/cuda_cupti/lib/libcupti.so.12
}

@test "doctor --root (Debian's own CUDA) advises Debian's own package" {
	distribution "$TREE" debian 13 "Debian GNU/Linux 13 (trixie)"
	dpkg_package "$TREE" libcudart12 12.4.127~12.4.1-2
	put "$TREE" /usr/lib/x86_64-linux-gnu/libcudart.so.12 libcudart.so.12 1
	examine
	assert_failure 1
	assert_output --partial "fix: apt-get install -y libcupti12"
	assert_output --partial "apt-get install -y --no-install-recommends libcupti12 "
}

@test "doctor --root (rpm image) names the package, by this machine's rpm, and writes nothing" {
	requires root rpm rpmbuild
	local lib=/usr/local/cuda-12.4/targets/x86_64-linux/lib/libcupti.so.2024.1.1 dbpath
	put "$TREE" $lib libcupti.so.12 22
	# Where Fedora has it, and where it was before.
	for dbpath in /usr/lib/sysimage/rpm /var/lib/rpm; do
		rpm_package "$TREE" $dbpath cuda-cupti-12-4 12.4.127 $lib
		find "$TREE" -printf '%p %y %s %T@ %C@\n' | sort >"$BATS_TEST_TMPDIR/before"
		examine
		assert_equal "$(library $lib package)" "cuda-cupti-12-4 12.4.127-1"
		refute_output --partial "without their packages"
		find "$TREE" -printf '%p %y %s %T@ %C@\n' | sort | diff "$BATS_TEST_TMPDIR/before" -
		# A damaged database is said to be one.
		head -c 5000 "$TREE$dbpath/rpmdb.sqlite" | tr '\0-\377' 'x' >"$TREE$dbpath/damaged"
		mv "$TREE$dbpath/damaged" "$TREE$dbpath/rpmdb.sqlite"
		examine
		assert_equal "$(library $lib package)" null
		assert_output --partial "could not read its database"
		rm -r "$TREE${dbpath:?}"
	done
	# As Fedora links the old place to the new one.
	rpm_package "$TREE" /usr/lib/sysimage/rpm cuda-cupti-12-4 12.4.127 $lib
	link "$TREE" /var/lib/rpm ../../usr/lib/sysimage/rpm
	examine
	assert_equal "$(library $lib package)" "cuda-cupti-12-4 12.4.127-1"
}

@test "doctor (this machine's own packages are rpm's) names them" {
	requires root rpm rpmbuild unshare
	[ -d /var/lib/rpm ] || skip "needs a folder /var/lib/rpm to mount on"
	local lib=/usr/local/cuda-12.4/extras/CUPTI/lib64/libcupti.so.2024.1.1
	put "$TREE" $lib libcupti.so.12 22
	rpm_package "$TREE" /var/lib/rpm cuda-cupti-12-4 12.4.127 $lib
	# As on Fedora: where every user may read it.
	chmod 755 "$BATS_TEST_TMPDIR"
	JSON=$BATS_TEST_TMPDIR/json
	unshare --mount sh -c 'mount --bind "$1/usr/local" /usr/local && mount --bind "$1/var/lib/rpm" /var/lib/rpm &&
		exec "$2" doctor --json' sh "$TREE" "$CUDA_TRACE" >"$JSON" || true
	assert_equal "$(library $lib package)" "cuda-cupti-12-4 12.4.127-1"
}

@test "doctor --root (a hostile database of packages) does not open devices, follow links or hang" {
	requires root mknod
	local lib=/usr/lib/x86_64-linux-gnu/libcupti.so.12 start
	put "$TREE" $lib libcupti.so.12 22
	mkdir -p "$TREE/etc/dpkg"
	dpkg_package "$TREE" libcupti12 12.4.127 $lib
	examine
	assert_equal "$(library $lib package)" "libcupti12 12.4.127"
	# A link out of the tree, to the database of this machine.
	rm -r "$TREE/var/lib/dpkg"
	link "$TREE" /var/lib/dpkg /var/lib/dpkg
	examine
	assert_output --partial "could not read its database"
	# A device, which would read as an empty one.
	rm "$TREE/var/lib/dpkg"
	mkdir -p "$TREE/var/lib/dpkg"
	mknod "$TREE/var/lib/dpkg/status" c 1 3
	examine
	assert_output --partial "could not read its database"
	start=$(date +%s)
	rm "$TREE/var/lib/dpkg/status"
	mkfifo "$TREE/var/lib/dpkg/status"
	examine
	assert_output --partial "did not answer in time"
	[ $(($(date +%s) - start)) -lt 30 ]
	# Texts of such a database are no better than file names.
	rm -r "$TREE/var/lib/dpkg"
	dpkg_package "$TREE" libcupti12 $'1\e[31m' $lib
	examine
	if printf '%s\n' "$output" | LC_ALL=C grep '[^[:print:][:space:]]'; then
		fail "unescaped in the text"
	fi
}

@test "doctor --root (this user cannot show the tree to rpm) says so" {
	requires root rpm rpmbuild setpriv
	local lib=/usr/lib64/libcupti.so.12
	put "$TREE" $lib libcupti.so.12 22
	rpm_package "$TREE" /var/lib/rpm cuda-cupti-12-4 12.4.127 $lib
	# Root in name only, as in a container.
	run timeout 20 setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin "$CUDA_TRACE" doctor --root "$TREE"
	assert_output --partial "files are listed without their packages: only root can safely let"
	refute_output --partial "12.4.127"
}

@test "doctor --root (rpm image, musl image, no CUDA) says what fits each" {
	distribution "$TREE" rocky 9.4 "Rocky Linux 9.4"
	text "$TREE" /usr/bin/dnf </dev/null
	cuda_runtime "$TREE" 13.0.1
	rm -r "$TREE/var/lib/dpkg"
	examine
	assert_failure 1
	assert_output --partial "fix: dnf install -y cuda-cupti-13-0"
	assert_output --partial "FROM nvidia/cuda:13.0.1-devel-ubi9 AS cupti"

	rm -r "${TREE:?}"; mkdir "$TREE"
	echo 'ID=alpine' | text "$TREE" /etc/os-release
	text "$TREE" /lib/ld-musl-x86_64.so.1 </dev/null
	examine
	assert_failure 1
	assert_output --partial "need glibc"

	rm -r "${TREE:?}"; mkdir "$TREE"
	ubuntu2204 "$TREE"
	examine
	assert_success
	assert_output --partial "without a CUDA runtime"
}

@test "doctor --root runs nothing of the tree and writes nothing into it" {
	cuda_devel "$TREE" 12.4.1 2024.1.1 22
	local mark lib=$TREE/usr/local/cuda-12.4/targets/x86_64-linux/lib
	open_folder
	mark=$OPEN/mark
	cp "$(fake libcupti.so.12 22 -DMARK="\"$mark\"")" "$lib/libcupti.so.2024.1.1"
	# The mark works, else this test would prove nothing.
	LD_PRELOAD=$lib/libcupti.so.2024.1.1 /bin/true
	[ -e "$mark" ]
	rm "$mark"
	printf '#!/bin/sh\ntouch %s\n' "$mark" | text "$TREE" /usr/bin/rpm
	chmod +x "$TREE/usr/bin/rpm"
	find "$TREE" -printf '%p %y %s %T@ %C@\n' | sort >"$BATS_TEST_TMPDIR/before"
	examine --deep
	assert_success
	[ ! -e "$mark" ]
	find "$TREE" -printf '%p %y %s %T@ %C@\n' | sort | diff "$BATS_TEST_TMPDIR/before" -
}

@test "doctor --root (links that lead out of the tree) stays inside" {
	local outside=$BATS_TEST_TMPDIR/outside
	put "$outside" /extras/CUPTI/lib64/libcupti.so.12 libcupti.so.12 22
	mkdir -p "$TREE/usr/local"
	link "$TREE" /usr/local/cuda-12.4 "$outside"
	link "$TREE" /usr/local/cuda-12.5 ../../../outside
	link "$TREE" /usr/local/cuda-12.6 /proc/self/root/"$outside"
	examine --deep
	refute_output --partial "usable"
	# Inside, an absolute link means the tree's own.
	put "$TREE" /data/cuda/extras/CUPTI/lib64/libcupti.so.12 libcupti.so.12 22
	link "$TREE" /usr/local/cuda-12.7 /data/cuda
	examine
	expect_library /usr/local/cuda-12.7/extras/CUPTI/lib64/libcupti.so.12 usable toolkit 12.7
	assert_equal "$(library /usr/local/cuda-12.7/extras/CUPTI/lib64/libcupti.so.12 real)" \
		/data/cuda/extras/CUPTI/lib64/libcupti.so.12
}

@test "doctor --root (loops, FIFOs, devices, control characters, no rights) ends and stays readable" {
	local d=$TREE/usr/local/cuda-12.4/lib64
	mkdir -p "$d"
	ln -s .. "$d/up"
	ln -s cuda-12.4 "$TREE/usr/local/cuda-12.9"
	ln -s cuda-12.8 "$TREE/usr/local/cuda-12.7"
	ln -s cuda-12.7 "$TREE/usr/local/cuda-12.8"
	mkfifo "$d/libcupti.so.1" "$TREE/etc" "$TREE/opt"
	[ "$(id -u)" != 0 ] || mknod "$d/libcupti.so.2" c 5 0 || true
	touch "$d/libcupti.so."$'\e[2J\e]0;owned\a\n\r\x9b31m' "$d/libcupti.so."$'\xe2\x80\xae'evil
	mkdir -p "$TREE/home/u/secret/lib" "$TREE/var/lib/dpkg/info"
	mkfifo "$TREE/var/lib/dpkg/status"
	chmod 000 "$TREE/home/u/secret"
	examine --deep
	[ "$status" != 124 ] && [ "$status" != 137 ]
	assert_output --partial 'libcupti.so.\x1b[2J\x1b]0;owned\x07\x0a\x0d\x9b31m'
	assert_output --partial 'libcupti.so.\xe2\x80\xaeevil'
	# Nothing but printable text and our own line ends, in both forms.
	if printf '%s\n' "$output" | LC_ALL=C grep '[^[:print:][:space:]]'; then
		fail "unescaped in the text"
	fi
	if LC_ALL=C grep $'[\x01-\x09\x0b-\x1f\x7f-\xff]' "$JSON"; then
		fail "unescaped in the JSON"
	fi
	jq -e . "$JSON" >/dev/null
}

@test "doctor --root (100,000 files, 10 Python environments) answers within two seconds" {
	local start i site
	mkdir -p "$TREE/usr/local/cuda-12.4/lib64" "$TREE/home/u/data"
	for i in $(seq 10); do
		site=$TREE/home/u/src/project$i/.venv/lib/python3.12/site-packages
		put "$TREE" "${site#"$TREE"}/nvidia/cuda_cupti/lib/libcupti.so.12" libcupti.so.12 24
		mkdir -p "$site/torch/include"
		touch "$site/../../../pyvenv.cfg"
		(cd "$site/torch/include" && seq 3000 | xargs touch)
	done
	(cd "$TREE/usr/local/cuda-12.4/lib64" && seq -f 'libcupti.so.%.0f' 50000 | xargs touch)
	(cd "$TREE/home/u/data" && seq 50000 | xargs touch)
	start=$(date +%s%N)
	ct doctor --root "$TREE" >"$BATS_TEST_TMPDIR/out" || true
	[ $(($(date +%s%N) - start)) -lt 2000000000 ] || fail "$((($(date +%s%N) - start) / 1000000)) ms"
	grep -q 'fix: cuda-trace doctor .*--deep' "$BATS_TEST_TMPDIR/out"
	# All ten, unless the machine was too busy: then it says so.
	[ "$(grep -c 'site-packages/nvidia/cuda_cupti/lib/libcupti.so.12: usable' "$BATS_TEST_TMPDIR/out")" = 10 ] ||
		grep -q 'the search stopped after' "$BATS_TEST_TMPDIR/out"
}

@test "doctor --root (files that change and vanish) survives and ends" {
	local d=$TREE/usr/local/cuda-12.4/lib64 good
	good=$(fake libcupti.so.12 22)
	mkdir -p "$d"
	start churn bash -c "cd '$d' && while :; do cp '$good' libcupti.so.12; : >libcupti.so.12
		rm -f libcupti.so.12; mkdir libcupti.so.12; rmdir libcupti.so.12
		ln -s libcupti.so.12 libcupti.so.12; rm -f libcupti.so.12; done"
	for _ in $(seq 40); do
		run ct doctor --root "$TREE"
		[ "$status" -le 1 ]
		refute_output --partial "AddressSanitizer"
	done
}

@test "doctor --root (huge files without a line end, thousands of toolkits) ends in time and memory" {
	local start
	ubuntu2204 "$TREE"
	mkdir -p "$TREE/var/lib/apt/lists" "$TREE/usr/local/cuda-12.4/targets" "$TREE/etc/profile.d"
	truncate -s 1T "$TREE/var/lib/dpkg/status" "$TREE/var/lib/dpkg/info/cuda-x.list" \
		"$TREE/etc/ld.so.cache" "$TREE/usr/local/cuda-12.4/version.json" "$TREE/etc/os-release"
	mkdir "$TREE/usr/local/cuda-12.4/lib64"
	truncate -s 1T "$TREE/usr/local/cuda-12.4/lib64/libcupti.so.12"
	(cd "$TREE/usr/local" && seq -f 'cuda-12.%.0f/targets' 10 3000 | xargs mkdir -p)
	start=$(date +%s%N)
	(
		ulimit -v 1000000
		ct doctor --root "$TREE" >"$BATS_TEST_TMPDIR/out"
	) || [ $? = 1 ]
	[ $(($(date +%s%N) - start)) -lt 10000000000 ] || fail "$((($(date +%s%N) - start) / 1000000)) ms"
	grep -q 'libcupti.so.12: not a shared library' "$BATS_TEST_TMPDIR/out"
}

@test "doctor --root (no folder, a file) fails with a reason" {
	run ct doctor --root "$TREE/nowhere"
	assert_failure 1
	assert_output --partial "nowhere: No such file or directory"
	run ct doctor --root "$TREE" -p 1
	assert_failure 2
	run ct doctor surplus
	assert_failure 2
}

@test "doctor reads damaged and hostile ELF files and loader caches without a fault" {
	local fuzz=$BATS_TEST_TMPDIR/fuzz
	${CC:-cc} -g -O1 -D_GNU_SOURCE -std=gnu11 -fsanitize=address,undefined -fno-sanitize-recover=all \
		-I"$TOP" -o "$fuzz" "$TOP"/tests/doctor/fuzz.c $(tool_sources elf_reader ldcache filetree rooted_path clock)
	mkdir -p "$TREE/etc" "$TREE/lib"
	cp "$(fake libcupti.so.12 22)" "$TREE/lib/libcupti.so.12"
	ldconfig -C "$TREE/etc/ld.so.cache" -f /dev/null -X "$TREE/lib"
	run "$fuzz" "$TREE" 4000 "$(fake libcupti.so.12 22)"
	assert_success
	# Some were still readable, some not: else nothing was reached.
	assert_output --regexp '^elf: [1-9][0-9]* fine, [1-9][0-9]* not; cache: [1-9][0-9]* fine, [1-9][0-9]* not$'
}

@test "doctor --root (loader cache whose entries share a string of megabytes) ends in time" {
	local start
	mkdir -p "$TREE/etc"
	python3 - "$TREE/etc/ld.so.cache" <<-'E'
		import struct, sys
		n = 300000
		base = 48 + 24 * n
		text = b"a" * ((16 << 20) - 16 - base) + b"\0"
		with open(sys.argv[1], "wb") as f:
		    f.write(b"glibc-ld.so.cache1.1" + struct.pack("<7I", n, len(text), 0, 0, 0, 0, 0))
		    f.write(struct.pack("<iIIIQ", 0x303, base, base, 0, 0) * n + text)
	E
	start=$(date +%s%N)
	ct doctor --root "$TREE" >"$BATS_TEST_TMPDIR/out" || [ $? = 1 ]
	[ $(($(date +%s%N) - start)) -lt 10000000000 ] || fail "$((($(date +%s%N) - start) / 1000000)) ms"
}

@test "doctor knows every function that the agent requires of libcupti" {
	local agent doctor
	agent=$(sed -n 's/^\tX(1, \([A-Za-z_0-9]*\),.*/cupti\1/p' "$TOP/libcupti-usdt/cupti/cupti_api.h" | sort)
	doctor=$(sed -n '/^static const char \*const wanted/,/^};/s/.*"\(cupti[A-Za-z_0-9]*\)".*/\1/p' \
		"$TOP/cuda-trace/inventory/libcupti_check.c" | sort)
	[ -n "$agent" ]
	diff <(echo "$agent") <(echo "$doctor")
}

# mapper NAME [-r ROOT] FILE...: a waiting process that maps the files, with this environment.
mapper() {
	local name=$1
	shift
	[ -e "$BATS_FILE_TMPDIR/mapper" ] ||
		${CC:-cc} -O1 -static -o "$BATS_FILE_TMPDIR/mapper" "$TOP/tests/doctor/mapper.c"
	start "$name" "$BATS_FILE_TMPDIR/mapper" "$@"
	wait_for 30 grep -q ready "$BATS_TEST_TMPDIR/$name.out"
}

# about PID: doctor -p, as text in $output and as JSON in $JSON.
about() {
	JSON=$BATS_TEST_TMPDIR/json
	ct doctor --json -p "$1" >"$JSON" || true
	run ct doctor -p "$1"
}

@test "doctor (a library that this user alone can write) asks it as nobody, in a child" {
	local dir=$BATS_TEST_TMPDIR/libs mark
	mkdir -p "$dir"
	open_folder
	mark=$OPEN/mark
	JSON=$BATS_TEST_TMPDIR/json
	cp "$(fake libcupti.so.12 24 -DMARK="\"$mark\"")" "$dir/libcupti.so.12"
	LD_LIBRARY_PATH=$dir ct doctor --json >"$JSON" || true
	assert_equal "$(library "$dir/libcupti.so.12" api_how)" "asked"
	assert_equal "$(library "$dir/libcupti.so.12" api)" 24
	if [ "$(id -u)" = 0 ]; then
		assert_equal "$(stat -c %u "$mark")" 65534
	fi
	rm -f "$mark"

	# Others may have put anything into it: nothing of it is run.
	chmod o+w "$dir/libcupti.so.12"
	LD_LIBRARY_PATH=$dir ct doctor --json >"$JSON" || true
	assert_equal "$(library "$dir/libcupti.so.12" api_how)" "read from its code"
	[ ! -e "$mark" ]
	if [ "$(id -u)" = 0 ]; then
		chmod o-w "$dir/libcupti.so.12"
		chown 1000 "$dir/libcupti.so.12"
		LD_LIBRARY_PATH=$dir ct doctor --json >"$JSON" || true
		assert_equal "$(library "$dir/libcupti.so.12" api_how)" "read from its code"
		[ ! -e "$mark" ]
	fi
}

@test "doctor (libraries that hang or crash when opened) goes on without their answer" {
	local dir=$BATS_TEST_TMPDIR/libs start
	mkdir -p "$dir"
	JSON=$BATS_TEST_TMPDIR/json
	cp "$(fake libcupti.so.12 24 -DHANG)" "$dir/libcupti.so.12"
	cp "$(fake libcupti.so.11.8 18 -DCRASH)" "$dir/libcupti.so.11.8"
	cp "$(fake libcupti.so.13 130001)" "$dir/libcupti.so.13"
	start=$(date +%s%N)
	LD_LIBRARY_PATH=$dir ct doctor --json >"$JSON" || true
	[ $(($(date +%s%N) - start)) -lt 8000000000 ]
	assert_equal "$(library "$dir/libcupti.so.12" api_how)" "read from its code"
	assert_equal "$(library "$dir/libcupti.so.11.8" api_how)" "read from its code"
	assert_equal "$(library "$dir/libcupti.so.13" api_how)" "asked"
	# No child stays behind.
	if grep -ls "$dir/libcupti" /proc/[0-9]*/maps; then
		fail "a process still has the library open"
	fi
}

@test "doctor (without rights) says what it could not see, and ends" {
	requires root setpriv
	# The tool must be within reach of somebody else.
	cp "$CUDA_TRACE" "$BATS_TEST_TMPDIR/cuda-trace"
	chmod 755 "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/cuda-trace"
	cd /
	run timeout 20 setpriv --reuid=65534 --regid=65534 --clear-groups "$BATS_TEST_TMPDIR/cuda-trace" doctor
	[ "$status" -le 1 ] || skip "the tests' folder cannot be reached by other users"
	assert_output --partial "this user may not trace: it lacks CAP_BPF and CAP_PERFMON"
	assert_output --partial "the live test was not run"
	assert_output --partial "of other users could not be searched"
}

@test "doctor makes a probe fire and sees it arrive" {
	requires bpf
	JSON=$BATS_TEST_TMPDIR/json
	ct doctor --json >"$JSON" || true
	assert_equal "$(of_json 'select(.key == "live") | .severity')" ok
	assert_equal "$(of_json 'select(.type == "verdict") | .subject')" "cuda-trace doctor"
}

@test "doctor (driver, GPUs, restricted counters, MIG, MPS) says what each means for tracing" {
	requires root unshare
	[ -d /proc/driver ] || skip "needs a folder /proc/driver to mount on"
	local driver=$TREE/nvidia
	mkdir -p "$driver/gpus/0000:01:00.0" "$driver/capabilities/gpu0/mig/gi0"
	printf 'Model: \t\t NVIDIA H100 \e[31mPCIe\n' >"$driver/gpus/0000:01:00.0/information"
	echo "RmProfilingAdminOnly: 1" >"$driver/params"
	cp "$(command -v sleep)" "$BATS_TEST_TMPDIR/nvidia-cuda-mps-control"
	start mps "$BATS_TEST_TMPDIR/nvidia-cuda-mps-control" 60
	wait_for 20 grep -q nvidia-cuda-mps "/proc/$mps_PID/comm"
	export SETUP=:
	machine env
	assert_output --partial "1 GPU: NVIDIA H100 \x1b[31mPCIe"
	assert_output --partial "NVreg_RestrictProfilingToAdminUsers is on"
	assert_output --partial "MIG instances are set up"
	assert_output --partial "MPS is running"
	stop_started
	echo "RmProfilingAdminOnly: 0" >"$driver/params"
	rm -r "$driver/capabilities"
	machine env
	assert_output --partial "NVreg_RestrictProfilingToAdminUsers is off"
	refute_output --partial "MIG instances"
	refute_output --partial "MPS is running"
}

# machine WHO...: doctor on a machine whose driver says what is in $TREE/nvidia, and with what $SETUP does
# in its mount namespace; WHO is put before the tool.
machine() {
	run unshare --mount sh -c 'mount --bind "$1" /proc/driver && eval "$SETUP" && shift && exec "$@" doctor' \
		sh "$TREE" "$@" "$CUDA_TRACE"
}

@test "doctor (ERR_NVGPUCTRPERM: no rights, a container, a rootless one) names the exact remedy" {
	requires root unshare setpriv
	[ -d /proc/driver ] || skip "needs a folder /proc/driver to mount on"
	local allow="echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 | sudo tee /etc/modprobe.d/nvidia-profiling.conf"
	export SETUP=:
	mkdir -p "$TREE/nvidia"
	echo "RmProfilingAdminOnly: 1" >"$TREE/nvidia/params"
	machine env
	assert_output --partial "only CAP_SYS_ADMIN may profile; this user has it"
	refute_output --partial ERR_NVGPUCTRPERM
	# sudo would help this one.
	local weak=(setpriv --securebits +noroot --inh-caps -all --)
	machine "${weak[@]}"
	assert_output --regexp "this user lacks CAP_SYS_ADMIN: .profile. fails \(ERR_NVGPUCTRPERM\)"
	assert_output --partial "| fix: $allow"
	assert_output --partial "sudo reboot"
	# In a container neither sudo nor a file of its own does.
	machine setpriv --bounding-set -sys_admin --inh-caps -sys_admin --
	assert_output --partial "| fix: start the container with --cap-add SYS_ADMIN"
	# Root of a user namespace is not whom the driver means.
	machine unshare --user --map-root-user
	assert_output --partial "has CAP_SYS_ADMIN in a user namespace only"
	echo "RmProfilingAdminOnly: 0" >"$TREE/nvidia/params"
	machine "${weak[@]}"
	assert_output --partial "NVreg_RestrictProfilingToAdminUsers is off"
	refute_output --partial ERR_NVGPUCTRPERM
}

@test "doctor (profiling is allowed by a file, but the driver runs without it) says what is left to do" {
	requires root unshare setpriv
	[ -d /proc/driver ] || skip "needs a folder /proc/driver to mount on"
	mkdir -p "$TREE/nvidia" /etc/modprobe.d "$BATS_TEST_TMPDIR/conf"
	echo "RmProfilingAdminOnly: 1" >"$TREE/nvidia/params"
	echo "#options nvidia NVreg_RestrictProfilingToAdminUsers=0" >"$BATS_TEST_TMPDIR/conf/a.conf"
	export SETUP="mount --bind '$BATS_TEST_TMPDIR/conf' /etc/modprobe.d"
	machine env
	refute_output --partial "allows profiling for all users"
	echo "options nvidia NVreg_RestrictProfilingToAdminUsers=0" >"$BATS_TEST_TMPDIR/conf/b.conf"
	machine setpriv --securebits +noroot --inh-caps -all --
	assert_output --partial "/etc/modprobe.d/b.conf allows profiling for all users, but the driver was loaded before"
	refute_output --partial "sudo tee"
}

@test "doctor (virtual GPU, DCGM, WSL) says what each means for profiling" {
	requires root unshare
	[ -d /proc/driver ] || skip "needs a folder /proc/driver to mount on"
	mkdir -p "$TREE/nvidia/gpus/0000:01:00.0"
	printf 'Model: \t\t NVIDIA A100-4-20C\nIRQ: 4\n' >"$TREE/nvidia/gpus/0000:01:00.0/information"
	cp "$(command -v sleep)" "$BATS_TEST_TMPDIR/nv-hostengine"
	start dcgm "$BATS_TEST_TMPDIR/nv-hostengine" 60
	wait_for 20 grep -q nv-hostengine "/proc/$dcgm_PID/comm"
	export SETUP='mount -t tmpfs none /dev && mknod -m 666 /dev/null c 1 3 && : >/dev/dxg'
	machine env
	assert_output --regexp "NVIDIA A100-4-20C is a virtual GPU: .*fix: on its host: enable_profiling=1"
	assert_output --regexp "DCGM is running: .*fix: dcgmi profile --pause"
	assert_output --regexp "this is WSL: .*Manage GPU Performance Counters"
	stop_started
	SETUP=:
	for model in 'NVIDIA A100-SXM4-80GB' 'NVIDIA RTX 4000 Ada' 'NVIDIA H200' 'Tesla T4' 'NVIDIA B200' '-' ''; do
		printf 'Model: \t\t %s\n' "$model" >"$TREE/nvidia/gpus/0000:01:00.0/information"
		machine env
		refute_output --partial "is a virtual GPU"
		refute_output --partial "DCGM is running"
	done
}

@test "doctor --root (no libnvperf_host, CUPTI before 12.6) says what profile lacks" {
	ubuntu2204 "$TREE"
	cuda_devel "$TREE" 12.4.1 2024.1.1 22
	examine
	assert_success
	assert_output --partial "needs CUPTI of CUDA 12.6 or newer; the injection library uses that of 12.4"
	refute_output --partial libnvperf_host
	rm -r "$TREE" && mkdir "$TREE"
	cuda_devel "$TREE" 12.8.0 2025.1.0 26
	examine
	assert_success
	refute_output --partial "needs CUPTI of CUDA 12.6"
	assert_output --regexp "no libnvperf_host.so beside .*profile --counters"
	put "$TREE" /usr/local/cuda-12.8/targets/x86_64-linux/lib/libnvperf_host.so libnvperf_host.so 1
	examine
	refute_output --partial libnvperf_host
}

@test "doctor (locked down, WSL) says what each means for tracing" {
	requires root unshare
	[ -d /sys/kernel/security ] || skip "needs a folder /sys/kernel/security to mount on"
	# $1 what /sys/kernel/security/lockdown says, $2 a device that there is
	locked() {
		run unshare --mount sh -c 'mount -t tmpfs none /sys/kernel/security &&
			echo "$1" >/sys/kernel/security/lockdown && mount -t tmpfs none /dev &&
			mknod -m 666 /dev/null c 1 3 && : >"/dev/$2" && exec "$3" doctor' sh "$@" "$CUDA_TRACE"
	}
	locked 'none integrity [confidentiality]' dxg
	assert_failure 1
	assert_output --regexp "locked down \(confidentiality\).*lockdown=integrity"
	[ ! -d /proc/driver/nvidia/gpus ] || skip "a real GPU hides WSL"
	assert_output --partial "this is WSL"
	locked 'none [integrity] confidentiality' none
	refute_output --partial "locked down"
	refute_output --partial "this is WSL"
}

@test "doctor --deep (on a terminal) shows where it is, elsewhere it does not" {
	requires script
	put "$TREE" /data/cuda/extras/CUPTI/lib64/libcupti.so.12 libcupti.so.12 22
	run script -qec "'$CUDA_TRACE' doctor --deep --root '$TREE'" /dev/null
	assert_output --partial $'\r\e[K/'
	run "$CUDA_TRACE" doctor --deep --root "$TREE"
	refute_output --partial $'\r'
	run script -qec "'$CUDA_TRACE' doctor --root '$TREE'" /dev/null
	refute_output --partial $'\e[K/'
}

@test "doctor -p (CUDA process without the agent) says why" {
	local lib=$BATS_TEST_TMPDIR/lib
	mkdir -p "$lib"
	cp "$(fake libcuda.so.1 13000)" "$lib/libcuda.so.1"
	mapper plain "$lib/libcuda.so.1"
	about "$plain_PID"
	assert_failure 1
	assert_output --partial "the program was started without CUDA_INJECTION64_PATH | fix: cuda-trace enable"

	CUDA_INJECTION64_PATH=/opt/other/libprofiler.so mapper other "$lib/libcuda.so.1"
	about "$other_PID"
	assert_output --partial "CUDA_INJECTION64_PATH is /opt/other/libprofiler.so, another tool's"

	CUDA_INJECTION64_PATH=$lib/nowhere/libcupti-usdt.so mapper lost "$lib/libcuda.so.1"
	about "$lost_PID"
	assert_output --partial "nowhere/libcupti-usdt.so does not exist in the process's file system"

	CUDA_TRACE=off CUDA_INJECTION64_PATH=$lib/libcuda.so.1 mapper off "$lib/libcuda.so.1"
	about "$off_PID"
	assert_output --partial "CUDA_TRACE=off is in its environment"

	mapper none "$BATS_FILE_TMPDIR/mapper"
	about "$none_PID"
	assert_output --partial "has not loaded the CUDA driver"
}

@test "doctor -p (CUPTI before the driver) says that counters may return no values" {
	local lib=$BATS_TEST_TMPDIR/lib api renamed=-DcuptiGetVersion=cuDriverGetVersion
	mkdir -p "$lib"
	cp "$(fake libcuda.so.1 13000 "$renamed")" "$lib/libcuda.so.1"
	export LD_LIBRARY_PATH=$lib
	for api in 22 26 27 28; do
		cp --remove-destination "$(fake libcupti.so.12 "$api")" "$lib/libcupti.so.12"
		mapper "old$api" "$lib/libcuda.so.1" "$lib/libcupti.so.12"
		local pid=old${api}_PID
		about "${!pid}"
		if [ "$api" = 22 ]; then
			refute_output --partial "may return no values"
		else
			assert_output --partial "CUPTI of 12.8 and 12.9 returned none and reported no error"
		fi
	done
	cp "$(fake libcupti.so.13 130001)" "$lib/libcupti.so.13"
	mapper new "$lib/libcuda.so.1" "$lib/libcupti.so.13"
	about "$new_PID"
	refute_output --partial "may return no values"
	rm "$lib/libcupti.so.13"
	cp --remove-destination "$(fake libcuda.so.1 12080 "$renamed")" "$lib/libcuda.so.1"
	mapper then "$lib/libcuda.so.1" "$lib/libcupti.so.12"
	about "$then_PID"
	refute_output --partial "may return no values"
}

@test "doctor -p (two libcupti in one process) warns of the collision" {
	local lib=$BATS_TEST_TMPDIR/lib
	mkdir -p "$lib"/{a,b}
	cp "$(fake libcuda.so.1 13000)" "$lib/libcuda.so.1"
	cp "$(fake libcupti.so.12 24)" "$lib/a/libcupti.so.12"
	cp "$(fake libcupti.so.13 130001)" "$lib/b/libcupti.so.13"
	mapper two "$lib/libcuda.so.1" "$lib/a/libcupti.so.12" "$lib/b/libcupti.so.13"
	about "$two_PID"
	assert_failure 1
	assert_output --partial "2 different copies of libcupti: they conflict"
}

@test "doctor -p (process in a root of its own) looks there, not here" {
	requires root
	ubuntu2204 "$TREE"
	cuda_devel "$TREE" 12.4.1 2024.1.1 22
	put "$TREE" /usr/lib/x86_64-linux-gnu/libcuda.so.1 libcuda.so.1 12040
	CUDA_INJECTION64_PATH=/usr/lib/cuda-trace/libcupti-usdt.so mapper contained -r "$TREE" \
		/usr/lib/x86_64-linux-gnu/libcuda.so.1 \
		/usr/local/cuda-12.4/targets/x86_64-linux/lib/libcudart.so.12.4.127
	about "$contained_PID"
	assert_output --partial "in a file system of its own (a container)"
	assert_output --partial "fix: start the container with --device cuda-trace/"
	assert_equal "$(choice)" /usr/local/cuda-12.4/targets/x86_64-linux/lib/libcupti.so.12
	expect_library /usr/local/cuda-12.4/lib64/libcupti.so usable toolkit 12.4 22
	# Nothing of a process's own root is run.
	assert_equal "$(library /usr/local/cuda-12.4/lib64/libcupti.so api_how)" "read from its code"
	refute_output --partial "$TREE"
}

@test "doctor -p (another client holds CUPTI) names it" {
	requires bpf sim
	# One that sleeps has not met the other client.
	SIMCUDA_OTHER_SUBSCRIBER=$'Nsight \e[31m' CUDA_INJECTION64_PATH=$AGENT start held "$SIM" \
		"$WORKLOADS/launch-storm" --seconds 20 --pause 20000
	ready held
	start tool "$CUDA_TRACE" stat -p "$held_PID" -d 30 --json
	yields() { ct list --json | jq -se "any(.pid == $held_PID and .state == \"yielded\")" >"$BATS_TEST_TMPDIR/yielding"; }
	wait_for 20 yields
	about "$held_PID"
	assert_failure 1
	assert_output --partial 'another CUPTI client uses this process: Nsight \x1b[31m'
	assert_equal "$(of_json 'select(.key == "state") | .facts.holder')" 'Nsight \x1b[31m'
}

@test "doctor -p (the library sleeps, CUPTI is initialised) says which" {
	requires bpf sim
	CUDA_INJECTION64_PATH=$AGENT start held "$SIM" "$WORKLOADS/launch-storm" --seconds 30 --pause 20000
	ready held
	about "$held_PID"
	assert_output --partial "it is dormant: no thread, no libcupti; the first tool that attaches activates it"
	run -0 ct attach -p "$held_PID"
	about "$held_PID"
	assert_output --partial "initialising CUPTI took"
	assert_equal "$(of_json 'select(.key == "state") | .facts | [.subscribing, .prime_us > 0] | @json')" "[false,true]"
}

@test "doctor -p (a program that was not prepared) says that the library can be loaded" {
	requires bpf sim
	start held "$SIM" "$WORKLOADS/launch-storm" --seconds 30 --pause 20000
	ready held
	about "$held_PID"
	assert_output --partial "the injection library is not loaded, and can be: any command with -p does so"
	assert_output --partial "fix: sudo cuda-trace stat -p $held_PID"
}

@test "doctor (links for many probes) says what comes of it without them" {
	requires bpf
	JSON=$BATS_TEST_TMPDIR/json
	ct doctor --json >"$JSON" || true
	assert_equal "$(of_json 'select(.key == "links") | .severity')" ok
	CUDA_TRACE_LINKS=single ct doctor --json >"$JSON" || true
	assert_equal "$(of_json 'select(.key == "links") | [.severity, .text] | @tsv')" \
		$'note\tno uprobe_multi links (Linux 6.6): attaching is slow, and a running program\'s threads are stopped only at libcuda\'s most frequently called functions'
}

@test "doctor -p (no such process) fails with a reason" {
	run ct doctor -p 4194304
	assert_failure 1
	assert_output --partial "4194304"
}

# agree NAME: the agent of a running program took what doctor would have foretold.
agree() {
	local name=$1_PID taken
	wait_for 10 grep -q libcupti-usdt "/proc/${!name}/maps"
	wait_for 10 ct attach -p "${!name}"
	wait_for 10 grep -Eq 'libcupti(-[0-9a-f]+)?\.so\.1' "/proc/${!name}/maps"
	sleep 0.3
	about "${!name}"
	taken=$(of_json 'select(.key == "state") | .facts.cupti_path')
	[ "$taken" != null ] || fail "$output"
	assert_equal "$(realpath "/proc/${!name}/root$(of_json 'select(.key == "libcupti") | .facts.without_mapped')")" \
		"$(realpath "/proc/${!name}/root$taken")"
	assert_equal "$taken" "$2"
}

@test "doctor -p foretells the very libcupti that the agent takes" {
	requires bpf sim
	local sim=$B/simcuda dir=$BATS_TEST_TMPDIR/dirs
	local storm=("$WORKLOADS/launch-storm" --seconds 20 --pause 20000)
	export CUDA_INJECTION64_PATH=$AGENT
	mkdir -p "$dir"/{driver,home/extras/CUPTI/lib64,named}
	ln -s "$(realpath "$sim/libcuda.so.1")" "$dir/driver/libcuda.so.1"
	cp "$sim/libcupti.so.13" "$dir/home/extras/CUPTI/lib64/libcupti.so.13"
	cp "$sim/libcupti.so.13" "$dir/named/mine.so"

	start loader "$SIM" "${storm[@]}"
	agree loader "$(realpath "$sim")/libcupti.so.13"
	stop_started

	LD_LIBRARY_PATH=$sim CUDA_HOME=$dir/home start home "${storm[@]}"
	agree home "$dir/home/extras/CUPTI/lib64/libcupti.so.13"
	assert_output --partial "search: the injection library searched: " || assert_output --partial "the injection library searched: "
	stop_started

	# A file by another name that says what it is.
	LD_LIBRARY_PATH=$dir/driver CUDA_TRACE_LIBCUPTI=$dir/home/extras/CUPTI/lib64/libcupti.so.13 \
		start named "${storm[@]}"
	agree named "$dir/home/extras/CUPTI/lib64/libcupti.so.13"
	stop_started

	# In a Python environment that is not activated; by a name with a hash.
	mkdir -p "$dir"/env/{bin,conda-meta,lib/python3.11/site-packages/nvidia/cuda_cupti/lib}
	cp "$WORKLOADS/launch-storm" "$dir/env/bin/"
	cp "$sim/libcupti.so.13" "$dir/env/lib/python3.11/site-packages/nvidia/cuda_cupti/lib/"
	LD_LIBRARY_PATH=$dir/driver start environment "$dir/env/bin/launch-storm" "${storm[@]:1}"
	agree environment "$dir/env/lib/python3.11/site-packages/nvidia/cuda_cupti/lib/libcupti.so.13"
	stop_started
	(cd "$dir/env/lib/python3.11/site-packages/nvidia/cuda_cupti/lib" && mv libcupti.so.13 libcupti-1a2b.so.13)
	LD_LIBRARY_PATH=$dir/driver start hashed "$dir/env/bin/launch-storm" "${storm[@]:1}"
	agree hashed "$dir/env/lib/python3.11/site-packages/nvidia/cuda_cupti/lib/libcupti-1a2b.so.13"
	stop_started

	# The newest toolkit of the major version, in a mount namespace of its own.
	requires unshare
	mkdir -p "$dir"/local/cuda-13.{2,10}/extras/CUPTI/lib64 "$dir/empty"
	cp "$sim/libcupti.so.13" "$dir/local/cuda-13.2/extras/CUPTI/lib64/"
	cp "$sim/libcupti.so.13" "$dir/local/cuda-13.10/extras/CUPTI/lib64/"
	LD_LIBRARY_PATH=$dir/driver start newest unshare -m sh -c \
		'mount --bind "$1/local" /usr/local && : >"$1/cache" && mount --bind "$1/cache" /etc/ld.so.cache &&
		shift && exec "$@"' sh "$dir" "${storm[@]}"
	agree newest /usr/local/cuda-13.10/extras/CUPTI/lib64/libcupti.so.13
}

@test "doctor (package manager that closes its output and stays) waits no longer than it may" {
	local query=$BATS_TEST_TMPDIR/query
	cc -std=gnu11 -D_GNU_SOURCE -I"$TOP" -o "$query" "$TOP/tests/inventory/unit_query.c" $(tool_sources package_query filetree rooted_path clock array_grow)
	SECONDS=0
	run -0 "$query" 1 /bin/sh -c 'echo all; exec >&-; exec sleep 30'
	assert_output "Connection timed out"
	run -0 "$query" 1 /bin/sleep 30
	assert_output "Connection timed out"
	[ "$SECONDS" -lt 10 ]
	run -0 "$query" 10 /bin/sh -c 'echo all; exit 3'
	assert_output "3: all"
	run -0 "$query" 10 /nowhere
	assert_output "No such file or directory"
}
