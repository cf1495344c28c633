#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace report --by: which operator, module, line or range a kernel belongs to.

load ../lib/helpers
load ../symbols/stacks/recorded

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
	exec 9>&-
	stop_started
}

# rows WHAT ARGS...: "TOTAL_NS KERNELS WHAT" of each row
rows() {
	ct report --by "$1" --json "${@:2}" r.db | jq -r --arg what "$1" '"\(.total_ns) \(.kernels) \(.[$what])"'
}

line_of() {
	awk -v name="$1" '$1 == "line" && $2 == name { print $3 }' rec.out
}

@test "report --by operator (functions named as PyTorch's) has the operator that launched each kernel" {
	requires bpf sim sqlite3 python3
	record_step 3
	run -0 rows operator
	assert_line --index 0 "180000 6 aten::addmm"
	assert_line --index 1 "60000 3 custom (train.py)"
	assert_line "30000 3 aten::mm"
	assert_line "30000 3 aten::add_"
	assert_line "30000 3 aten::ones_like"
	assert_line "30000 3 ReluBackward0"
	# What has none is last, and is not hidden by a limit.
	assert_line --index 6 "15000 3 [no operator]"
	assert_equal "${#lines[@]}" 7
	run -0 rows operator -n 1
	assert_output "180000 6 aten::addmm
15000 3 [no operator]"
	assert_equal "$(ct report --by operator --json -n 1 r.db | jq -c '[.table, .time_pct, .mean_ns]' | tr '\n' ' ')" \
		'["by_operator",48,30000] ["by_operator",4,5000] '
	run -0 ct report --by operator r.db
	assert_line --index 0 'GPU time of kernels, by operator'
	assert_line --regexp '^ 48\.0% +180\.0 us +6 +30\.00 us  aten::addmm$'
	run -0 ct report --by operator --csv r.db
	assert_line --index 0 'time_pct,total_ns,kernels,mean_ns,operator'
}

@test "report --by line and module (packages of others between) have the program's line, the chain of forward()" {
	requires bpf sim sqlite3 python3
	record_step 2
	run -0 rows line
	assert_line --index 0 "120000 4 train.py:$(line_of block) Block.forward"
	# Three in four of them are launched by a thread of autograd, on which no Python runs.
	assert_line --index 1 "80000 8 train.py:$(line_of backward) step"
	assert_line --index 2 "40000 2 train.py:$(line_of custom) custom"
	assert_line --index 3 "10000 2 [no line]"
	assert_equal "${#lines[@]}" 4
	assert_equal "$(ct report --by line --json -n 1 r.db | jq -rs '.[0].file')" "$TOP/tests/workloads/operators/train.py"
	run -0 rows module
	assert_output "120000 4 Model > Block > Linear
130000 12 [no module]"
	# A program that is itself an installed package: the lines of that package.
	sqlite3 r.db "UPDATE StringIds SET value = '/usr/lib/python3/dist-packages/serve/' || value WHERE value = 'train.py';
		UPDATE StringIds SET value = '/usr/lib/python3/dist-packages/serve/train.py' WHERE value LIKE '%/operators/train.py'"
	run -0 rows line
	assert_line --index 0 "120000 4 train.py:$(line_of block) Block.forward"
	# Lines of Python's own library are nobody's.
	sqlite3 r.db "UPDATE StringIds SET value = '/usr/lib/python3.11/train.py' WHERE value LIKE '%/serve/train.py'"
	run -0 rows line
	assert_line --regexp '^120000 4 __init__.py:[0-9]+ Linear.forward$'
}

@test "report --by line (text that was executed) has it for the program's line, unless a package made it" {
	requires bpf sim sqlite3 python3
	cat >launches.py <<-END
		import sys
		sys.path.insert(0, "$TOP/tests/workloads/operators")
		import train, triton
		train.start()
		triton.run(train.torch.native, 20000)
		train.torch.native.operators_custom(10000)
		train.check(train.cuda.cuCtxSynchronize())
		print("expect launches=2 kernels=2", flush=True)
		sys.stdin.read()
	END
	record_python -c "$(<launches.py)" "$WORKLOADS/liboperators.so"
	run -0 rows line
	assert_output "20000 1 <string>:5 <module>
10000 1 <string>:6 <module>"
	record_python "$PWD/launches.py" "$WORKLOADS/liboperators.so"
	run -0 rows line
	assert_output "20000 1 launches.py:5 <module>
10000 1 launches.py:6 <module>"
}

