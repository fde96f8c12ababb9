"""Certificates that cannot be used are refused when the file is read, with their place and their cure."""

import ssl

import pytest
import trustme
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from forebay.config.assemble import assemble
from forebay.config.document import Document
from forebay.config.errors import ConfigError

POOL = {"model": "m", "endpoints": [{"url": "https://h:1"}]}


@pytest.fixture
def files(tmp_path):
    """A pair, and what does not belong to it."""
    authority = trustme.CA()
    issued = authority.issue_cert("a.test")
    key = load_pem_private_key(issued.private_key_pem.bytes(), None)
    locked = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret"))
    texts = {
        "cert": issued.cert_chain_pems[0].bytes(),
        "key": issued.private_key_pem.bytes(),
        "other": authority.issue_cert("b.test").private_key_pem.bytes(),
        "locked": locked,
        "ca": authority.cert_pem.bytes(),
        "junk": b"junk",
    }
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text)
    return {name: str(tmp_path / name) for name in texts} | {"none": str(tmp_path / "none")}


def assembled(**settings):
    return assemble(Document.of({"pools": [POOL], **settings}, "f.yaml"))


def test_a_pair_and_the_authority_of_clients(files):
    tls = {"cert_file": files["cert"], "key_file": files["key"]}
    assembly = assembled(tls=tls | {"client_ca_file": files["ca"], "min_version": "1.3"}, admin_tls=tls)
    assert assembly.public.context.verify_mode is ssl.CERT_REQUIRED
    assert assembly.public.context.minimum_version is ssl.TLSVersion.TLSv1_3
    assert assembly.admin.context.verify_mode is ssl.CERT_NONE
    assert assembly.secret_files() == tuple(tls.values()) * 2


@pytest.mark.parametrize(
    ("cert", "key"), [("cert", "other"), ("cert", "locked"), ("junk", "key"), ("cert", "none")]
)
@pytest.mark.parametrize("place", ["tls", "admin_tls"])
def test_a_pair_that_cannot_be_used(files, place, cert, key):
    with pytest.raises(ConfigError, match=f"{place}: cannot use .*both are PEM, the key without a password"):
        assembled(**{place: {"cert_file": files[cert], "key_file": files[key]}})


@pytest.mark.parametrize("ca", ["junk", "none"])
def test_authorities_that_cannot_be_used(files, ca):
    tls = {"cert_file": files["cert"], "key_file": files["key"], "client_ca_file": files[ca]}
    with pytest.raises(ConfigError, match="tls: cannot use .*certificates as PEM"):
        assembled(tls=tls)
    with pytest.raises(ConfigError, match=r"pools\[0\].tls: cannot use .*certificates as PEM"):
        assembled(pools=[POOL | {"tls": {"ca_file": files[ca]}}])


def test_an_authority_for_nothing(files):
    with pytest.raises(ConfigError, match="remove `ca_file` or `insecure`"):
        assembled(pools=[POOL | {"tls": {"ca_file": files["ca"], "insecure": True}}])


def test_engines_are_looked_at_by_name_unless_that_is_off(files):
    assembly = assembled(pools=[POOL | {"tls": {"ca_file": files["ca"]}}])
    (endpoint,) = assembly.endpoints()
    context = assembly.tls_of(endpoint)
    assert (context.check_hostname, context.verify_mode) == (True, ssl.CERT_REQUIRED)
    loose = assembled(pools=[POOL | {"tls": {"insecure": True}}])
    assert loose.tls_of(endpoint).verify_mode is ssl.CERT_NONE
    plain = assembled(pools=[{"model": "m", "endpoints": [{"url": "http://h:1"}]}])
    assert plain.tls_of(plain.endpoints()[0]) is None


@pytest.mark.parametrize("mode", ["9", "66", "rw", "0o660", "66666"])
def test_a_mode_is_octal(mode):
    with pytest.raises(ConfigError, match="socket_mode: .* is no mode"):
        assembled(socket_mode=mode)


def test_some_address_is_needed():
    with pytest.raises(ConfigError, match="listen: no address is given"):
        assembled(listen=[])
    assert len(assembled(listen=["127.0.0.1:1", "127.0.0.1:1"]).public.addresses) == 1
