"""Messages of the Language Server Protocol."""
import json


def framed(text):
    data = text if isinstance(text, bytes) else text.encode()
    return b'Content-Length: %d\r\n\r\n%s' % (len(data), data)


def messages(output):
    result = []
    while output:
        header, _, output = output.partition(b'\r\n\r\n')
        length = int(header.removeprefix(b'Content-Length: '))
        result.append(json.loads(output[:length]))
        output = output[length:]
    return result


def session(*requests):
    """The bytes of these requests, between initialize, whose id is 1, and exit."""
    opening = {'id': 1, 'method': 'initialize', 'params': {'capabilities': {}}}
    closing = {'id': 'end', 'method': 'shutdown'}, {'method': 'exit'}
    return b''.join(framed(json.dumps({'jsonrpc': '2.0', **request})) for request in (opening, *requests, *closing))
