"""The routers that are compared: how each is found, configured and started in front of the fake engines."""

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import forebay
from forebay.testing.bench import install
from forebay.testing.bench.processes import bare_environment, python
from forebay.testing.bench.wire import MODEL

MAX_BODY_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True)
class Site:
    """Where one contestant runs."""

    folder: Path
    port: int
    admin_port: int
    engine_ports: Sequence[int]


class Contestant(Protocol):
    """One router: what it is called, whether it is here, and its command line."""

    name: str

    def version(self) -> str:
        """Its version, or empty when it is not installed."""
        ...

    def cure(self) -> str:
        """How to install it, for people."""
        ...

    def install(self) -> None:
        """Install it. Raises OSError or RuntimeError when that cannot be done."""
        ...

    def command(self, site: Site) -> list[str]:
        """Write its configuration into the site's folder and return the command line that runs it in the foreground."""
        ...


class Forebay:
    """This package's own gateway: one process, the profile for images, metrics, access log and decisions on."""

    name = "forebay"

    def version(self) -> str:
        """The version of this installation."""
        return forebay.__version__

    def cure(self) -> str:
        """It is always here."""
        return ""

    def install(self) -> None:
        """Nothing to do."""

    def command(self, site: Site) -> list[str]:
        """Two static endpoints of one pool."""
        config = site.folder / "forebay.yaml"
        config.write_text(forebay_config(site))
        return python("forebay.cli.main", "serve", "--config", str(config))


def forebay_config(site: Site) -> str:
    """The gateway's configuration for the benchmark."""
    endpoints = "".join(
        f"      - url: http://127.0.0.1:{port}\n        engine: vllm\n" for port in site.engine_ports
    )
    return (
        f"listen: 127.0.0.1:{site.port}\nadmin: 127.0.0.1:{site.admin_port}\n"
        "drain:\n  lag_seconds: 0\n  grace_seconds: 1\n"
        f"pools:\n  - model: {MODEL}\n    family: qwen2.5-vl\n    profile: multimodal\n    endpoints:\n{endpoints}"
    )


class Nginx:
    """nginx as a plain reverse proxy: it never looks at the body."""

    name = "nginx"

    def version(self) -> str:
        """What `nginx -v` says."""
        program = find_nginx()
        if not program:
            return ""
        done = subprocess.run(
            [program, "-v"], capture_output=True, text=True, check=False, env=bare_environment()
        )
        match = re.search(r"nginx/(\S+)", done.stderr)
        return match[1] if match else ""

    def cure(self) -> str:
        """A package of Debian and Ubuntu."""
        return "apt-get install nginx-light (or run with --install as root)"

    def install(self) -> None:
        """With apt-get, as root."""
        install.install_nginx()

    def command(self, site: Site) -> list[str]:
        """One worker in the foreground."""
        config = site.folder / "nginx.conf"
        config.write_text(nginx_config(site))
        return [find_nginx(), "-p", str(site.folder), "-c", str(config)]


def find_nginx() -> str:
    """The path of nginx, which is often outside the PATH of users; empty when there is none."""
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin") or ""


def nginx_config(site: Site) -> str:
    """One worker, bodies kept in memory, keep-alive to the engines, an access log."""
    folder = site.folder
    engines = "".join(f"    server 127.0.0.1:{port};\n" for port in site.engine_ports)
    scratch = "".join(
        f"  {kind}_temp_path {folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    return f"""daemon off;
pid {folder}/nginx.pid;
error_log {folder}/nginx-error.log warn;
worker_processes 1;
worker_rlimit_nofile 65536;
events {{ worker_connections 32768; }}
http {{
{scratch}  access_log {folder}/nginx-access.log;
  client_max_body_size {MAX_BODY_BYTES};
  client_body_buffer_size 8m;
  keepalive_requests 1000000;
  upstream engines {{
{engines}    keepalive 512;
    keepalive_requests 1000000;
  }}
  server {{
    listen 127.0.0.1:{site.port} backlog=4096;
    location / {{
      proxy_pass http://engines;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_read_timeout 600s;
    }}
  }}
}}
"""


class VllmRouter:
    """The vLLM project's router, in Rust; installed by the benchmark into an environment of its own."""

    name = "vllm-router"

    def version(self) -> str:
        """The pinned version, once installed."""
        return install.VLLM_ROUTER_VERSION if install.vllm_router_python().exists() else ""

    def cure(self) -> str:
        """The benchmark brings it."""
        return "forebay bench router --install"

    def install(self) -> None:
        """The pinned wheel, with pip."""
        install.install_vllm_router()

    def command(self, site: Site) -> list[str]:
        """Round robin; everything else as the program sets it."""
        urls = [f"http://127.0.0.1:{port}" for port in site.engine_ports]
        options = ["--host", "127.0.0.1", "--port", str(site.port), "--prometheus-port", str(site.admin_port)]
        start = [str(install.vllm_router_python()), "-c", install.VLLM_ROUTER_START]
        return [*start, *options, "--policy", "round_robin", "--worker-urls", *urls]


class Direct:
    """No router at all: the load goes straight to the engines. What the others add is measured against this."""

    name = "direct"

    def version(self) -> str:
        """There is nothing to install."""
        return sys.version.split()[0]

    def cure(self) -> str:
        """It is always here."""
        return ""

    def install(self) -> None:
        """Nothing to do."""

    def command(self, site: Site) -> list[str]:
        """No process is started."""
        del site
        return []


CONTESTANTS: tuple[Contestant, ...] = (Direct(), Nginx(), VllmRouter(), Forebay())
