#!/usr/bin/env python3
"""Databases that are compressed, behind a URL, or on an SFTP server, read by the tools.

usage: sources.py TOOLS_DIR [TEST...]

The web servers are of this process: good ones, and some that send whatever a test wants. A part that
the tools were built without is skipped.
"""
import concurrent.futures
import email.utils
import os
import re
import resource
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import unittest

import shell

HERE = os.path.dirname(os.path.abspath(__file__))
COMMANDS = """create_table city
add_field city name string
add_field city size int32
insert_into city 0 "Oslo" 700000
insert_into city 1 "Lyon" 520000
"""


class Request:
    def __init__(self, text, served):
        self.path = text.split(' ', 2)[1]
        self.headers = dict(re.findall(r'^([^:\r\n]+): *([^\r\n]*)', text, re.M))
        match = re.fullmatch(r'bytes=(\d+)-(\d+)', self.headers.get('Range', ''))
        self.range = (int(match[1]), int(match[2])) if match else None
        self.number = served  # 0 for the first one


def answer(status, body, *headers, length=True):
    lines = [f'HTTP/1.1 {status} Word', *headers]
    if length:
        lines.append(f'Content-Length: {len(body)}')
    return '\r\n'.join(lines + ['', '']).encode() + body


def piece(request, data, *headers):
    """What a good server answers."""
    first, last = request.range
    if first >= len(data):
        return answer(416, b'', f'Content-Range: bytes */{len(data)}')
    body = data[first:last + 1]
    return answer(206, body, f'Content-Range: bytes {first}-{first + len(body) - 1}/{len(data)}', *headers)


class Web:
    """A server that answers each request with the bytes of a function, and closes the connection."""

    def __init__(self, respond, context=None):
        self.respond, self.context = respond, context
        self.requests = []
        self.released = threading.Event()
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.url = f'http{"s" if context else ""}://127.0.0.1:{self.listener.getsockname()[1]}'
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        while True:
            client, _ = self.listener.accept()
            with client:
                try:
                    if self.context:
                        client = self.context.wrap_socket(client, server_side=True)
                    text = b''
                    while b'\r\n\r\n' not in text:
                        more = client.recv(65536)
                        if not more:
                            break
                        text += more
                    else:
                        request = Request(text.decode(), len(self.requests))
                        self.requests.append(request)
                        if request.path == '/stop':
                            return
                        reply = self.respond(request)
                        if reply is None:  # silence
                            self.released.wait(30)
                        else:
                            client.sendall(reply)
                except OSError:
                    pass  # the tool has had enough
                finally:
                    client.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.released.set()
        with socket.create_connection(self.listener.getsockname()) as last:
            if self.context:
                context = ssl.create_default_context()
                context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
                last = context.wrap_socket(last)
            last.sendall(b'GET /stop HTTP/1.1\r\n\r\n')
            last.close()
        self.thread.join()
        self.listener.close()