@test "report --by line (backward passes whose call launched nothing, or with stacks of some launches) does not guess" {
	requires bpf sim sqlite3 python3
	record_step 2
	cp r.db whole.db
	# The kernel that fills the first gradient has no stack: the last launch with Python before is of Block.forward.
	sqlite3 r.db "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET callchainId = NULL WHERE callchainId IN
		(SELECT c.id FROM CUDA_CALLCHAINS AS c JOIN StringIds AS s ON s.id = symbol WHERE value LIKE 'at::_ops::ones_like%')"
	run -0 rows line
	assert_line "70000 8 [no line]"
	assert_line "20000 2 [no stack]"
	refute_output --partial " step"
	# Only that of the second call: the first one has returned by then.
	cp whole.db r.db
	sqlite3 r.db "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET callchainId = NULL WHERE start IN
		(SELECT max(r.start) FROM CUPTI_ACTIVITY_KIND_RUNTIME AS r JOIN CUDA_CALLCHAINS AS c ON c.id = callchainId
			JOIN StringIds AS s ON s.id = symbol WHERE value LIKE 'at::_ops::ones_like%')"
	run -0 rows line
	assert_line "40000 4 train.py:$(line_of backward) step"
	assert_line "40000 5 [no line]"
	# Two threads that may be in backward(): the first call is one of another thread, which launches nothing more.
	cp whole.db r.db
	sqlite3 r.db "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET globalTid = globalTid + 1 WHERE start IN
		(SELECT min(r.start) FROM CUPTI_ACTIVITY_KIND_RUNTIME AS r JOIN CUDA_CALLCHAINS AS c ON c.id = callchainId
			JOIN StringIds AS s ON s.id = symbol WHERE value LIKE 'at::_ops::ones_like%')"
	run -0 rows line
	assert_line "50000 5 train.py:$(line_of backward) step"
	assert_line "40000 5 [no line]"
	cp whole.db r.db
	sqlite3 r.db "UPDATE META_DATA_CAPTURE SET value = '10' WHERE name = 'STACK_PERIOD'"
	run -0 --separate-stderr rows line
	assert_line "20000 2 train.py:$(line_of backward) step"
	assert_line "70000 8 [no line]"
}

@test "report --by range (nested NVTX ranges) has the innermost that was open at the launch" {
	requires bpf sim sqlite3
	ct record -e kernels,nvtx -o r.db -- "$SIM" "$WORKLOADS/nvtx" 4 >out 2>err || { cat err; false; }
	run -0 rows range
	assert_output --regexp ' 4 outer(
|$)'
	assert_output --regexp ' 4 inner(
|$)'
	assert_output --regexp ' 4 in a domain(
|$)'
	assert_equal "$(rows range | awk '{ sum += $2 } END { print sum }')" "$(expect_key out kernels)"
	run -0 ct report --by range --folded - r.db
	assert_line --regexp '^nvtx;outer;inner;GPU 0;stream [0-9]+;'
	refute_output --partial 'across'
	# Ranges that ended before the launch.
	sqlite3 r.db "UPDATE NVTX_EVENTS SET end = start + 1 WHERE textId IN
		(SELECT id FROM StringIds WHERE value IN ('inner', 'in a domain'))"
	run -0 rows range
	assert_output --regexp ' 8 outer(
|$)'
	assert_output --regexp ' [1-9][0-9]* \[no range\]$'
}

@test "report --by (with --folded, --flamegraph, --pprof) groups those, and each sums to the kernels' time" {
	requires bpf sim sqlite3 python3 protoc
	record_step 2
	run -0 ct report --by operator --folded - r.db
	assert_line --regexp '^python3[^;]*;aten::linear;aten::addmm;GPU 0;stream [0-9]+;spin 120000$'
	assert_line --regexp '^python3[^;]*;AddmmBackward0;aten::mm;GPU 0;stream [0-9]+;spin 20000$'
	assert_line --regexp '^python3[^;]*;\[no operator\];GPU 0;stream [0-9]+;spin 10000$'
	assert_equal "$(awk '{ sum += $NF } END { print sum }' <<<"$output")" 250000
	run -0 ct report --by module --folded - r.db
	assert_line --regexp '^python3[^;]*;Model;Block;Linear;GPU 0;stream [0-9]+;spin 120000$'
	run -0 ct report --by kernel --folded - r.db
	assert_output --regexp '^python3[^;]*;GPU 0;stream [0-9]+;spin 250000$'
	ct report --by line --flamegraph f.svg --pprof p.pb.gz r.db
	grep -q "train.py:$(line_of block) Block.forward" f.svg
	zcat p.pb.gz | protoc --decode_raw >p.txt
	grep -q '"Block.forward"' p.txt
	grep -q 'operators/train.py"' p.txt
}

