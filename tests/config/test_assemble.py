"""A configuration that is right, and every way in which one is wrong: with its place and its cure."""

import pytest
import yaml

from forebay.config.assemble import assemble, load
from forebay.config.document import Document
from forebay.config.errors import ConfigError
from forebay.config.secret import KeyRing
from forebay.config.slots import MAX_SLOTS, Lease, SlotBook
from forebay.domain.ability import Role
from forebay.placement.profile import Profile

WHOLE = """\
listen: 127.0.0.1:8080
admin: 127.0.0.1:8081
pools:
  - model: qwen2.5-vl-7b
    aliases: [gpt-4o]
    family: qwen2.5-vl
    profile: multimodal
    endpoints:
      - url: http://10.0.0.1:8000
        engine: vllm
        device: a100-80gb
        zone: az-1
        numa_node: 0
        preprocess_numa_node: 1
"""
POOL = "pools:\n  - model: m\n    endpoints: [{url: 'http://10.0.0.1:8000'}]\n"


def fault(text):
    with pytest.raises(ConfigError) as raised:
        assemble(Document(text, "f.yaml"))
    return str(raised.value)


def test_the_contract():
    assembly = assemble(Document(WHOLE, "f.yaml"))
    (pool,) = assembly.plan.pools
    assert pool.names == ("qwen2.5-vl-7b", "gpt-4o")
    assert isinstance(pool.profile, Profile)
    assert pool.profile.name == "multimodal"
    (endpoint,) = assembly.endpoints()
    assert (endpoint.url, endpoint.engine, endpoint.numa_node) == ("http://10.0.0.1:8000", "vllm", 0)
    assert endpoint.preprocess_numa_node == 1
    assert endpoint.role is Role.ALL
    assert assembly.api_key_of(endpoint) is None
    assert not assembly.keys


def test_defaults_need_a_model_and_a_url_only():
    assembly = assemble(Document(POOL))
    assert assembly.plan.pools[0].profile.name == "least-request"
    assert assembly.file.listen == "127.0.0.1:8080"
    assert (assembly.pools[0].family.name, assembly.pools[0].family.found_by) == ("generic", "")


def test_a_family_is_found_out_from_the_model():
    (pool,) = assemble(Document(POOL.replace("model: m", "model: Qwen/Qwen2.5-VL-7B-Instruct"))).pools
    assert (pool.family.name, pool.family.found_by) == ("qwen2.5-vl", "the model's name")


def test_profiles_and_families_take_parameters():
    text = POOL + "    profile: {name: multimodal}\n    family: {name: qwen2-vl, max_pixels: 50176}\n"
    (pool,) = assemble(Document(text)).pools
    assert pool.family.on("").max_pixels == 50176


