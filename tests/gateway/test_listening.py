"""Sockets to come in by: opened, shared, and removed without touching another's."""

import socket
import stat
from pathlib import Path

import pytest

from forebay.config.ways_in import ListenAddress
from forebay.gateway.listening import check_free, close_sockets, open_sockets, shown


def listening(*addresses, **options):
    """Open sockets that are taking connections."""
    sockets = open_sockets(addresses, **options)
    for each in sockets:
        each.listen()
    return sockets


def reaches(family, address):
    with socket.socket(family) as client:
        client.settimeout(30)
        return client.connect_ex(address) == 0


def test_every_address_of_a_name_is_listened_at():
    sockets = listening(ListenAddress("localhost"), ListenAddress("127.0.0.1"))
    try:
        assert len(sockets) >= 2
        for each in sockets:
            assert reaches(each.family, each.getsockname())
            assert not each.getblocking()
    finally:
        close_sockets(sockets)


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
def test_ipv6_leaves_ipv4_to_a_socket_of_its_own():
    try:
        (six,) = open_sockets([ListenAddress("::")])
    except OSError:
        pytest.skip("no IPv6 here")
    port = six.getsockname()[1]
    (four,) = open_sockets([ListenAddress("0.0.0.0", port)])
    assert (shown(six), shown(four)) == (f"[::]:{port}", f"0.0.0.0:{port}")
    close_sockets([six, four])


def test_workers_share_a_port_each_with_its_own_socket():
    (first,) = listening(ListenAddress("127.0.0.1"), reuse_port=True)
    where = ListenAddress(*first.getsockname())
    (second,) = listening(where, reuse_port=True)
    with pytest.raises(OSError, match=str(where)):
        open_sockets([where])
    with pytest.raises(OSError, match=str(where)):
        check_free([where])
    close_sockets([first, second])
    check_free([where, ListenAddress(path="/not/looked/at")])


def test_a_unix_socket_has_its_mode_and_goes_with_its_owner(tmp_path):
    path = str(tmp_path / "f.sock")
    (opened,) = listening(ListenAddress(path=path), socket_mode=0o600)
    assert stat.S_IMODE(Path(path).stat().st_mode) == 0o600
    assert shown(opened) == f"unix:{path}"
    assert reaches(socket.AF_UNIX, path)
    close_sockets([opened])
    assert not Path(path).exists()
    close_sockets([opened])


def test_what_a_dead_process_left_is_taken_over_and_what_is_in_use_is_not(tmp_path):
    path = str(tmp_path / "f.sock")
    (dead,) = open_sockets([ListenAddress(path=path)])
    dead.close()
    (alive,) = listening(ListenAddress(path=path))
    with pytest.raises(OSError, match="another process listens"):
        open_sockets([ListenAddress(path=path)])
    close_sockets([alive])
    (tmp_path / "f.sock").write_text("precious")
    with pytest.raises(OSError, match="no socket"):
        open_sockets([ListenAddress(path=path)])
    assert (tmp_path / "f.sock").read_text() == "precious"


@pytest.mark.parametrize(
    "wrong", [ListenAddress("no-such-host.invalid", 1), ListenAddress(path="/no/such/dir/f.sock")]
)
def test_when_one_cannot_be_had_none_stays_open(wrong, tmp_path):
    path = str(tmp_path / "f.sock")
    with pytest.raises(OSError, match="cannot listen at"):
        open_sockets([ListenAddress(path=path), wrong])
    assert not Path(path).exists()
