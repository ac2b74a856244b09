# SPDX-License-Identifier: GPL-2.0-or-later
"""lab sim: runs console commands (one an argument) and prints what ibsim says."""

import os
import sys

from ibsim import Console, IbsimError

try:
    console = Console(os.environ["FABRIC_CHECK_LAB"])
    console.lock()
    text = console.run(sys.argv[1:])
except (IbsimError, OSError) as e:
    sys.exit(f"lab: sim: {e}")
sys.stdout.write(text)
# ibsim marks a refused command with a comment, or says it is unknown.
bad = [l for l in text.splitlines() if l.endswith("unknown - skipped") or
       l.startswith(("# nodeid", "# field", "# attribute", "# value", "# bad port", "# command does", "# can't"))]
sys.exit(1 if bad else 0)