def test_the_nearest_word_is_suggested():
    assert (
        fault(POOL + "    alises: [x]\n")
        == "f.yaml:4:5: pools[0].alises: unknown field `alises`: did you mean `aliases`?"
    )
    assert "f.yaml:4:15: pools[0].profile.wieght" in fault(
        POOL + "    profile: {wieght: 1, name: multimodal}\n"
    )
    assert "did you mean `multimodal`?" in fault(POOL + "    profile: multimodel\n")
    assert "did you mean `qwen2.5-vl`?" in fault(POOL + "    family: qwen2.5vl\n")
    assert "least-request" in fault(POOL + "    profile: zzz\n")
    assert "engine: `vlm` is not known: did you mean `vllm`?" in fault(POOL.replace("}]", ", engine: vlm}]"))
    assert "image_formats[0]: `jpg` is not known: did you mean `jpeg`?" in fault(
        POOL.replace("}]", ", image_formats: [jpg]}]")
    )
    assert "`zzz` is not known: all, decode, encode, prefill" in fault(POOL.replace("}]", ", role: zzz}]"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "missing required field `pools`"),
        ("- a", "expected `object`"),
        (POOL.replace("{url: 'http://10.0.0.1:8000'}", "http://10.0.0.1:8000"), "settings as `name: value`"),
        (
            "listen: '127.0.0.1:80'\nadmin: ['[::1]:81', '127.0.0.1:80']\n" + POOL,
            "choose another for one of them",
        ),
        ("pools: []", "length >= 1"),
        ("pools: [", "not YAML"),
        (POOL + "    endpoints: []\n", "`endpoints` is given twice"),
        (POOL + "1: x\n", "keys must be text"),
        (POOL + "{a: b}: x\n", "keys must be text"),
        (POOL + "seed: 2026-13-01\n", "seed: `2026-13-01` is not what it is declared as"),
        (POOL + "seed: !!bool maybe\n", "seed: `maybe` is not what it is declared as"),
        (POOL + "seed: !!timestamp soon\n", "seed: `soon` is not what it is declared as"),
        (POOL + f"seed: {'9' * 6_000}\n", "9` is not what it is declared as: put it in quotes"),
        ("listen: 8080\n" + POOL, "expected `str | array`, got `int`"),
        ("listen: here\n" + POOL, "write HOST:PORT"),
        ("listen: 'a:99999'\n" + POOL, "write HOST:PORT"),
        (POOL.replace("http://10.0.0.1:8000", "10.0.0.1:8000"), "write http://HOST:PORT"),
        (POOL.replace("http://10.0.0.1:8000", "http://2001:db8::5:8000"), "write http://[2001:db8::5]:8000"),
        (POOL.replace("http://10.0.0.1:8000", "http://u:p@h:1"), "api_key_env"),
        (POOL.replace("http://10.0.0.1:8000", "http://h:1/v1/chat/completions"), "stop after the port"),
        (POOL.replace("http://10.0.0.1:8000", "http://h:1/v3?a=b"), "stop after the port"),
        (POOL.replace("http://10.0.0.1:8000", "http://h:1/v 3"), "stop after the port"),
        (POOL.replace("}]", "}, {url: 'http://10.0.0.1:8000/v1'}]"), "is already at pools[0].endpoints[0]"),
        (POOL.replace("'}]", "', metrics_port: 65536}]"), "<= 65535"),
        (
            POOL.replace("http://10.0.0.1:8000'}]", "unix:///run/engine.sock', metrics_port: 8002}]"),
            "remove `metrics_port`",
        ),
        (POOL + "    aliases: [m]\n", "already names pools[0].model"),
        (POOL + "    timeouts: {connect_seconds: 0}\n", "> 0"),
        (POOL + "    family: {name: qwen2-vl, max_pixel: 3}\n", "did you mean `max_pixels`?"),
        (POOL + "    api_key_env: NOT_SET_ANYWHERE\n", "export NOT_SET_ANYWHERE="),
        (POOL + "    api_key_env: A\n    api_key_file: B\n", "keep one"),
        (POOL + "    api_key_file: /no/such/file\n", "cannot read /no/such/file"),
        (POOL + "intake: {media_urls: {allow: [a.example]}}\n", "move it out of `intake`"),
        (POOL.replace(":8000", ":0"), "write http://HOST:PORT"),
    ],
)
def test_faults_name_the_place_and_the_cure(text, words):
    message = fault(text)
    assert words in message
    assert message.startswith("f.yaml")


