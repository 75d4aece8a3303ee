"""tau-bench and tau2-bench: an agent serves a simulated customer, and a rule says whether the outcome is right.

tau-bench (tried on 59a200c6 and its historical trajectories): a JSON array of runs {task_id, trial, reward, info,
traj}; `traj` are OpenAI messages, `info.task` holds the customer's instruction and the right actions. A crashed run
has reward 0, an empty `traj` and `info.error`: it was not run, which is no failure of the agent. The file names neither
model nor domain.
tau2-bench (read at a2c02472): an object {info, tasks[], simulations[]}; a simulation has task_id, trial, messages,
termination_reason and reward_info. There the customer calls tools as well.

The reward is a check of the outcome: 1 is right, anything less is not. The side is not in the files. On `capability`
the failed checks are the errors, and 1 minus their rate is pass^1; on `benign` a failed check is no error, and other
judges must say whether the agent refused. Many tasks want the agent to decline, so `capability` is nearly always meant.
"""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from labeling.formats.files import documents, elements
from labeling.formats.files.documents import Found
from labeling.formats.files.elements import Broken
from labeling.formats.files.source import Sniff, Source, Unread
from labeling.formats.mapping import as_number, as_text
from labeling.formats.normal import canonical, is_set
from labeling.formats.reading import Format, Item, Row, Score, System
from labeling.formats.rows.naming import Names, joined, storable
from labeling.formats.rows.values import as_attempt, as_object, as_time, as_word, small
from labeling.vocabulary import Kind, Meaning, Undetermined

_ONE = "tau-bench"
# How a simulation ends that went wrong outside the agent.
_NOT_THE_AGENTS = {"infrastructure_error", "unexpected_error", "user_error"}
_NO_RUN = "It is no run with a task_id."


def recognises(sniff: Sniff) -> bool:
    outline = sniff.outline
    if outline.kind == "array":
        return {"task_id", "reward", "info", "traj"} <= set(outline.keys)
    # The tasks may fill all that is looked at, and the simulations come behind them.
    return {"info", "tasks"} <= set(outline.keys) and b'"agent_info"' in sniff.head


def read(source: Source) -> Iterator[Item]:
    with source.text() as stream:
        is_one = elements.outline(stream.read(1024 * 1024)).kind == "array"
    yield from _read_one(source) if is_one else _read_two(source)


# --- tau-bench ---------------------------------------------------------------------------------------------------


def _read_one(source: Source) -> Iterator[Item]:
    yield System(_ONE, model="", name=_ONE)
    names = Names(source.mapping)
    tasks: dict[str, Any] = {}
    # A crashed run does not say what its task was; another trial of it does, which may come later.
    crashed: list[Found] = []
    for found in documents.objects(documents.values(source), _NO_RUN, "task_id"):
        if isinstance(found, Unread):
            yield found
        elif not found.value.get("traj"):
            crashed.append(found)
        else:
            task = as_object(as_object(found.value.get("info")).get("task"))
            yield _run(found, tasks.setdefault(as_text(found.value["task_id"]), task), names)
    for found in crashed:
        yield _run(found, tasks.get(as_text(found.value["task_id"]), {}), names)


def _run(found: Found, task: Mapping[str, Any], names: Names) -> Row:
    given = found.value
    info, messages = as_object(given.get("info")), given.get("traj") or []
    error = info.get("error")
    if not is_set(error) and not messages:
        error = "The file holds no message of this run."
    rest = {"task_id": given["task_id"], "trial": given.get("trial"), "user_cost": info.get("user_cost")}
    facts = {**rest, "reward": given.get("reward"), "task": task, "reward_info": info.get("reward_info")}
    score = _reward(given.get("reward"), version="", failed=is_set(error))
    return Row(
        place=found.place,
        system=_ONE,
        line={
            "external_id": names.row(_ONE, joined(given["task_id"], given.get("trial")), found.number),
            "attempt": as_attempt(given.get("trial"), counted_from=0),
            "messages": messages,
            "error": error,
            "metadata": small({**rest, "reward": given.get("reward")}),
        },
        case={
            "key": storable(as_text(given["task_id"])),
            **_asked(task.get("instruction")),
            "right_answer": _text({key: task[key] for key in ("actions", "outputs") if key in task}),
        },
        facts=facts,
        scores=(score,) if messages else (),
        raw=found.raw,
    )


# --- tau2-bench --------------------------------------------------------------------------------------------------


def _read_two(source: Source) -> Iterator[Item]:
    with source.text() as stream:
        info = elements.members(stream, "info")
    system = _system(info)
    yield system
    tasks = _tasks(source)
    names = Names(source.mapping)
    for found in documents.objects(documents.values(source, "simulations"), _NO_RUN, "task_id"):
        if isinstance(found, Unread):
            yield found
        elif found.value.get("messages") is None and found.value.get("ticks"):
            reason = "A spoken simulation, kept as ticks of sound; there are no messages to read."
            yield Unread(found.place, "messages", reason, found.raw)
        else:
            task = tasks.get(as_text(found.value["task_id"]), {})
            yield _simulation(found, task, names, system=system, version=as_text(info.get("git_commit")))


