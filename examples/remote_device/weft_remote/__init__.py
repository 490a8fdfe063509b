"""REMOTE: kernels of weft on another machine. `python -m weft_remote.server PORT` there, and here
`device="REMOTE:host:port"`; plain REMOTE starts a server of its own in another process."""

import os
import sys
from multiprocessing.connection import Client
from socket import IPPROTO_TCP, SHUT_RDWR, TCP_NODELAY, socket
from subprocess import PIPE, Popen
from threading import Lock

import weft.plugin as weft

weft_api = (1, 0)
KEY = os.environ.get("WEFT_REMOTE_KEY", "weft").encode()
ERRORS = {"MemoryError": weft.OutOfMemory, "CompileError": weft.CompileError}


class Remote(weft.Device):
    """A connection. Commands run later, in order; requests are answered."""

    def __init__(self, id):
        self.server, self.lock, self.freed = None, Lock(), []
        host, _, port = id.locator.rpartition(":")
        if not host:
            self.server = Popen([sys.executable, "-m", "weft_remote.server", "0"], stdout=PIPE)
            host, port = "127.0.0.1", self.server.stdout.readline()
        try:
            self.connection = Client((host, int(port)), authkey=KEY)
        except (OSError, ValueError) as error:
            raise weft.DeviceUnavailable("nobody answers there", because=str(error)) from error
        self.socket = socket(fileno=os.dup(self.connection.fileno()))
        self.socket.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
        compute = weft.ComputeCaps(limits=weft.KernelLimits(max_buffers=31))
        self.fingerprint = self.ask("machine")
        super().__init__(id, weft.Capabilities(compute=compute, fingerprint=self.fingerprint))

    def tell(self, what, *arguments, asked=False):
        with self.lock:
            freed, self.freed = self.freed, []
            self.connection.send((asked, what, arguments, freed))
            failed, answer = self.connection.recv() if asked else (None, None)
        if failed:
            raise ERRORS.get(failed, RuntimeError)(f"{failed} on the server: {answer}")
        return answer

    def ask(self, what, *arguments):
        return self.tell(what, *arguments, asked=True)

    def compile(self, source, name):
        return self.ask("compile", source)

    def synchronize(self):
        self.ask("machine")

    def close(self):
        self.connection.close()
        if self.server and self.server.poll() is None:
            self.socket.shutdown(SHUT_RDWR)  # forks of this process have the connection too
            self.server.wait()


class Memory(weft.Allocator[tuple]):
    """A handle is (number of an allocation, offset, bytes)."""

    def __init__(self, device):
        self.device = device

    def allocate(self, nbytes, hints):
        return (self.device.ask("allocate", nbytes), 0, nbytes)

    def free(self, handle, nbytes):  # may come from a destructor, in the middle of anything
        self.device.freed.append(handle[0])

    def view(self, handle, offset, nbytes):
        return (handle[0], handle[1] + offset, nbytes)

    def copy_in(self, dst, src):
        self.device.tell("write", dst, bytes(src))

    def copy_out(self, dst, src):
        dst[:] = self.device.ask("read", src)


class Runner:
    def __init__(self, device, program):
        sizes = [u.dtype.bitsize for u in program.program.variables]
        self.device, self.number = device, device.ask("load", program.binary, program.name, sizes)

    def __call__(self, handles, *, global_size, local_size, values, wait):
        return self.device.tell("launch", self.number, list(handles), list(values), asked=wait)


FAMILY = weft.DeviceFamily("REMOTE", priority=-100, canonical=lambda place: place or "0")
weft_devices = weft.hookimpl(lambda: [FAMILY], specname="weft_devices")
weft_open = weft.hookimpl(lambda id: Remote(id), specname="weft_open")
weft_allocator = weft.hookimpl(lambda device: Memory(device), specname="weft_allocator")
weft_renderer = weft.hookimpl(lambda: weft.CStyleRenderer(), specname="weft_renderer")
weft_compiler = weft.hookimpl(lambda device: device, specname="weft_compiler")
weft_runner = weft.hookimpl(lambda device, program: Runner(device, program), specname="weft_runner")