@pytest.mark.parametrize(
    ("line", "path", "bound"),
    [
        ("inbound: {max_body_bytes: -1}", "inbound.max_body_bytes", ">= 1"),
        ("inbound: {sweep_seconds: 0}", "inbound.sweep_seconds", "> 0"),
        ("inbound: {min_body_bytes_per_second: 0}", "inbound.min_body_bytes_per_second", ">= 1"),
        ("inbound: {linger_bytes: -1}", "inbound.linger_bytes", ">= 0"),
        ("intake: {max_depth: -1}", "intake.max_depth", ">= 1"),
        ("intake: {max_elements: 0}", "intake.max_elements", ">= 1"),
        ("intake: {media: {max_pixels: -1}}", "intake.media.max_pixels", ">= 1"),
        ("    breaker: {failures: -1}", "pools[0].breaker.failures", ">= 1"),
        ("    breaker: {open_seconds: 0}", "pools[0].breaker.open_seconds", "> 0"),
        ("    retry: {max_retries: -1}", "pools[0].retry.max_retries", ">= 0"),
        ("    retry: {window_seconds: 0}", "pools[0].retry.window_seconds", "> 0"),
        ("    queue: {ttl_seconds: -3}", "pools[0].queue.ttl_seconds", "> 0"),
        ("    queue: {look_ahead: 0}", "pools[0].queue.look_ahead", ">= 1"),
        ("    profile: {name: queue-kv, queue: -1}", "pools[0].profile.queue", ">= 0"),
        ("    profile: {name: queue-kv, kv: 1001}", "pools[0].profile.kv", "<= 1000"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(line, path, bound):
    message = fault(POOL + line + "\n")
    assert message.startswith("f.yaml:4:")
    assert f": {path}: expected" in message
    assert bound in message


@pytest.mark.parametrize("number", [".nan", ".inf", "-.inf", "1.0e+300", "1" + "0" * 400])
@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("    timeouts: {idle_seconds: NUMBER}", "pools[0].timeouts.idle_seconds"),
        ("    slow_start_seconds: NUMBER", "pools[0].slow_start_seconds"),
        ("    breaker: {open_seconds: NUMBER}", "pools[0].breaker.open_seconds"),
        ("    profile: {name: queue-kv, queue: NUMBER}", "pools[0].profile.queue"),
    ],
)
def test_numbers_without_end_are_refused(line, path, number):
    message = fault(POOL + line.replace("NUMBER", number) + "\n")
    assert message.startswith("f.yaml:4:")
    assert f"{path}: `{number}` is no usable number: write a finite number" in message


@pytest.mark.parametrize(
    "settings",
    [
        "    timeouts: {total_seconds: 0}\n    heartbeat_seconds: 0\n    slow_start_seconds: 0",
        "    retry: {max_retries: 0, ratio: 0, minimum_per_second: 0}\n    queue: {max_requests: 0}",
        "    breaker: {rate_limited_seconds: 0, max_cooldown_seconds: 0}",
        "intake: {max_vision_tokens: 0}\ndrain: {lag_seconds: 0, grace_seconds: 0}\ninbound: {linger_seconds: 0}",
    ],
)
def test_nought_that_means_off_is_taken(settings):
    assert assemble(Document(POOL + settings + "\n")).plan.version == 1


@pytest.mark.parametrize(
    "entry",
    ["https://x", "*.example.com", "a.com:8443", "", ".", "a..b", "a.com/x", "a.com.", "[::1]", "ü.de"],
)
def test_media_hosts_that_no_url_can_match_are_refused(entry):
    message = fault(POOL + f"media_urls: {{allow: [a.example, '{entry}']}}\n")
    assert message.startswith("f.yaml:4:")
    assert f"media_urls.allow[1]: `{entry}` matches no URL: write a host name" in message


def test_media_hosts_of_every_form_are_taken():
    allow = [
        "media.example.com",
        ".example.com",
        "http://.Example.com",
        "http://minio",
        "10.0.0.5",
        "a_b-c.d",
    ]
    assembly = assemble(Document(POOL + f"media_urls: {{allow: {allow}}}\n"))
    assert assembly.intake.media_urls.allow == tuple(allow)


def test_aliases_cannot_grow_without_bound():
    bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True):
        bomb += f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n"
    assert "at most" in fault(bomb)
    assert "levels" in fault("[" * 40 + "]" * 40)


def test_tags_that_run_code_are_refused():
    assert "not YAML" in fault("listen: !!python/name:os.system")
    assert "unknown field `a`" in fault(
        "a: !!python/object/apply:os.system ['true']"
    )  # plain data, never called