@test "report --timeline (functions named as PyTorch's) has each kernel's operator, module and line" {
	requires bpf sim sqlite3 python3
	record_step 1
	ct report --timeline t.json r.db
	kernels_with() {
		jq -r --arg key "$1" '[.traceEvents[] | select(.cat == "kernel") | .args[$key] // "none"] | group_by(.)[] | "\(length) \(.[0])"' t.json
	}
	assert_equal "$(kernels_with operator)" "1 ReluBackward0
1 aten::add_
2 aten::addmm
1 aten::mm
1 aten::ones_like
1 custom (train.py)
1 none"
	assert_equal "$(kernels_with module)" "2 Model > Block > Linear
6 none"
	assert_equal "$(kernels_with line)" "1 none
2 train.py:$(line_of block) Block.forward
1 train.py:$(line_of custom) custom
4 train.py:$(line_of backward) step"
}

@test "report --by operator (names of PyTorch's operators and others) distinguishes operator and overload" {
	requires bpf sim sqlite3 python3
	local symbol want
	record_step 1
	cp r.db whole.db
	while read -r symbol want; do
		cp whole.db r.db
		sqlite3 r.db "UPDATE StringIds SET value = '$symbol' WHERE value LIKE 'at::\_ops::mm::call%' ESCAPE '\'"
		run -0 rows operator
		assert_line "10000 1 $want"
	done <<-END
		at::_ops::sub__Tensor::call(at::Tensor&) aten::sub_
		at::_ops::sub_Tensor::redispatch aten::sub
		at::_ops::random__from::call aten::random_
		at::_ops::sum_dim_IntList::call aten::sum
		at::_ops::mul_out::call aten::mul
		at::_ops::arange_start_out::call aten::arange
		at::_ops::max_dim_max::call aten::max
		at::_ops::unique_dim::call aten::unique_dim
		at::_ops::clamp_min::call aten::clamp_min
		at::_ops::_foreach_add__List::call aten::_foreach_add_
		at::_ops::_softmax_backward_data::call aten::_softmax_backward_data
		at::_ops::__and___Scalar::call aten::__and__
		_ZN2at4_ops6linear4callERKNS_6TensorE aten::linear
		_ZN2at4_ops13index__Tensor10redispatchE aten::index_
		at::_ops::mm::name AddmmBackward0
		at::_ops::::call AddmmBackward0
		_ZN2at4_ops99999999999999999999mm4callE AddmmBackward0
		_ZN2at4_ops9mm4callE AddmmBackward0
		torch::autograd::Node::apply AddmmBackward0
		torch::autograd::PyNode::apply AddmmBackward0
		torch::autograd::CopySlices::apply(std::vector<at::Tensor>) CopySlices
		_ZN5torch8autograd9generated12MulBackward05applyEOSt6vector MulBackward0
	END
	# A name of 4000 letters, and one with what must not be printed.
	cp whole.db r.db
	sqlite3 r.db "UPDATE StringIds SET value = 'at::_ops::' || hex(zeroblob(2000)) || '::call' WHERE value LIKE 'at::\_ops::mm::call%' ESCAPE '\';
		UPDATE StringIds SET value = 'custom' || char(27) || '[31m' WHERE value LIKE 'train.py:% custom'"
	run -0 ct report --by operator r.db
	assert_line --regexp '  aten::0{100,300}$'
	refute_output --partial $'\e'
}

@test "report --by (no stacks, no ranges, samples only, wrong word) says what is missing" {
	requires bpf sim
	ct record -o r.db -- "$SIM" "$WORKLOADS/saxpy" >out 2>err || { cat err; false; }
	run -0 --separate-stderr rows operator
	assert_output --regexp "^[0-9]+ $(expect_key out kernels) \[no stack\]$"
	run -0 --separate-stderr ct report --by line r.db
	assert_equal "$stderr" "cuda-trace report: --by line: the recording has no call stacks (cuda-trace record -g -- PROGRAM)"
	run -0 --separate-stderr ct report --by range r.db
	assert_equal "$stderr" "cuda-trace report: --by range: the recording has no NVTX ranges (cuda-trace record -e kernels,copies,nvtx -- PROGRAM)"
	run -0 --separate-stderr rows kernel
	assert_equal "$(awk '{ sum += $2 } END { print sum }' <<<"$output")" "$(expect_key out kernels)"
	assert_equal "$stderr" ""
	run -2 ct report --by layer r.db
	assert_output --partial "'layer' is none of operator, module, line, range, kernel"
	run -2 ct report --compare --by line r.db r.db
	run -2 ct report --by line --sql 'SELECT 1' r.db
}

@test "report --by operator (stacks of one launch in ten) keeps the kernels' total, and says that it estimates" {
	requires bpf sim sqlite3
	ct record -g=10 -o r.db -- "$SIM" "$WORKLOADS/launch-storm" -n 5000 -b 500 >out 2>err || { cat err; false; }
	run -0 --separate-stderr rows operator
	[[ $stderr == *"one in 10 launches"*"estimates"* ]] || fail "not said: $stderr"
	assert_output "$(sql r.db 'SELECT sum(end - start), count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL' | tr '|' ' ') [no operator]"
}