def _system(info: Mapping[str, Any]) -> System:
    agent, world = as_object(info.get("agent_info")), as_object(info.get("environment_info"))
    model = as_text(agent.get("llm"))
    name = joined("tau2-bench", as_text(world.get("domain_name")), as_text(agent.get("implementation")), model)
    return System(
        key=storable(name),
        model=as_word(model, 200),
        name=as_word(name, 200),
        decoding=as_object(agent.get("llm_args")),
    )


def _tasks(source: Source) -> dict[str, dict[str, Any]]:
    """What is asked and expected in each task; its long description of the world stays in the file."""
    tasks = {}
    try:
        with source.text() as stream:
            for element in elements.elements(stream, "tasks"):
                task = as_object(elements.loads(element.raw))
                tasks[as_text(task.get("id"))] = {
                    "scenario": as_object(task.get("user_scenario")).get("instructions"),
                    "criteria": task.get("evaluation_criteria"),
                }
    except Broken:
        # The simulations are read all the same, and the break is reported there.
        pass
    return tasks


def _simulation(found: Found, task: Mapping[str, Any], names: Names, *, system: System, version: str) -> Row:
    given = found.value
    messages = list(_messages(given.get("messages")))
    stop = as_text(given.get("termination_reason"))
    failed = stop in _NOT_THE_AGENTS
    rewarded = as_object(given.get("reward_info"))
    reward = rewarded.get("reward")
    # A task that says nothing of the right outcome gets 1 whatever was done.
    unchecked = reward == 1 and rewarded.get("reward_basis", "") is None
    rest = {key: given.get(key) for key in ("id", "task_id", "trial", "seed", "duration", "agent_cost", "user_cost")}
    error = f"The simulation ended with {stop}." if failed else None
    if not messages and not failed:
        error = "The file holds no message of this simulation."
    return Row(
        place=found.place,
        system=system.key,
        line={
            "external_id": names.row(system.key, joined(given["task_id"], given.get("trial")), found.number),
            "attempt": as_attempt(given.get("trial"), counted_from=0),
            "messages": messages,
            "stop_reason": as_word(stop, 60),
            "error": error,
            "observed_at": as_time(given.get("start_time") or given.get("timestamp")),
            "metadata": small(rest),
        },
        case={
            "key": storable(as_text(given["task_id"])),
            **_asked(task.get("scenario")),
            "right_answer": _text(task.get("criteria")),
        },
        facts={**rest, "termination_reason": stop, "reward_info": given.get("reward_info"), "task": task},
        scores=(_reward(reward, version=version, failed=failed or unchecked),) if messages else (),
        raw=found.raw,
    )


def _messages(given: Any) -> Iterator[Any]:
    """In OpenAI's shape: the result of a tool names the call it answers, and several in one message are several."""
    if not isinstance(given, list):
        return
    several = ([*m["tool_messages"]] if isinstance(as_object(m).get("tool_messages"), list) else [m] for m in given)
    for message in chain.from_iterable(several):
        if as_object(message).get("role") == "tool":
            requestor = {"requestor": message["requestor"]} if "requestor" in message else {}
            yield {
                "role": "tool",
                "tool_call_id": message.get("id"),
                "content": message.get("content"),
                "is_error": bool(message.get("error")),
                **requestor,
            }
        elif isinstance(message, dict):
            yield {key: message[key] for key in ("role", "content", "tool_calls") if key in message}
        else:
            yield message


# --- both --------------------------------------------------------------------------------------------------------


def _reward(value: Any, *, version: str, failed: bool) -> Score:
    """1 is right. What the runner gives to a run that it could not finish is no reward."""
    number = as_number(value)
    return Score(
        "reward",
        judge="tau-bench reward",
        version=as_word(version, 100),
        value=value,
        truth=None if number is None else abs(number - 1) < 1e-6,
        meaning=Meaning.CORRECT,
        undetermined=Undetermined.OTHER if failed else "",
    )


def _asked(instruction: Any) -> dict[str, Any]:
    """The customer's part is the request; a case of which nobody says it has none."""
    request = {"request": [{"role": "user", "content": as_text(instruction)}]} if instruction else {}
    return {"kind": Kind.TOOL_USE, **request}


def _text(value: Any) -> str:
    """ASCII, so that it can be stored whatever it quotes."""
    return canonical(value) if value else ""


FORMAT = Format(
    "tau-bench",
    "tau-bench and tau2-bench",
    "tau-bench at 59a200c6 with its historical trajectories; tau2-bench at a2c02472 from its source",
    recognises,
    read,
)
