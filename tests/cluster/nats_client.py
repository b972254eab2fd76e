"""A client of NATS that sends what it is told, also what no client of joedb sends."""
import json
import secrets
import socket
import ssl


class Refused(Exception):
    """The server does not let this user do it, or does not know anybody who answers."""


class Nats_Client:
    """One connection. What comes for its subscriptions is kept until request() or next() takes it."""

    def __init__(self, port, user, password, authority, seconds=10):
        self.seconds = seconds
        plain = socket.create_connection(('127.0.0.1', port), seconds)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else a PING waits 40 ms for an acknowledgement
        line = b''
        while not line.endswith(b'\r\n'):
            line += plain.recv(1)  # what follows belongs to TLS
        context = ssl.create_default_context(cafile=authority)
        self.socket = context.wrap_socket(plain, server_hostname='127.0.0.1')
        self.stream = self.socket.makefile('rb')
        self.inbox = '_INBOX.' + secrets.token_hex(8)
        self.errors, self.messages = [], []
        self.send('CONNECT ' + json.dumps({'user': user, 'pass': password, 'headers': True, 'no_responders': True,
                                           'verbose': False, 'pedantic': False, 'lang': 'python', 'version': '0'}))
        self.subscribe(self.inbox + '.*')
        self.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stream.close()
        self.socket.close()

    def send(self, line, data=None):
        self.socket.sendall(line.encode() + b'\r\n' + (b'' if data is None else data + b'\r\n'))

    def subscribe(self, subject):
        self.send(f'SUB {subject} {secrets.randbelow(1 << 30)}')

    def publish(self, subject, body=b'', reply='', headers=None):
        if headers is None:
            self.send(f'PUB {subject} {reply} {len(body)}', body)
            return
        head = b'NATS/1.0\r\n' + b''.join(f'{key}: {value}\r\n'.encode() for key, value in headers.items()) + b'\r\n'
        self.send(f'HPUB {subject} {reply} {len(head)} {len(head) + len(body)}', head + body)

    def flush(self):
        """Until the server has seen all that was sent. Raises Refused if it has refused some of it."""
        self.send('PING')
        while self.take() != 'PONG':
            pass
        if self.errors:
            errors, self.errors = self.errors, []
            raise Refused('; '.join(errors))

    def take(self):
        """Reads one line of the protocol, and says its first word."""
        line = self.stream.readline().decode()
        word, *rest = line.split() or ['']
        if word == '':
            raise ConnectionError('the server has closed the connection')
        if word == 'PING':
            self.send('PONG')
        elif word == '-ERR':
            self.errors.append(line[5:].strip())
        elif word in ('MSG', 'HMSG'):
            data = self.stream.read(int(rest[-1]) + 2)[:-2]
            head_size = int(rest[-2]) if word == 'HMSG' else 0
            self.messages.append((rest[0], data[:head_size].decode(), data[head_size:]))
        return word

    def next(self, subject):
        """(header, body) of the next message of a subject, which has come or comes."""
        while True:
            for i, (name, head, body) in enumerate(self.messages):
                if name == subject:
                    del self.messages[i]
                    return head, body
            self.take()
            if self.errors:
                errors, self.errors = self.errors, []
                raise Refused('; '.join(errors))

    def request(self, subject, body=b'', headers=None):
        """(header, body) of the answer. Raises Refused, or TimeoutError without an answer."""
        reply = f'{self.inbox}.{secrets.token_hex(4)}'
        self.publish(subject, body if isinstance(body, bytes) else json.dumps(body).encode(), reply, headers)
        head, answer = self.next(reply)
        if head.startswith('NATS/1.0 503'):
            raise Refused(f'nobody answers {subject}')
        return head, answer

    def api(self, what, body=b''):
        """The answer of JetStream's interface, as JSON."""
        return json.loads(self.request('$JS.API.' + what, body)[1])
