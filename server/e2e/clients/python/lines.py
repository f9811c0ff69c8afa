"""The lines between the runner and a program, as grouplab/server/e2e/clients/agent describes them."""

import json
import logging
import os
import sys
import traceback

FILLING = "the quick brown fox " * 20


class Missing(Exception):
    """What a client does not have."""


def value(kind, i):
    return f"{kind}-{i} {FILLING}".encode()


def name(text):
    name, _, rest = text.decode().partition(" ")
    return name if rest == FILLING else name + ": its text is not what was sent"


def security():
    """How to connect to brokers that are locked, as the package agent describes it; None for others."""
    env = {name: os.environ.get("KAFKA_" + name, "")
           for name in ("TLS_CA", "TLS_CERT", "TLS_KEY", "SASL_MECHANISM", "SASL_USER", "SASL_PASSWORD")}
    return env if env["TLS_CA"] else None


def said(connect):
    """What the client says, in its log and by what it raises, where it cannot connect."""
    words, keep = [], logging.Handler(logging.WARNING)
    keep.emit = lambda record: words.append(record.getMessage())
    logging.getLogger().addHandler(keep)
    try:
        connect()
        return {}
    except Exception as e:
        words.append(f"{type(e).__name__}: {e}")
    return {"State": "; ".join(dict.fromkeys(reversed(words)))}


def serve(steps):
    """Answers requests by calling the method of steps that has the step's name, until standard input ends."""
    for line in sys.stdin:
        request = json.loads(line)
        try:
            reply = getattr(steps, request["Do"].replace("-", "_"))(request) or {}
        except Missing as e:
            reply = {"Missing": str(e)}
        except Exception as e:  # whatever a client raises is the step's result
            traceback.print_exc()
            reply = {"Error": f"{type(e).__name__}: {e}"}
        print(json.dumps(reply), flush=True)
    os._exit(0)  # a consumer's thread does not hold the process
