"""What real workers did with runs of another version, beside what the codec alone had said.

A run that the codec reads is executed once, with the params that it read; any other is given back,
uncharged, and neither executed nor dead; one of a job that the worker's schema has retired ends
dead for that reason.
"""
import collections


def runs_of(versions, answers, writer, reader):
    """(job, payload, what the codec of the reader said) of all that one version enqueues for another.
    Nobody enqueues results, or runs of a retired job."""
    for (who, is_result, job, readers, _), lines in answers:
        if who == writer and not is_result and reader in readers and not versions[writer].job.retired:
            yield job, lines[0].removeprefix("ok "), lines[1 + readers.index(reader)]


def parse(output):
    """The ids in order, what was executed of each, and what the store then had of it."""
    executed, states = collections.defaultdict(list), {}
    for line in output.split("\n"):
        word, _, rest = line.partition(" ")
        identity, _, rest = rest.partition(" ")
        if word == "executed":
            executed[identity].append(rest)
        elif word == "run":
            states[identity] = rest.split(" ", 2)
    return executed, states


def wrong_with(answer, is_retired, executions, state, charged, why):
    """None, or what the worker should have done instead."""
    word, _, text = answer.partition(" ")
    if is_retired:
        wanted = state == "dead" and why == "the job is retired" and not executions
        return None if wanted else "its job is retired here, so it should be dead for that reason"
    if word == "ok":
        wanted = executions == [text] and state in ("done", "gone")
        return None if wanted else f"it should be executed once, with {text}"
    wanted = state in ("scheduled", "waiting") and charged == "0" and not executions
    return None if wanted else f"it should be given back, uncharged ({answer})"
