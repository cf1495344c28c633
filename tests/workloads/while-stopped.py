# SPDX-License-Identifier: BSD-2-Clause
"""while-stopped.py PROGRAM.py [ARGUMENT...]: runs it while its parent, the tool, is stopped, which then goes on."""
import os
import runpy
import signal
import sys

del sys.argv[0]
sys.path[0] = os.path.dirname(sys.argv[0])
os.kill(os.getppid(), signal.SIGSTOP)
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    os.kill(os.getppid(), signal.SIGCONT)
