"""For the image's HEALTHCHECK: exit 0 when the gateway answers at $FOREBAY_HEALTH_URL, 1 when not. The image has no curl."""

import os
import sys
import urllib.request

url = os.environ.get("FOREBAY_HEALTH_URL", "http://127.0.0.1:8080/health")
try:
    with urllib.request.urlopen(url, timeout=2) as reply:  # noqa: S310 - the operator's own address
        sys.exit(reply.status != 200)
except OSError as error:
    sys.exit(f"{url}: {error}")
