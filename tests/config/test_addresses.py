"""Engines' addresses in every form, as they are kept and as they are called."""

import pytest

from forebay.config.addresses import checked_url, name_of, socket_path
from forebay.config.errors import ConfigError


@pytest.mark.parametrize(
    ("given", "kept", "name"),
    [
        ("http://h", "http://h:80", "h:80"),
        ("https://h", "https://h:443", "h:443"),
        ("https://h:8443/v3", "https://h:8443/v3", "h:8443/v3"),
        ("http://[2001:DB8::6]:8000", "http://[2001:db8::6]:8000", "[2001:db8::6]:8000"),
        ("unix:///tmp/e.sock", "http+unix://%2Ftmp%2Fe.sock", "unix:/tmp/e.sock"),
        ("unix:/tmp/a b.sock", "http+unix://%2Ftmp%2Fa%20b.sock", "unix:/tmp/a b.sock"),
    ],
)
def test_p31_addresses_of_every_kind(given, kept, name):
    assert checked_url("f", given) == kept
    assert checked_url("f", kept) == kept
    assert name_of(kept) == name
    assert socket_path(kept) == (name.removeprefix("unix:") if name.startswith("unix:") else "")


@pytest.mark.parametrize(
    ("given", "cure"),
    [
        ("2001:db8::5:8000", "write http://[2001:db8::5]:8000"),
        ("http://2001:db8::5:8000", "write http://[2001:db8::5]:8000"),
        ("2001:db8::5", "write http://[2001:db8::5]:PORT"),
        ("10.0.0.1:8000", "write http://HOST:PORT"),
        ("ftp://h:1", "write http://HOST:PORT"),
        ("http://[::1:8000", "write http://HOST:PORT"),
        ("unix:", "write unix:/PATH"),
        ("unix:///" + "x" * 200, "at most 107 bytes"),
    ],
)
def test_p31_what_is_no_address_is_refused_with_its_cure(given, cure):
    with pytest.raises(ConfigError) as raised:
        checked_url("f.yaml:3:9: url", given)
    assert str(raised.value).startswith("f.yaml:3:9: url: ")
    assert cure in str(raised.value)
