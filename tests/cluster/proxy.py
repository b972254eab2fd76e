"""A network of local TCP connections that can be cut.

    network = Network()
    address = network.link('a', 'b', lambda: port_of_b)      # where a connects to b
    network.cut('a', 'b')                                    # both directions; nothing is closed
    network.heal()

A connection has two ends, which have names. What one end sends is held back while its way is cut, as where
packets are lost; the ends see nothing but silence. close() ends connections instead, and refuses new ones
until heal(). One thread moves all bytes.
"""
import collections
import selectors
import socket
import threading

HOST = '127.0.0.1'
BLOCK = 256 * 1024
# So much of what was not taken yet is kept; then nothing more is read, as where a window is full.
MOST_HELD = 4 * BLOCK
EVERYBODY = '*'


class Way:
    """The bytes that go from one socket to another."""

    def __init__(self, source, target, names):
        self.source, self.target, self.names = source, target, names
        self.blocks, self.size = collections.deque(), 0
        self.has_ended = False
        self.is_shut = False


class Network:
    def __init__(self):
        self.lock = threading.RLock()
        self.selector = selectors.DefaultSelector()
        self.links = {}      # of a listening socket: (names of the two ends, port to connect to)
        self.ways = {}       # of a socket: (what it sends, what it gets)
        self.masks = {}      # of a socket: what the selector waits for
        self.held = set()    # pairs of names: nothing gets from one to the other
        self.refused = set()
        self.bytes = 0
        self.wake, self.waked = socket.socketpair()
        for end in self.wake, self.waked:
            end.setblocking(False)
        self.selector.register(self.waked, selectors.EVENT_READ)
        self.is_open = True
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    # ---- for all threads

    def link(self, source, target, port_of_target):
        """Returns the port at which `source` connects to `target`, which listens at the port that the function
        returns (None: nowhere yet)."""
        listener = socket.create_server((HOST, 0), backlog=128)
        listener.setblocking(False)
        with self.lock:
            self.links[listener] = (source, target, port_of_target)
            self.selector.register(listener, selectors.EVENT_READ)
        self.notify()
        return listener.getsockname()[1]

    def hold(self, source, target):
        """Nothing gets from source to target any more ('*': from or to everybody)."""
        self.change(self.held.add, (source, target))

    def cut(self, a, b):
        self.hold(a, b)
        self.hold(b, a)

    def isolate(self, name):
        self.cut(name, EVERYBODY)

    def close(self, a, b):
        """Closes what is between them; nothing new is accepted."""
        with self.lock:
            self.refused |= {(a, b), (b, a)}
            for way in [ways[0] for ways in self.ways.values()]:
                if self.matches(way.names, self.refused):
                    self.end(way.source)
        self.notify()

    def heal(self):
        """Everything gets through again, with what was held back."""
        with self.lock:
            self.held.clear()
            self.refused.clear()
        self.notify()

    def stop(self):
        with self.lock:
            self.is_open = False
        self.notify()
        self.thread.join()
        for end in [*self.links, *self.ways, self.wake, self.waked]:
            end.close()
        self.selector.close()

    # ---- the thread

    def change(self, function, *arguments):
        with self.lock:
            function(*arguments)
        self.notify()

    def notify(self):
        try:
            self.wake.send(b'.')
        except BlockingIOError:
            pass  # it will wake up anyway

    @staticmethod
    def matches(names, pairs):
        source, target = names
        return any(a in (source, EVERYBODY) and b in (target, EVERYBODY) for a, b in pairs)

    def run(self):
        while True:
            events = self.selector.select()
            with self.lock:
                if not self.is_open:
                    return
                for key, mask in events:
                    self.handle(key.fileobj, mask)

    def handle(self, ready, mask):
        if ready is self.waked:
            self.drain(self.waked)
            for end in list(self.ways):
                self.update(end)
        elif ready in self.links:
            self.accept(ready)
        else:
            if ready in self.ways and mask & selectors.EVENT_WRITE:
                self.send(self.ways[ready][1])
            if ready in self.ways and mask & selectors.EVENT_READ:
                self.receive(self.ways[ready][0])

    @staticmethod
    def drain(end):
        try:
            while end.recv(4096):
                pass
        except BlockingIOError:
            pass

    def accept(self, listener):
        source, target, port_of_target = self.links[listener]
        try:
            near, _ = listener.accept()
        except (BlockingIOError, ConnectionError):
            return
        port = None if self.matches((source, target), self.refused) else port_of_target()
        try:
            if port is None:
                raise ConnectionRefusedError
            far = socket.create_connection((HOST, port), timeout=1)
        except OSError:
            near.close()
            return
        for end in near, far:
            end.setblocking(False)
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        there, back = Way(near, far, (source, target)), Way(far, near, (target, source))
        self.ways[near], self.ways[far] = (there, back), (back, there)
        for end in near, far:
            self.update(end)

    def receive(self, way):
        try:
            block = way.source.recv(BLOCK)
        except BlockingIOError:
            return
        except OSError:
            return self.end(way.source)
        self.bytes += len(block)
        if block:
            way.blocks.append(memoryview(block))
            way.size += len(block)
        else:
            way.has_ended = True
        self.send(way)

    def send(self, way):
        """As much as possible."""
        try:
            while way.blocks and not self.matches(way.names, self.held):
                sent = way.target.send(way.blocks[0])
                way.size -= sent
                if sent < len(way.blocks[0]):
                    way.blocks[0] = way.blocks[0][sent:]
                else:
                    way.blocks.popleft()
            # A silent network hides the end of a connection, too.
            if way.has_ended and not way.blocks and not self.matches(way.names, self.held):
                way.target.shutdown(socket.SHUT_WR)
                way.is_shut = True
        except BlockingIOError:
            pass
        except OSError:
            return self.end(way.source)
        if all(each.is_shut for each in self.ways[way.source]):
            return self.end(way.source)
        self.update(way.source)
        self.update(way.target)

    def update(self, end):
        """Lets the selector wait for what is possible next."""
        if end not in self.ways:
            return
        out, into = self.ways[end]
        reads = not out.has_ended and out.size < MOST_HELD
        writes = (into.blocks or into.has_ended and not into.is_shut) and \
            not self.matches(into.names, self.held)
        mask = selectors.EVENT_READ * bool(reads) | selectors.EVENT_WRITE * bool(writes)
        old = self.masks.get(end, 0)
        if mask == old:
            return
        if not old:
            self.selector.register(end, mask)
        elif not mask:
            self.selector.unregister(end)
        else:
            self.selector.modify(end, mask)
        self.masks[end] = mask

    def end(self, end):
        """Closes both ends of a connection."""
        if end not in self.ways:
            return
        out, _ = self.ways[end]
        for each in out.source, out.target:
            if self.masks.pop(each, 0):
                self.selector.unregister(each)
            del self.ways[each]
            each.close()
