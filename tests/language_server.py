#!/usr/bin/env python3
"""joedbc --language-server: what an editor asks and is told; and what no editor says.

usage: language_server.py TOOLS_DIR
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'support'))
from lsp import framed, messages, session  # noqa: E402 (from the folder support)

JOEDBC = os.path.join(os.path.abspath(sys.argv[1]), 'joedbc')


class Server(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = self.temporary.name

    def tearDown(self):
        self.temporary.cleanup()

    def uri(self, name):
        return 'file://' + os.path.join(self.folder, name).replace(' ', '%20').replace('ä', '%C3%A4')

    def write(self, name, text):
        with open(os.path.join(self.folder, name), 'w', encoding='utf-8') as file:
            file.write(text)

    def raw(self, data):
        """(exit code, messages, standard error)"""
        result = subprocess.run(['bash', '-c', f'ulimit -v 4000000; exec {JOEDBC} --language-server'], input=data,
                                capture_output=True, timeout=60, check=False)
        return result.returncode, messages(result.stdout), result.stderr

    def talk(self, *requests):
        """The replies to these, without that of initialize and shutdown."""
        code, replies, _ = self.raw(session(*requests))
        self.assertEqual(0, code)
        self.assertIn('completionProvider', replies[0]['result']['capabilities'])
        self.assertEqual({'jsonrpc': '2.0', 'id': 'end', 'result': None}, replies[-1])
        return replies[1:-1]

    def opened(self, name, text):
        return {'method': 'textDocument/didOpen',
                'params': {'textDocument': {'uri': self.uri(name), 'languageId': 'x', 'version': 1, 'text': text}}}

    def changed(self, name, text):
        return {'method': 'textDocument/didChange',
                'params': {'textDocument': {'uri': self.uri(name)}, 'contentChanges': [{'text': text}]}}

    def asked(self, name, line, character):
        return {'id': 2, 'method': 'textDocument/completion',
                'params': {'textDocument': {'uri': self.uri(name)}, 'position': {'line': line, 'character': character}}}

    def diagnostics(self, replies):
        """name -> [(line, first, last, text)], of the newest"""
        result = {}
        for reply in replies:
            self.assertEqual('textDocument/publishDiagnostics', reply['method'])
            name = next(n for n in ('geo.joedbi', 'geo.joedbc', 'mein ä.joedbi', 'mein ä.joedbc')
                        if self.uri(n) == reply['params']['uri'])
            result[name] = [(d['range']['start']['line'], d['range']['start']['character'],
                             d['range']['end']['character'], d['message']) for d in reply['params']['diagnostics']]
        return result

    def test_shows_errors_of_what_is_open_not_of_the_disk(self):
        self.write('geo.joedbi', 'create_table city\n')
        self.write('geo.joedbc', 'create_index i city name\n')
        wrong = 'create_table city\nadd_field city name strung\n'
        right = 'create_table city\nadd_field city name string\n'
        replies = self.talk(self.opened('geo.joedbi', wrong))
        self.assertEqual([(1, 20, 26, 'unknown type: strung. Did you mean string?')],
                         self.diagnostics(replies)['geo.joedbi'])
        replies = self.talk(self.opened('geo.joedbi', wrong), self.changed('geo.joedbi', right))
        self.assertEqual([], self.diagnostics(replies)['geo.joedbi'])

    def test_shows_an_error_in_the_other_file_and_takes_it_back(self):
        self.write('geo.joedbc', 'create_index by_name city name\n')
        replies = self.talk(self.opened('geo.joedbi', 'create_table city\n'))
        self.assertEqual([(0, 26, 30, 'Field not found: name')], self.diagnostics(replies)['geo.joedbc'])
        replies = self.talk(self.opened('geo.joedbi', 'create_table city\n'),
                            self.changed('geo.joedbi', 'create_table city\nadd_field city name string\n'))
        self.assertEqual([], self.diagnostics(replies)['geo.joedbc'])

    def test_counts_as_editors_do(self):
        replies = self.talk(self.opened('mein ä.joedbi', 'comment "\U0001f600ä" more\n'))
        found = self.diagnostics(replies)['mein ä.joedbi']
        self.assertEqual((0, 14, 18), found[0][:3])  # the emoji is two units

    def labels(self, text, line, character, name='geo.joedbi'):
        *_, reply = self.talk(self.opened(name, text), self.asked(name, line, character))
        return [item['label'] for item in reply['result']]

    def test_completes_commands_tables_fields_and_types(self):
        text = 'create_table city\nadd_field city name string\nadd_field city size int32\nrename_field \n\n'
        self.assertIn('create_table', self.labels(text, 4, 0))
        self.assertIn('create_table', self.labels(text, 0, 3))
        self.assertEqual(['city'], self.labels(text, 3, 13))
        self.assertEqual(['name', 'size'], self.labels(text + 'drop_field city ', 5, 16))
        self.assertIn('int64', self.labels(text + 'add_field city mayor i', 5, 22))
        self.assertEqual(['city'], self.labels(text + 'add_field city twin references ', 5, 31))
        self.write('geo.joedbi', text)
        self.assertIn('create_unique_index', self.labels('', 0, 0, 'geo.joedbc'))
        self.assertEqual(['city'], self.labels('create_index i ', 0, 15, 'geo.joedbc'))
        self.assertEqual(['name', 'size'], self.labels('create_index i city ', 0, 20, 'geo.joedbc'))
        self.assertIn('create_table', self.labels(text, 99, 99))  # behind the end

    def test_refuses_what_it_does_not_know(self):
        reply, = self.talk({'id': 7, 'method': 'textDocument/rename', 'params': {}})
        self.assertEqual((7, -32601), (reply['id'], reply['error']['code']))
        reply, = self.talk(self.asked('geo.joedbi', 0, 1e300))
        self.assertEqual(-32603, reply['error']['code'])
        self.assertEqual([], self.talk({'method': '$/nonsense'}, {'method': 'textDocument/didOpen', 'params': {}}))

    def test_survives_what_no_editor_says(self):
        deep = b'{"id": ' + b'[' * 1_000_000
        for data in (b'not JSON', b'[]', b'null', b'{"id": 1}', b'{"id": {"a": 1}, "method": "x"}', b'{"id": [[]]}',
                     deep, deep + b']' * 1_000_000 + b', "method": "x"}', b'\xff\xfe',
                     json.dumps({'id': 1, 'method': 'textDocument/completion', 'params': []}).encode(),
                     json.dumps({'method': 'textDocument/didOpen', 'params': {'textDocument': {
                         'uri': 'file:///%', 'text': '\x00' * 1000}}}).encode(),
                     json.dumps(self.opened('geo.joedbi', 'create_table t\ninsert_vector t 0 1000000000\n')).encode()):
            code, replies, error = self.raw(framed(data) + framed('{"id": 9, "method": "shutdown"}')
                                            + framed('{"method": "exit"}'))
            self.assertEqual((0, b''), (code, error), data[:60])
            self.assertEqual(9, replies[-1]['id'], data[:60])

    def test_ends_where_a_header_is_wrong(self):
        for data in (b'Content-Length: 99999999999999999999\r\n\r\n', b'Content-Length: 1000000000\r\n\r\n',
                     b'Content-Length: -5\r\n\r\n', b'\r\n\r\n', b'X' * 100_000, b'X: y\r\n' * 1000):
            code, replies, error = self.raw(data)
            self.assertEqual((1, []), (code, replies))
            self.assertEqual(1, error.count(b'\n') if data[:1] != b'X' or len(data) != 100_000 else 1)

    def test_ends_with_1_if_the_editor_just_goes_away(self):
        self.assertEqual(1, self.raw(b'')[0])
        self.assertEqual(1, self.raw(framed('{"id": 1, "method": "initialize"}') + b'Content-Le')[0])


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
