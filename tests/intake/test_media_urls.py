import pytest

from forebay.intake.media_urls import check_url
from forebay.intake.refusal import Refusal
from forebay.intake.settings import MediaUrlSettings

OPEN = MediaUrlSettings()
LISTED = MediaUrlSettings(
    allow=("media.example.com", ".cdn.example.com", "http://plain.example.com", "10.0.0.5", "minio")
)

NEVER = [
    "http://169.254.169.254/x",
    "http://127.0.0.1:9/x",
    "http://[::1]/x",
    "http://10.0.0.5/x",
    "http://media.example.com/redir",
    "file:///etc/hostname",
    "https://169.254.169.254/x",
    "https://2852039166/",
    "https://0xa9fea9fe/",
    "https://0251.0376.0251.0376/",
    "https://169.254.43518/",
    "https://0xa9.254.0xa9.0xfe/",
    "https://127.1/",
    "https://0/",
    "https://[::ffff:169.254.169.254]/",
    "https://[fd00::1]/",
    "https://169.254.169.254./",
    "https://media.example.org./",
    "https://%31%32%37.0.0.1/",
    "https://\uff11\uff12\uff17.0.0.1/",
    "https://\u2460\u2461\u2466.0.0.1/",
    "https://example.org\u3002evil/",
    "https://user@169.254.169.254/",
    "https://media.example.org@127.0.0.1/",
    "https://media.example.org:pw@127.0.0.1/",
    "https://127.0.0.1\\@media.example.org/",
    "https:\\\\media.example.org/",
    "https:/media.example.org/",
    "https:media.example.org",
    "https://media.example.org\t/x",
    " https://media.example.org/",
    "https://media.example.org/\n",
    "https://media.exa\nmple.org/",
    "https://localhost/",
    "https://metadata/",
    "https://metadata.google.internal/",
    "https://printer.local/",
    "https://a.localhost/",
    "https:///x",
    "https://",
    "https://.example.org/",
    "https://a..example.org/",
    "https://media.example.org:99999999/",
    "ftp://media.example.org/x",
    "gopher://media.example.org/",
    "//media.example.org/x",
    "javascript:alert(1)",
    "iVBORw0KGgo=",
    "",
]


@pytest.mark.parametrize("url", NEVER)
def test_p37_only_plain_public_https_names_pass(url):
    with pytest.raises(Refusal) as caught:
        check_url(url, OPEN, "messages[0].content[1]")
    refusal = caught.value
    assert (refusal.status, refusal.code, refusal.param) == (400, "url_not_allowed", "messages[0].content[1]")
    assert "`media_urls.allow`" in refusal.message
    assert len(url.strip()) < 9 or url.strip() not in refusal.message


@pytest.mark.parametrize(
    "url",
    [
        "https://media.example.org/a%20b.png?x=1&u=a@b#f",
        "HTTPS://Media.Example.ORG",
        "https://media.example.org:8443/x",
        "https://xn--bcher-kva.example/x",
        "https://1.2.3.example.org/",
        "https://my_bucket.s3.example.org/x",
        "https://media.example.org?x",
        "https://media.example.org/ü",
    ],
)
def test_p37_public_names_pass(url):
    check_url(url, OPEN, "p")


@pytest.mark.parametrize("url", NEVER)
def test_p37_a_list_of_hosts_opens_nothing_else(url):
    with pytest.raises(Refusal):
        check_url(url, LISTED, "p")


@pytest.mark.parametrize(
    "url",
    [
        "https://media.example.com/x",
        "https://MEDIA.example.com/x",
        "https://eu.cdn.example.com/x",
        "http://plain.example.com/x",
        "https://plain.example.com/x",
        "https://10.0.0.5/x",
        "https://minio/x",
    ],
)
def test_p37_listed_hosts_pass(url):
    check_url(url, LISTED, "p")


@pytest.mark.parametrize(
    "url",
    [
        "https://other.example.org/",
        "https://xmedia.example.com/",
        "https://cdn.example.com/",
        "http://minio/",
    ],
)
def test_p37_unlisted_hosts_do_not(url):
    with pytest.raises(Refusal):
        check_url(url, LISTED, "p")
