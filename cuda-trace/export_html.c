#include <errno.h>
#include "cuda-trace/export.h"
int export_html(const struct report_file *file, FILE *out)
{
	return -ENOSYS;
}
