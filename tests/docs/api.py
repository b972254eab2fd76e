#!/usr/bin/env python3
"""The comments of include/joedb/ are in the documentation that Doxygen makes of them.

usage: api.py SOURCE_DIR OUTPUT_DIR          (writes OUTPUT_DIR/html and OUTPUT_DIR/xml)

Doxygen itself fails if it does not understand something.
"""
import glob
import os
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree

SOURCE, OUTPUT = (os.path.abspath(path) for path in sys.argv[1:3])


def text_of(element):
    return ' '.join(''.join(element.itertext()).split()) if element is not None else ''


def comment_of(element):
    """The words of a comment, its first sentence and the others."""
    return ' '.join(filter(None, (text_of(element.find('briefdescription')),
                                  text_of(element.find('detaileddescription')))))


class Api_Documentation(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        os.makedirs(OUTPUT, exist_ok=True)
        with open(os.path.join(SOURCE, 'docs/Doxyfile'), encoding='utf-8') as file:
            settings = file.read() + f'\nOUTPUT_DIRECTORY = "{OUTPUT}"\n'
        result = subprocess.run(['doxygen', '-'], cwd=SOURCE, input=settings, encoding='utf-8',
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert result.returncode == 0, result.stdout
        cls.compounds = {}
        for path in glob.glob(os.path.join(OUTPUT, 'xml', '*.xml')):
            compound = ElementTree.parse(path).getroot().find('compounddef')
            if compound is not None and compound.get('kind') != 'dir':
                cls.compounds[compound.findtext('compoundname')] = compound

    def comment(self, compound, member=None, parameters=None):
        element = self.compounds[compound]
        if member is None:
            return comment_of(element)
        found = [m for m in element.iter('memberdef') if m.findtext('name') == member]
        if parameters is not None:
            found = [m for m in found if len(m.findall('param')) == parameters]
        self.assertEqual(1, len(found), f'{compound}::{member}')
        return comment_of(found[0])

    def page(self, name):
        with open(os.path.join(OUTPUT, 'html', name), encoding='utf-8') as file:
            return file.read()

    def test_classes(self):
        self.assertIn('synchronizes the local copy with the other copy', self.comment('joedb::Client'))
        self.assertIn('Follows a file', self.comment('joedb::Readonly_Client'))
        self.assertIn('for (const id_of_city city : db.get_city_table())', self.comment('joedb::Container'))
        self.assertIn('std::map or std::multimap', self.comment('joedb::Typed_Index'))

    def test_members(self):
        self.assertIn('Locks, pulls, calls run(), pushes, writes a checkpoint, unlocks.',
                      self.comment('joedb::Client', 'transaction'))
        self.assertIn('Takes the write lock, pulls, calls f(Writable_Database&)',
                      self.comment('joedb::Typed_Client', 'transaction', 1))
        self.assertIn('the journal gets a comment with the reason',
                      self.comment('joedb::Typed_Client', 'transaction', 2))
        self.assertIn('until there are size bytes.',
                      self.comment('joedb::Typed_Writer', 'write_blob', 2))
        self.assertIn('counted from 1970-01-01 00:00 UTC', self.comment('joedb', 'at_time'))

    def test_comments_behind_a_line(self):
        comments = {enum.findtext('name') + '::' + value.findtext('name'): comment_of(value)
                    for enum in self.compounds['joedb'].iter('memberdef')
                    for value in enum.iter('enumvalue')}
        self.assertEqual('survives a power cut', comments['Checkpoint_Level::hard'])
        self.assertIn('each takes the write lock', comments['Open_Mode::shared_write'])

    def test_comments_of_files_and_code_in_them(self):
        self.assertIn('everything that a program may use', self.comment('joedb.h'))
        block = self.compounds['joedb::Upgradable_File'].find('.//verbatim')
        if block is None:
            block = self.compounds['joedb::Upgradable_File'].find('.//programlisting')
        self.assertIn('Upgradable_File<joedb::Readonly_Memory_File>',
                      ''.join(text_of(block).split()).replace('file(data);', ''))

    def test_what_is_not_for_users_is_not_there(self):
        page = self.page('classjoedb_1_1Client.html')
        self.assertIn('is_shared', page)
        self.assertNotIn('is_connected', page, 'a private function')
        for name in self.compounds:
            self.assertNotIn('v1', name.split('::'))
        bodies = [m.findtext('name') for c in self.compounds.values() for m in c.iter('memberdef')
                  if text_of(m.find('inbodydescription'))]
        self.assertEqual([], bodies, 'comments in functions')

    def test_most_classes_have_a_comment(self):
        classes = [c for c in self.compounds.values()
                   if c.get('kind') in ('class', 'struct') and c.get('prot') == 'public']
        silent = [c.findtext('compoundname') for c in classes if not comment_of(c)]
        self.assertGreater(len(classes), 60)
        self.assertLess(len(silent), len(classes) / 4, silent)

    def test_what_comments_refer_to_is_there(self):
        members = {f'{name.split("::")[-1]}::{member.text}'
                   for name, compound in self.compounds.items()
                   for member in [*compound.iterfind('.//listofallmembers/member/name'),
                                  *compound.iterfind('.//memberdef/name'),
                                  *compound.iterfind('.//memberdef/enumvalue/name')]}
        members |= {'::'.join(name.split('::')[-2:]) for name in self.compounds}  # classes in classes
        members |= {f'{enum.findtext("name")}::{value.findtext("name")}'
                    for compound in self.compounds.values()
                    for enum in compound.iterfind('.//memberdef[@kind="enum"]')
                    for value in enum.iterfind('enumvalue')}
        named = {name for compound in self.compounds.values()
                 for kind in ('briefdescription', 'detaileddescription')
                 for comment in compound.iter(kind)
                 for name in re.findall(r'\b[A-Z]\w*::(?!operator)\w+', text_of(comment))}
        self.assertGreater(len(named), 5)
        self.assertEqual([], sorted(named - members))

    def test_the_first_page_names_classes_that_exist(self):
        with open(os.path.join(SOURCE, 'docs/api.md'), encoding='utf-8') as file:
            names = re.findall(r'joedb::((?:wal::|rpc::)?\w+)', file.read())
        known = {name.split('::')[-1] for name in self.compounds}
        known |= {m.findtext('name') for name in ('joedb', 'joedb::wal')
                  for m in self.compounds[name].iter('memberdef')}
        self.assertEqual([], [name for name in names if name.split('::')[-1] not in known])
        page = self.page('index.html')
        self.assertEqual([], [n for n in names if not re.search(f'<a [^>]*>joedb::{n}[()]*</a>', page)])


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
