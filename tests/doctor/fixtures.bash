# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Builds what tests/doctor/doctor.bats looks at: small libraries and whole trees, one a way in which CUDA
# is installed. $FAKES holds each library once; trees get copies.

FAKES=${BATS_FILE_TMPDIR:-}/fakes

# fake SONAME API [CFLAGS...]: builds one (once), and says where it is.
fake() {
	local soname=$1 api=$2 out
	shift 2
	out=$FAKES/$soname-$api${*:+-$(echo "$*" | tr -c 'A-Za-z0-9\n' _)}
	if [ ! -e "$out" ]; then
		mkdir -p "$FAKES"
		${CC:-cc} -O2 -fPIC -shared -nostartfiles -Wl,-soname,"$soname" -DAPI="$api" "$@" \
			-o "$out" "$TOP/tests/doctor/fake_cupti.c" || return 1
	fi
	echo "$out"
}

# put TREE PATH SONAME API: a real file.
put() {
	mkdir -p "$1$(dirname "$2")"
	cp "$(fake "$3" "$4")" "$1$2"
}

# text TREE PATH: a file with what comes on stdin.
text() {
	mkdir -p "$1$(dirname "$2")"
	cat >"$1$2"
}

# link TREE PATH TO
link() {
	mkdir -p "$1$(dirname "$2")"
	ln -s "$3" "$1$2"
}

# dpkg_package TREE NAME VERSION [FILE...]: as dpkg remembers it.
dpkg_package() {
	local tree=$1 name=$2 version=$3
	shift 3
	mkdir -p "$tree/var/lib/dpkg/info"
	printf 'Package: %s\nStatus: install ok installed\nArchitecture: amd64\nVersion: %s\n\n' \
		"$name" "$version" >>"$tree/var/lib/dpkg/status"
	{ echo /.; [ $# = 0 ] || printf '%s\n' "$@"; } >"$tree/var/lib/dpkg/info/$name.list"
}

# rpm_package TREE DBPATH NAME VERSION FILE...: as rpm remembers it, in a database of rpm's own making.
rpm_package() {
	local tree=$1 dbpath=$2 name=$3 version=$4 work=$BATS_TEST_TMPDIR/rpm-$3 file force=
	shift 4
	# Debian's rpm asks whether this is meant.
	[ "$(rpm --eval '%{_vendor}')" != debian ] || force=--force-debian
	mkdir -p "$work" "$tree$dbpath"
	{
		printf '%s\n' "Name: $name" "Version: $version" "Release: 1" "Summary: a test" \
			"License: none" "%description" "a test" "%install"
		for file; do
			echo "mkdir -p '%{buildroot}${file%/*}' && touch '%{buildroot}$file'"
		done
		printf '%s\n' "%files" "$@"
	} >"$work/package.spec"
	rpmbuild -bb --quiet --define "_topdir $work" --define "_rpmdir $work" "$work/package.spec" >"$work/log" 2>&1 ||
		{ cat "$work/log"; return 1; }
	rpm --dbpath "$tree$dbpath" --nodeps --justdb --noscripts $force -i "$work"/*/*.rpm 2>"$work/log" || { cat "$work/log"; return 1; }
}

# distribution TREE ID VERSION NAME: with a C library that names the machine.
distribution() {
	local tree=$1
	printf 'PRETTY_NAME="%s"\nID=%s\nVERSION_ID="%s"\n' "$4" "$2" "$3" | text "$tree" /etc/os-release
	put "$tree" /usr/lib64/ld-linux-x86-64.so.2 ld-linux-x86-64.so.2 1
	link "$tree" /lib64 usr/lib64
}

ubuntu2204() {
	distribution "$1" ubuntu 22.04 "Ubuntu 22.04.4 LTS"
	dpkg_package "$1" libc6 2.35-0ubuntu3.8
}

# cuda_base TREE X.Y[.Z]: what nvidia/cuda:*-base has of CUDA.
cuda_base() {
	local tree=$1 full=$2 x y lib
	IFS=. read -r x y _ <<<"$full"
	lib=/usr/local/cuda-$x.$y/targets/x86_64-linux/lib
	put "$tree" "$lib/libcudart.so.$x.$y.127" "libcudart.so.$x" 1
	link "$tree" "$lib/libcudart.so.$x" "libcudart.so.$x.$y.127"
	link "$tree" "/usr/local/cuda-$x.$y/lib64" targets/x86_64-linux/lib
	link "$tree" /usr/local/cuda "cuda-$x.$y"
	printf '{\n   "cuda" : {\n      "name" : "CUDA SDK",\n      "version" : "%s"\n   }\n}\n' \
		"$full" | text "$tree" "/usr/local/cuda-$x.$y/version.json"
	dpkg_package "$tree" "cuda-cudart-$x-$y" "$x.$y.127-1" "$lib/libcudart.so.$x"
}

cuda_runtime() {
	local tree=$1 x y
	cuda_base "$tree" "$2"
	IFS=. read -r x y _ <<<"$2"
	put "$tree" "/usr/local/cuda-$x.$y/targets/x86_64-linux/lib/libcublas.so.$x" "libcublas.so.$x" 1
	dpkg_package "$tree" "cuda-libraries-$x-$y" "$2-1"
}

# cuda_devel TREE X.Y.Z YEAR.N API: with CUPTI, as NVIDIA's deb puts it.
cuda_devel() {
	local tree=$1 x y root
	cuda_runtime "$tree" "$2"
	IFS=. read -r x y _ <<<"$2"
	root=/usr/local/cuda-$x.$y
	text "$tree" "$root/bin/nvcc" </dev/null
	text "$tree" "$root/targets/x86_64-linux/include/cupti.h" </dev/null
	link "$tree" "$root/include" targets/x86_64-linux/include
	put "$tree" "$root/targets/x86_64-linux/lib/libcupti.so.$3" "libcupti.so.$x" "$4"
	link "$tree" "$root/targets/x86_64-linux/lib/libcupti.so.$x" "libcupti.so.$3"
	link "$tree" "$root/targets/x86_64-linux/lib/libcupti.so" "libcupti.so.$x"
	link "$tree" "$root/extras/CUPTI/lib64/libcupti.so.$x" \
		"../../../targets/x86_64-linux/lib/libcupti.so.$3"
	dpkg_package "$tree" "cuda-cupti-$x-$y" "$x.$y.127-1" \
		"$root/targets/x86_64-linux/lib/libcupti.so.$3" \
		"$root/targets/x86_64-linux/lib/libcupti.so.$x"
}

# patch FILE OFFSET HEXBYTES
patch() {
	printf '%b' "$(sed 's/../\\x&/g' <<<"$3")" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
