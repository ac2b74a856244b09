#!/usr/bin/python3 -I
# SPDX-License-Identifier: GPL-2.0-or-later
"""hung_mount.py DIRECTORY: a file system there whose server answers what it takes to be mounted, takes every other request,
and never answers it: whoever asks waits in the kernel, and a kill does not end the wait. A FUSE server without a library.
Ends, and lets all of them go, with SIGTERM or when its parent ends."""
import ctypes
import os
import signal
import struct
import sys

FUSE_LOOKUP, FUSE_GETATTR, FUSE_INIT, FUSE_INTERRUPT, FUSE_OPENDIR, FUSE_STATFS = 1, 3, 26, 36, 27, 17
MS_NODEV_NOSUID = 4 | 2
PR_SET_PDEATHSIG = 1


def main():
    directory = sys.argv[1]
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
    if libc.mount(b"hung", directory.encode(), b"fuse", MS_NODEV_NOSUID, options) != 0:
        sys.exit(f"mount: {os.strerror(ctypes.get_errno())}")

    def end(*_):
        libc.umount2(directory.encode(), 2)
        os._exit(0)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    while True:
        request = os.read(device, 1 << 17)
        _, opcode, unique = struct.unpack_from("<IIQ", request)
        if opcode == FUSE_INIT:
            answer = struct.pack("<IIIIHHIIHHI", 7, 26, 1 << 16, 0, 16, 12, 1 << 16, 1, 0, 0, 0) + bytes(28)
        elif opcode == FUSE_GETATTR:  # of the root
            answer = struct.pack("<QII", 3600, 0, 0) + struct.pack("<QQQQQQIIIIIIIIII", 1, 0, 0, 0, 0, 0, 0, 0, 0,
                                                                  0o40755, 2, 0, 0, 0, 4096, 0)
        else:
            continue
        os.write(device, struct.pack("<IiQ", 16 + len(answer), 0, unique) + answer)


if __name__ == "__main__":
    main()
