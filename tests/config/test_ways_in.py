"""The forms of address to listen at, and the ones that are refused with their cure."""

import pytest

from forebay.config.errors import ConfigError
from forebay.config.ways_in import ListenAddress, ListenerTls, listen_address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:8080", ListenAddress("127.0.0.1", 8080)),
        ("localhost:0", ListenAddress("localhost", 0)),
        ("[::]:8080", ListenAddress("::", 8080)),
        ("[fe80::1%eth0]:80", ListenAddress("fe80::1%eth0", 80)),
        ("unix:/run/f.sock", ListenAddress(path="/run/f.sock")),
        ("unix:///run/f.sock", ListenAddress(path="/run/f.sock")),
        ("unix:f.sock", ListenAddress(path="f.sock")),
    ],
)
def test_what_can_be_listened_at(text, address):
    assert listen_address("f.yaml: listen", text) == address


@pytest.mark.parametrize("address", ["127.0.0.1:8080", "[::1]:80", "unix:/run/f.sock"])
def test_an_address_is_shown_as_it_is_written(address):
    assert str(listen_address("", address)) == address


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("8080", "write HOST:PORT"),
        (":8080", "write HOST:PORT"),
        ("h:99999", "write HOST:PORT"),
        ("h:²", "write HOST:PORT"),
        ("::1:8080", "as [::1]:8080"),
        ("2001:db8::5:8000", "as [2001:db8::5]:8000"),
        ("unix:", "write unix:/PATH"),
        ("unix:/run/", "write unix:/PATH"),
        ("unix:/" + "x" * 120, "at most 107 bytes"),
    ],
)
def test_what_cannot_names_the_place_and_the_cure(text, words):
    with pytest.raises(ConfigError) as raised:
        listen_address("f.yaml:1:9: listen", text)
    assert str(raised.value).startswith("f.yaml:1:9: listen: ")
    assert words in str(raised.value)


def test_half_a_pair_is_refused():
    ListenerTls().check("tls")
    ListenerTls(cert_file="c", key_file="k", client_ca_file="a").check("tls")
    for half in (ListenerTls(cert_file="c"), ListenerTls(key_file="k"), ListenerTls(client_ca_file="a")):
        with pytest.raises(ConfigError, match="cert_file"):
            half.check("tls")
