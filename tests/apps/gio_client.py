"""A GNOME program in miniature: TLS connections through Gio, one after another, each with a line there and back.

usage: gio_client.py HOST PORT COUNT. Prints the name of the TLS backend, then the answer to each connection's line.
"""

import sys

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio  # noqa: E402 (the version has to be chosen first)


def main():
    host, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    print(type(Gio.TlsBackend.get_default()).__name__, flush=True)
    for _ in range(count):
        client = Gio.SocketClient()
        client.set_tls(True)
        connection = client.connect_to_host(host, port, None)
        connection.get_output_stream().write_all(b"there and back again\n", None)
        print(connection.get_input_stream().read_bytes(100, None).get_data().decode().rstrip(), flush=True)
        connection.close(None)


main()