class Sources(unittest.TestCase):
    tools = ''

    def setUp(self):
        folder = shell.temporary_folder()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.run_tool('joedbi', '--new', 'city.joedb', text=COMMANDS)
        self.data = self.read('city.joedb')

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.path(name), 'rb') as file:
            return file.read()

    def write(self, name, data):
        with open(self.path(name), 'wb') as file:
            file.write(data)

    def start(self, words, memory=None, **variables):
        environment = {**shell.environment_of(self.tools, self.folder), **variables}

        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        return subprocess.Popen(words, cwd=self.folder, env=environment, text=True, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=limit if memory else None)

    def run_tool(self, *words, text='', code=0, memory=None, **variables):
        """Returns stdout and stderr."""
        process = self.start(words, memory, **variables)
        out, err = process.communicate(text, timeout=120)
        if code is not None:
            self.assertEqual(process.returncode, code, f'{words}\n{out[-2000:]}{err[-2000:]}')
        return out, err

    def fails(self, expected, *words, **more):
        out, err = self.run_tool(*words, code=1, **more)
        self.assertIn(expected, err)
        self.assertEqual(out, '')

    def require(self, word, *words):
        out, err = self.run_tool('joedb_push', *words, code=None)
        if f'{word}: this program was built without' in out + err:
            self.skipTest(f'built without {word}')

    def pack(self, program, suffix, *options, name='city.joedb'):
        self.require('zstd' if program == 'zstd' else program, program, 'missing')
        if not shutil.which(program):
            self.skipTest(f'no program {program}')
        subprocess.run([program, *options, '-k', self.path(name)], check=True, stderr=subprocess.DEVNULL)
        return name + suffix

    def zstd(self, *options, name='city.joedb'):
        return self.pack('zstd', '.zst', *options, name=name)

    def require_web(self):
        self.require('curl', 'http://127.0.0.1:9/')

    def show(self, name):
        return self.run_tool('joedb_to_json', name)[0]

    # ---- all tools

    def check_all_tools(self, name):
        """Each shows of this what it shows of the plain file."""
        for tool in (['joedb_logdump'], ['joedb_logdump', '--header'], ['joedb_logdump', '--load', '--sql'],
                     ['joedb_stats'], ['joedb_to_json'], ['joedb_to_json', '--until', '41']):
            self.assertEqual(self.run_tool(*tool, name)[0], self.run_tool(*tool, 'city.joedb')[0])
        for tool in 'joedb_sha256sum', 'joedb_verify':
            plain = self.run_tool(tool, 'city.joedb')[0].replace('city.joedb', '')
            there = self.run_tool(tool, name)[0]
            self.assertEqual(re.sub(r'\S*city\S*', '', there.replace(': good', ' : good')),
                             plain.replace(': good', ' : good'))
        for tool in 'joedb_pack', 'joedb_convert', 'joedb_merge':
            for source, out in (name, 'there'), ('city.joedb', 'here'):
                self.run_tool(tool, '--force', source, out)
            self.assertEqual(self.read('there'), self.read('here'))
        self.run_tool('joedb_push', name, 'file', '--new', 'pushed.joedb')
        self.assertEqual(self.read('pushed.joedb'), self.data)
        self.run_tool('joedb_client', '--new', 'client.joedb', 'file', '--read', name, text='pull\nquit\n')
        self.assertEqual(self.read('client.joedb'), self.data)
        for name in 'pushed.joedb', 'client.joedb':
            os.remove(self.path(name))

    def check_interpreter(self, *words):
        out, _ = self.run_tool('joedbi', '--read', *words, text='table city\n')
        self.assertIn('"Lyon" 520000', out)

    def test_every_tool_reads_zstd(self):
        name = self.zstd()
        self.check_all_tools(name)
        self.check_interpreter(name)
        self.check_interpreter('zstd', name)
        os.rename(self.path(name), self.path('city'))  # the content says what it is
        self.check_all_tools('city')

    def test_every_tool_reads_brotli(self):
        name = self.pack('brotli', '.br')
        self.check_all_tools(name)
        os.rename(self.path(name), self.path('packed'))  # nothing says what it is
        self.check_interpreter('brotli', 'packed')
        self.run_tool('joedb_push', 'brotli', 'packed', 'file', '--new', 'copy')
        self.assertEqual(self.read('copy'), self.data)

    def test_every_tool_reads_a_url(self):
        self.require_web()
        with Web(lambda request: piece(request, self.data)) as web:
            self.check_all_tools(web.url + '/city.joedb')
            self.check_interpreter('curl', web.url + '/city.joedb?key=1')

    def test_every_tool_reads_a_compressed_url(self):
        self.require_web()
        packed = self.read(self.zstd())
        with Web(lambda request: piece(request, packed)) as web:
            self.check_all_tools(web.url + '/city.zst')

    def test_every_tool_reads_from_an_sftp_server(self):
        self.require('sftp', 'sftp', 'localhost', 'nothing')
        port = self.serve_ssh()
        words = 'sftp', '--port', port, '--key', 'id', '--known-hosts', 'known_hosts', 'ann@127.0.0.1'
        packed = self.zstd()
        for name in self.path('city.joedb'), self.path(packed):
            self.check_interpreter(*words, name)
            self.run_tool('joedb_push', *words, name, 'file', '--new', 'pushed.joedb')
            self.assertEqual(self.read('pushed.joedb'), self.data)
            os.remove(self.path('pushed.joedb'))
        self.run_tool('joedb_client', '--new', 'client.joedb', 'file', '--read', *words, self.path('city.joedb'),
                      text='pull\nquit\n')
        self.assertEqual(self.read('client.joedb'), self.data)
        big = self.make_big()
        self.run_tool('joedb_push', *words, self.path(big), 'file', '--new', 'pushed.joedb', memory=80_000_000)
        self.assertEqual(self.read('pushed.joedb'), self.read(big))
        self.fails('no such file', 'joedb_push', *words, self.path('missing'))
        self.fails(f'127.0.0.1:{self.folder}: ', 'joedb_push', *words, self.folder)
        self.fails('can be followed', 'joedb_push', '--follow', *words, 'x')
        self.fails('a password is not taken', 'joedb_stats', 'sftp://ann:secret@127.0.0.1/x')
        self.fails('is not known yet', 'joedb_stats', f'sftp://ann@127.0.0.1:{port}/x')

    def serve_ssh(self):
        server = subprocess.Popen([os.path.join(HERE, 'network', 'ssh_server.py'), self.folder], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        port = server.stdout.readline().strip()
        if not port:
            self.skipTest('no asyncssh')
        return port

    # ---- compressed files

    def test_a_compressed_file_is_not_written(self):
        name = self.zstd()
        before = self.read(name)
        for words in (('joedbi', '--write', name), ('joedbi', '--new', 'new.zst'), ('joedb_verify', '--protect', name),
                      ('joedb_recover', name), ('joedb_push', 'city.joedb', 'file', name),
                      ('joedb_push', 'city.joedb', 'file', 'new.zst'), ('joedb_server', name)):
            self.fails('can only be read', *words)
        _, err = self.run_tool('joedbi', name, text='table city\n')
        self.assertEqual(err, f'{name}: can only be read\n')
        self.assertEqual(self.read(name), before)
        self.assertFalse(os.path.exists(self.path('new.zst')))

    def test_an_archive_that_was_cut_is_an_error_and_nothing_is_shown(self):
        packed = self.read(self.zstd())
        for size in range(0, len(packed), 7):
            self.write('cut.zst', packed[:size])
            out, err = self.run_tool('joedb_logdump', 'cut.zst', code=1)
            self.assertEqual(out, '')
            self.assertRegex(err, f'cut.zst: (damaged archive: .* at offset {size}|file is empty'
                                  '|Trying to read past the end)')

    def test_a_changed_archive_is_an_error_and_nothing_is_written(self):
        packed = bytearray(self.read(self.zstd()))
        packed[len(packed) // 2] ^= 1
        self.write('changed.zst', packed)
        for words in (('joedb_pack', 'changed.zst', 'out'), ('joedb_push', 'changed.zst', 'file', '--new', 'out')):
            self.fails('changed.zst: damaged archive', *words)
            self.assertFalse(os.path.exists(self.path('out')))

    def test_a_database_with_such_a_name_is_one(self):
        for name in 'plain.zst', 'plain.br':
            self.write(name, self.data)
            self.assertEqual(self.show(name), self.show('city.joedb'))

    def make_big(self):
        """About 30 MB: with what a tool has in memory when it is loaded, more than any of the limits below."""
        self.run_tool('joedbi', '--new', 'big.joedb',
                      text='create_table t\nadd_field t s string\n' + ''.join(
                          f'insert_into t {i} "{i * 7919 % 1000003}{"x" * 240}"\n' for i in range(120_000)))
        return 'big.joedb'

    def test_a_large_archive_takes_little_memory(self):
        big = self.make_big()
        name = self.zstd(name=big)
        plain, _ = self.run_tool('joedb_sha256sum', big)
        packed, _ = self.run_tool('joedb_sha256sum', name, memory=60_000_000)
        self.assertEqual(packed.split()[0], plain.split()[0])
        # Integrity entries are read from the end to the beginning.
        for _ in range(10):
            self.run_tool('joedb_verify', '--protect', big)
        os.remove(self.path(name))
        name = self.zstd(name=big)
        self.run_tool('joedb_logdump', '--schema-only', name, memory=60_000_000, TMPDIR=self.folder)
        self.assertFalse([n for n in os.listdir(self.folder) if n.startswith('joedb-')])

    def test_a_bomb_is_refused(self):
        self.require('zstd', 'zstd', 'missing')
        zeros = subprocess.Popen(['head', '-c', '1100000000', '/dev/zero'], stdout=subprocess.PIPE)
        with open(self.path('bomb.zst'), 'wb') as out:
            subprocess.run(['zstd', '-q', '-c'], stdin=zeros.stdout, stdout=out, check=True)
        zeros.stdout.close()
        zeros.wait()
        self.fails('bomb.zst: unpacks to more than 1073741824 bytes', 'joedb_stats', 'bomb.zst', memory=60_000_000)
        self.fails('unpacks to more than 1000 bytes', 'joedbi', '--max-size', '1000', '--read', 'bomb.zst')

    def test_a_tool_writes_a_compressed_file_as_a_whole(self):
        self.require('zstd', 'zstd', 'missing')
        for tool in 'joedb_pack', 'joedb_convert', 'joedb_merge':
            self.run_tool(tool, '--force', 'city.joedb', 'out.joedb.zst')
            self.run_tool(tool, '--force', 'city.joedb', 'out.joedb')
            subprocess.run(['zstd', '-q', '-d', 'out.joedb.zst', '-o', 'again'], cwd=self.folder, check=True)
            self.assertEqual(self.read('again'), self.read('out.joedb'))
            os.remove(self.path('again'))
        before = self.read('out.joedb.zst')
        self.fails('exists; --force', 'joedb_pack', 'city.joedb', 'out.joedb.zst')
        self.fails('missing', 'joedb_pack', '--force', 'missing', 'out.joedb.zst')
        self.fails('cannot be written', 'joedb_pack', 'city.joedb', 'out.br')
        self.assertEqual(self.read('out.joedb.zst'), before)
        self.assertFalse([name for name in os.listdir(self.folder) if 'tmp' in name])

    # ---- URLs

    def test_only_what_is_needed_is_asked_for(self):
        self.require_web()
        data = self.read(self.make_big())
        with Web(lambda request: piece(request, data, 'ETag: "1"')) as web:
            out, _ = self.run_tool('joedb_logdump', '--header', web.url)
            self.assertIn(f'file size: {len(data)}', out)
            self.assertEqual(len(web.requests), 1)
            web.requests.clear()
            out, _ = self.run_tool('joedb_sha256sum', web.url, memory=80_000_000)
            self.assertEqual(out.split()[0], self.run_tool('joedb_sha256sum', 'big.joedb')[0].split()[0])
            self.assertLess(len(web.requests), 25)
            self.assertEqual({r.headers.get('If-Range') for r in web.requests[1:]}, {'"1"'})

    def test_a_server_without_ranges_sends_the_whole_file_once(self):
        self.require_web()
        with Web(lambda request: answer(200, self.data)) as web:
            self.assertEqual(self.show(web.url), self.show('city.joedb'))
            self.assertEqual(len(web.requests), 1)
            self.fails(f'can only send the whole file, and this has {len(self.data)} bytes', 'joedb_stats',
                       '--max-size', '50', web.url)
        chunked = b'%x\r\n%s\r\n0\r\n\r\n' % (len(self.data), self.data)
        with Web(lambda request: answer(200, chunked, 'Transfer-Encoding: chunked', length=False)) as web:
            self.assertEqual(self.show(web.url), self.show('city.joedb'))
            self.fails('can only send the whole file, and this has more than 50', 'joedb_stats', '--max-size', '50',
                       web.url)
            self.fails('making the temporary file /missing/', 'joedb_stats', web.url, TMPDIR='/missing')
        with Web(lambda request: answer(200, self.data, length=False)) as web:
            self.fails('does not say how many bytes', 'joedb_stats', web.url)

    def test_a_file_that_changes_meanwhile_is_an_error(self):
        self.require_web()
        data = self.read(self.make_big())
        date = email.utils.formatdate(0, usegmt=True)
        later = email.utils.formatdate(10, usegmt=True)

        def after_the_first(reply):
            return lambda request: piece(request, data, 'ETag: "1"', f'Last-Modified: {date}') \
                if request.number == 0 else reply(request)
        for reply in (lambda request: answer(200, data, 'ETag: "2"'),
                      lambda request: answer(412, b''),
                      lambda request: answer(404, b''),
                      lambda request: piece(request, data, 'ETag: "2"', f'Last-Modified: {date}'),
                      lambda request: piece(request, data, 'ETag: "1"', f'Last-Modified: {later}'),
                      lambda request: piece(request, data + b'more', 'ETag: "1"', f'Last-Modified: {date}')):
            with Web(after_the_first(reply)) as web:
                self.fails('has changed on the server', 'joedb_sha256sum', web.url)

    def test_answers_that_make_no_sense_are_refused(self):
        self.require_web()
        ok = f'Content-Range: bytes 0-{len(self.data) - 1}/{len(self.data)}'
        for reply, expected in (
                (answer(404, b'no'), 'no such file (status 404)'),
                (answer(403, b'no'), 'does not let you read it'),
                (answer(500, b'x' * 100_000), 'does not send it (status 500)'),
                (answer(206, self.data), 'does not say which bytes'),
                (answer(206, self.data, 'Content-Range: bytes 0-9/*'), 'does not say which bytes'),
                (answer(206, self.data, 'Content-Range: bytes 5-2/100'), 'does not say which bytes'),
                (answer(206, self.data, 'Content-Range: bytes 1-9/100'), 'other bytes'),
                (answer(206, self.data, f'Content-Range: bytes 0-{2**62}/{2**63 - 1}'), 'other bytes'),
                (answer(206, self.data, 'Content-Range: bytes 0-99999999999999999999/9'), 'does not say which bytes'),
                (answer(206, self.data * 1000, ok), 'more than it was asked for'),
                (answer(206, self.data[:-1], ok), 'ends after'),
                (answer(200, self.data, 'Content-Encoding: gzip'), 'Content-Encoding: gzip'),
                (answer(206, self.data, *[f'X-{i}: {"x" * 1000}' for i in range(100)], ok), 'too long'),
                (answer(302, b'', 'Location: file:///etc/passwd'), 'not http or https'),
                (answer(302, b'', 'Location: ftp://localhost/x'), 'not http or https'),
                (b'SSH-2.0-OpenSSH\r\n' * 100, ''),
                (b'\0' * 100_000, ''),
                (b'', '')):
            with Web(lambda request, reply=reply: reply) as web:
                self.fails(expected, 'joedb_to_json', web.url, memory=400_000_000)
                self.assertLess(len(web.requests), 3)

    def test_redirections_are_followed_a_few_times(self):
        self.require_web()
        with Web(lambda request: piece(request, self.data) if request.path == '/5' else answer(
                302, b'', f'Location: /{int(request.path[1:] or 0) + 1}')) as web:
            self.assertEqual(self.show(web.url), self.show('city.joedb'))
        with Web(lambda request: answer(302, b'', f'Location: /{request.number}')) as web:
            self.fails('redirects', 'joedb_stats', web.url)
            self.assertEqual(len(web.requests), 6)

    def test_a_silent_server_is_not_waited_for_longer_than_the_timeout(self):
        self.require_web()
        with Web(lambda request: None) as web:
            self.fails('does not answer, or too slowly', 'joedb_stats', '--timeout', '1', web.url)

    def test_a_connection_that_is_cut_anywhere_shows_nothing_wrong(self):
        self.require_web()
        first = Request('GET / HTTP/1.1\r\nRange: bytes=0-65535\r\n\r\n', 0)
        replies = {'piece': lambda request: piece(request, self.data), 'whole': lambda _: answer(200, self.data)}

        def cut(request):
            _, kind, size = request.path.split('/')
            return replies[kind](request)[:int(size)]
        with Web(cut) as web, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            urls = [f'{web.url}/{kind}/{size}' for kind, reply in replies.items() for size in range(len(reply(first)))]
            list(pool.map(lambda url: self.run_tool('joedb_to_json', url, code=1), urls))
        # Once is no harm.
        with Web(lambda request: piece(request, self.data)[:-20 if request.number == 0 else None]) as web:
            self.assertEqual(self.show(web.url), self.show('city.joedb'))

    def test_messages_have_no_secrets(self):
        self.require_web()
        with Web(lambda request: answer(403, b'')) as web:
            url = web.url + '/city.joedb?signature=secret'
            for words in (('joedb_stats',), ('joedbi', '--read'), ('joedb_push',), ('joedb_merge', '--verbose', url),
                          ('joedb_verify', '--protect'), ('joedbi', '--write')):
                out, err = self.run_tool(*words, url, code=1)
                self.assertNotIn('secret', out + err)
            _, err = self.run_tool('joedb_stats', web.url.replace('://', '://ann:secret@'), code=1)
            self.assertIn('.netrc', err)
            self.assertNotIn('secret', err)

    def test_a_server_must_show_who_it_is(self):
        self.require_web()
        if not shutil.which('openssl'):
            self.skipTest('no openssl')
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes',
                        '-keyout', 'key.pem', '-out', 'cert.pem', '-subj', '/CN=127.0.0.1', '-addext',
                        'subjectAltName=IP:127.0.0.1'], cwd=self.folder, check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.path('cert.pem'), self.path('key.pem'))
        with Web(lambda request: piece(request, self.data), context) as web:
            self.fails('certificate', 'joedb_stats', web.url)
            self.run_tool('joedb_stats', web.url, SSL_CERT_FILE=self.path('cert.pem'))
        with Web(lambda request: piece(request, self.data)) as plain, \
                Web(lambda request: answer(302, b'', f'Location: {plain.url}'), context) as web:
            self.fails('not http or https', 'joedb_stats', web.url, SSL_CERT_FILE=self.path('cert.pem'))
            self.assertEqual(plain.requests, [])


if __name__ == '__main__':
    Sources.tools = os.path.abspath(sys.argv.pop(1))
    unittest.main()
