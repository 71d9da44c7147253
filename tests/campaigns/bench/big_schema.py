"""A schema of many jobs, each of the size that people write: eight params, a result, settings."""
import pathlib

HEAD = """package {package};

enum lang : uint8 {{ EN = 1, IT = 2 }}
struct money {{ int64 minor; string currency [[len(3)]]; }}
retry_policy remote {{ max 12; backoff exponential 2s factor 2 cap 1h; jitter full; }}
"""
JOB = """
/// Sends message number {n} to one customer.
job send_{n} {{
    params {{
        string to      [[nonempty, max_len(320)]]; ///< address
        string subject [[max_len(998)]];
        lang lang = EN;
        bytes body     [[secret]];
        optional string reply_to;
        string cc[<=50];
        uint64 tenant = 0;
        money total;
    }}
    returns {{ string message_id; timestamp accepted_at; }}
    queue "mail{queue}";
    priority 5;
    expires 24h;
    retry remote;
}}
"""


def write(path: pathlib.Path, jobs: int, package: str = "big") -> None:
    path.write_text(HEAD.format(package=package) + "".join(JOB.format(n=n, queue=n % 7) for n in range(jobs)))
