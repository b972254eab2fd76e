#!/usr/bin/python3 -Wignore
"""An SSH server that passes connections on to unix-domain sockets, and has SFTP.

usage: ssh_server.py FOLDER

Makes a key of its own, and one for a user, in FOLDER; prints its port. Debian's Python has asyncssh
(python3-asyncssh), another one perhaps not.
"""
import asyncio
import os
import sys

import asyncssh


class Server(asyncssh.SSHServer):
    def unix_connection_requested(self, path):
        return True


async def serve(folder):
    host = asyncssh.generate_private_key('ssh-ed25519')
    user = asyncssh.generate_private_key('ssh-ed25519')
    key = os.path.join(folder, 'id')
    user.write_private_key(key)
    os.chmod(key, 0o600)
    authorized = os.path.join(folder, 'authorized')
    user.write_public_key(authorized)
    server = await asyncssh.create_server(Server, '127.0.0.1', 0, server_host_keys=[host],
                                          authorized_client_keys=authorized, sftp_factory=True,
                                          # libssh asks no other server for unix-domain sockets
                                          server_version='OpenSSH_9.2')
    port = server.sockets[0].getsockname()[1]
    with open(os.path.join(folder, 'known_hosts'), 'w') as f:
        f.write(f'[127.0.0.1]:{port} ' + host.export_public_key().decode())
    print(port, flush=True)
    await asyncio.get_event_loop().create_future()


asyncio.run(serve(sys.argv[1]))
