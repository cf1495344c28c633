// SPDX-License-Identifier: BSD-2-Clause
// Functions with the names that PyTorch's have, which call each other as those do, without frame
// pointers, and launch the kernel `spin`: forward on the thread that calls, backward on a thread of
// its own, as autograd does.
#include <pthread.h>
#include <stdint.h>

#ifdef __clang__
#define FUNCTION __attribute__((noinline))
#else
#define FUNCTION __attribute__((noinline, noclone))
#endif
#define SHOWN __attribute__((visibility("default"))) FUNCTION

int cuLaunchKernel(void *kernel, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
		   unsigned int block_x, unsigned int block_y, unsigned int block_z,
		   unsigned int shared_bytes, void *stream, void **parameters, void **extra);
int cuCtxSetCurrent(void *context);

SHOWN void operators_start(void *used_context, void *used_kernel);
SHOWN int64_t operators_linear(uint64_t ns);
SHOWN int64_t operators_backward(uint64_t ns);
SHOWN int64_t operators_custom(uint64_t ns);
SHOWN int64_t operators_thread(uint64_t ns);

static void *context, *kernel;

static FUNCTION int64_t launch(uint64_t ns)
{
	void *parameters[] = {&ns};

	return cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, parameters, 0);
}

/* As cuBLAS does it: a function with an aligned stack, and something in it of a size that is known
 * at run time. Where its registers are saved, only DWARF expressions can say. */
static FUNCTION int64_t blas_aligned(uint64_t ns, const int64_t *values)
{
	int64_t a = values[0] | 1, b = values[1] | 1, c = values[2] | 1, d = values[3] | 1;
	volatile int64_t aligned[8] __attribute__((aligned(64))) = {a, b};
	volatile char *space = __builtin_alloca((values[0] & 63) + 16);
	int64_t sum = launch(ns) + aligned[1];

	sum += space[0] = 0;
	return sum + a * b + c * d;
}

/* Its frame is found by the frame pointer, which the inner function has saved. */
static FUNCTION int64_t blas(uint64_t ns)
{
	volatile int64_t values[4] = {1, 2, 3, 4};
	volatile char *space = __builtin_alloca((ns & 63) + 16);
	int64_t sum = blas_aligned(ns, (const int64_t *)values);

	sum += space[0] = 0;
	return sum + values[1];
}

/* What happens after the call keeps it from being a jump. */
#define CALLS(function, name, callee)                      \
	SHOWN int64_t function(uint64_t ns) __asm__(name); \
	int64_t function(uint64_t ns)                      \
	{                                                  \
		return callee(ns) * 3 + 1;                 \
	}

CALLS(addmm_redispatch,
      "_ZN2at4_ops5addmm10redispatchEN3c1014DispatchKeySetERKNS_6TensorES6_S6_RKNS2_6ScalarES9_",
      blas)
CALLS(addmm_call, "_ZN2at4_ops5addmm4callERKNS_6TensorES4_S4_RKN3c106ScalarES8_", addmm_redispatch)
CALLS(linear_call, "_ZN2at4_ops6linear4callERKNS_6TensorES4_RKSt8optionalIS2_E", addmm_call)
CALLS(mm_call, "_ZN2at4_ops2mm4callERKNS_6TensorES4_", launch)
CALLS(add_call, "_ZN2at4_ops11add__Tensor4callERNS_6TensorERKS2_RKN3c106ScalarE", launch)
CALLS(ones_like_call, "_ZN2at4_ops9ones_like4callERKNS_6TensorE", launch)
CALLS(addmm_backward,
      "_ZN5torch8autograd9generated14AddmmBackward05applyEOSt6vectorIN2at6TensorESaIS4_EE", mm_call)
CALLS(relu_backward,
      "_ZN5torch8autograd9generated13ReluBackward05applyEOSt6vectorIN2at6TensorESaIS4_EE", launch)
CALLS(accumulate, "_ZN5torch8autograd14AccumulateGrad5applyEOSt6vectorIN2at6TensorESaIS3_EE",
      add_call)

SHOWN void *thread_main(void *ns) __asm__(
	"_ZN5torch8autograd6Engine11thread_mainERKSt10shared_ptrINS0_9GraphTaskEE");

void *thread_main(void *argument)
{
	uint64_t ns = (uintptr_t)argument;

	cuCtxSetCurrent(context);
	return (void *)(uintptr_t)(addmm_backward(ns) + relu_backward(ns) + accumulate(ns));
}

static FUNCTION void *plain_thread(void *argument)
{
	cuCtxSetCurrent(context);
	return (void *)(uintptr_t)(launch((uintptr_t)argument) * 3);
}

static int64_t run_thread(void *(*run)(void *), uint64_t ns)
{
	pthread_t thread;

	if (pthread_create(&thread, 0, run, (void *)(uintptr_t)ns))
		return -1;
	return pthread_join(thread, 0);
}

void operators_start(void *used_context, void *used_kernel)
{
	context = used_context;
	kernel = used_kernel;
}

int64_t operators_linear(uint64_t ns)
{
	return linear_call(ns) + 1;
}

int64_t operators_backward(uint64_t ns)
{
	/* The gradient that backward() begins with. */
	return ones_like_call(ns) + run_thread(thread_main, ns);
}

int64_t operators_custom(uint64_t ns)
{
	return launch(ns) * 5 + 1;
}

int64_t operators_thread(uint64_t ns)
{
	return run_thread(plain_thread, ns);
}
