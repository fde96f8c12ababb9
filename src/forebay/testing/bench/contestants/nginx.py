"""nginx as a plain reverse proxy: it never looks at the body."""

import re
import shutil
import subprocess
from typing import ClassVar

from forebay.testing.bench import install
from forebay.testing.bench.contestants.base import MAX_BODY_BYTES, Plain, Site
from forebay.testing.bench.processes import bare_environment


class Nginx(Plain):
    """One worker, keep-alive to the engines, an access log."""

    name: ClassVar[str] = "nginx"

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