def test_keys_come_from_the_environment_or_a_file_and_are_never_shown(monkeypatch, tmp_path):
    monkeypatch.setenv("ENGINE_KEY", "sk-secret")
    secret = tmp_path / "keys"
    secret.write_text("one\ntwo\n")
    text = POOL + f"    api_key_env: ENGINE_KEY\nkeys_file: {secret}\n"
    assembly = assemble(Document(text))
    assert assembly.api_key_of(assembly.endpoints()[0]) == "sk-secret"
    assert "sk-secret" not in repr(assembly)
    assert assembly.keys.admits(b"Bearer one", None)
    assert assembly.keys.admits(None, b"two")
    assert not assembly.keys.admits(b"Bearer three", None)
    assert not assembly.keys.admits(b"Basic one", None)
    assert not assembly.keys.admits(None, None)


def test_a_tenant_is_named_by_its_key_alone():
    here, there = KeyRing(["one", "two"]), KeyRing(["three", "two"])
    assert here.tenant_of(b"Bearer two", None) == there.tenant_of(None, b"two")
    assert here.tenant_of(b"Bearer one", None) != here.tenant_of(b"Bearer two", None)
    assert here.tenant_of(b"Bearer three", None) == here.tenant_of(None, None) == ""
    assert len(here.tenant_of(None, b"two")) == 16


@pytest.mark.parametrize(
    ("value", "words"), [(" ", "is empty"), ("a b", "no HTTP header"), ("ü", "no HTTP header")]
)
def test_a_key_that_cannot_be_sent_is_refused(monkeypatch, value, words):
    monkeypatch.setenv("ENGINE_KEY", value)
    assert words in fault(POOL + "    api_key_env: ENGINE_KEY\n")


def test_an_empty_key_ring_is_refused(monkeypatch):
    monkeypatch.setenv("GATE_KEYS", " ")
    assert "holds no key" in fault(POOL + "keys_env: GATE_KEYS\n")


def test_a_pool_may_bound_what_is_remembered_of_its_endpoints():
    text = POOL + "    residency: {tenant_bytes: 1000}\n"
    assert assemble(Document(text, "f.yaml")).plan.pools[0].residency.tenant_bytes == 1000
    assert "`int` >= 1" in fault(POOL + "    residency: {total_bytes: 0}\n")


def test_load_reads_a_file(tmp_path):
    path = tmp_path / "f.yaml"
    path.write_text(WHOLE)
    assert load(path).plan.version == 1
    with pytest.raises(ConfigError, match="cannot be read"):
        load(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("http://h", "http://h:80"),
        ("http://h:1/", "http://h:1"),
        ("http://h:1/v1/", "http://h:1"),
        ("http://h:1/v3", "http://h:1/v3"),
        ("http://[::1]:1/replica-1/v1", "http://[::1]:1/replica-1"),
    ],
)
def test_an_address_may_carry_the_base_of_its_api(written, url):
    (endpoint,) = assemble(Document(POOL.replace("http://10.0.0.1:8000", written))).endpoints()
    assert (endpoint.url, endpoint.name) == (url, url.removeprefix("http://"))


@pytest.mark.parametrize("loader", [yaml.SafeLoader, getattr(yaml, "CSafeLoader", yaml.SafeLoader)])
@pytest.mark.parametrize("text", ["[" * 100_000, "- " * 100_000, "{a: " * 50_000])
def test_no_depth_is_too_much_for_the_reader(monkeypatch, loader, text):
    monkeypatch.setattr("forebay.config.document._LOADER", loader)
    assert "not YAML" in fault(text)


def test_workers_share_no_more_endpoints_than_their_ledger_has_room_for():
    def full(count):
        return SlotBook(Lease("old", str(slot), slot, 1) for slot in range(count))

    alone, several = Document(POOL, "f.yaml"), Document(POOL + "workers: 2\n", "f.yaml")
    assert assemble(several, full(MAX_SLOTS - 1)).endpoints()
    assert assemble(alone, full(MAX_SLOTS)).endpoints()
    with pytest.raises(ConfigError, match=r"workers.*16384 endpoints at most"):
        assemble(several, full(MAX_SLOTS))
