"""What is told of heads before they are whole."""

import pytest

from forebay.gateway.http1.head import HeadError, check_lines


@pytest.mark.parametrize("rest", [b"", b"\x01\x02\x00\x01\x00\n", b"\x01\x00\xf4\r\n\r\n"])
def test_a_client_that_speaks_tls_to_a_port_without_is_named(rest):
    with pytest.raises(HeadError, match="use http://, or give the listener a certificate") as told:
        check_lines(b"\x16\x03" + rest)
    assert (told.value.status, told.value.code) == (400, "tls-not-spoken")
