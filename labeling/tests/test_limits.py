"""Limits that workers share: rates, calls at once, in the database and in Redis."""

import threading
import time
import uuid
from collections.abc import Iterator
from functools import partial
from itertools import pairwise

import pytest
from django.conf import settings
from django.db import connection
from hypothesis import HealthCheck, given
from hypothesis import settings as tries
from hypothesis import strategies as st
from redis import Redis

from labeling.limits import AHEAD, Limits, LimitsUnavailable, limits, redis_limits
from labeling.limits.base import FURTHEST, Pace, book
from labeling.limits.database_limits import DatabaseLimits
from labeling.limits.redis_limits import RedisLimits
from labeling.models import RateLimit
from labeling.tests.threads import at_once

needs_redis = pytest.mark.skipif(not settings.REDIS_URL, reason="REDIS_URL is not set")
pytestmark = pytest.mark.redis
NOW = 1_000_000.0
# Rates in these tests are so slow that what passes while they run is a small part of one call's time.
SLACK = 2.0


@pytest.fixture
def key() -> str:
    """Redis is not emptied between tests."""
    return f"test:{uuid.uuid4().hex}"


STORES = ["database", "redis"] if settings.REDIS_URL else ["database"]


def opened(name: str) -> Limits:
    return RedisLimits(settings.REDIS_URL) if name == "redis" else DatabaseLimits()


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, db: None) -> Limits:
    return opened(request.param)


@pytest.fixture(params=STORES)
def shared_store(request: pytest.FixtureRequest, transactional_db: None) -> Limits:
    """For several threads, whose connections see only what is committed."""
    return opened(request.param)


@pytest.fixture
def redis_itself() -> Iterator[Redis]:
    with Redis.from_url(settings.REDIS_URL) as client:
        yield client


def waits(
    per_minute: int, count: int, *, amount: int = 1, used_until: float = NOW, now: float = NOW
) -> tuple[list[float], float]:
    found, until = book(used_until=used_until, now=now, pace=Pace.of(per_minute, amount), count=count)
    return [round(wait, 6) for wait in found], round(until - NOW, 6)


# --- the rule ------------------------------------------------------------------------------------------------------


def test_a_tenth_goes_at_once_and_the_rest_evenly_spaced() -> None:
    # 60 a minute: one a second, 6 of them at once. Ten calls use up ten seconds.
    assert waits(60, 10) == ([0, 0, 0, 0, 0, 0, 1, 2, 3, 4], 10)


def test_below_twenty_a_minute_no_two_go_at_once() -> None:
    # 19 // 10 = 1; 6 a minute is one each 10 s.
    assert waits(6, 4) == ([0, 10, 20, 30], 40)


def test_tokens_are_weighed() -> None:
    # 6000 a minute: 100 a second, 600 at once. Two calls of 300 go; each further one waits for its 3 s.
    assert waits(6000, 4, amount=300) == ([0, 0, 3, 6], 12)


def test_a_call_above_the_burst_waits_for_nothing_but_what_was_booked() -> None:
    # 1000 tokens of 6000 a minute: more than the 600 at once. Sent when nothing is booked, 10 s are then used up.
    assert waits(6000, 3, amount=1000) == ([0, 10, 20], 30)
    # A call of 300 behind them: the bucket is 30 s ahead, and its own 300 of 600 leave it 3 s early.
    assert waits(6000, 1, amount=300, used_until=NOW + 30) == ([27], 33)


def test_a_call_above_the_whole_limit_is_sent_and_gets_a_minute_of_its_own() -> None:
    # Else it would never fit, and its trajectory would wait for ever.
    assert waits(1000, 2, amount=5000) == ([0], 60)


def test_nothing_is_booked_further_ahead_than_a_call_may_wait() -> None:
    # 6 at once, then one in each of the seconds 1 to 30.
    booked, until = waits(60, 500)
    assert (len(booked), booked[-1], until) == (36, AHEAD, 36)
    assert waits(60, 5, used_until=NOW + 36) == ([], 36)
    assert waits(60, 5, used_until=NOW + 36, now=NOW + 2) == ([29, 30], 38)


def test_time_without_calls_is_not_saved_up() -> None:
    assert waits(60, 8, used_until=NOW - 3600) == ([0, 0, 0, 0, 0, 0, 1, 2], 8)


def test_a_changed_limit_counts_for_what_is_booked_from_now_on() -> None:
    # 36 s are used up. At 600 a minute, one each .1 s, a call goes 59 of them early: 5.9 s.
    assert waits(600, 2, used_until=NOW + 36, now=NOW + 10) == ([20.1, 20.2], 36.2)
    # At 6 a minute there is no burst: 36 s ahead is too far until 6 s have passed.
    assert waits(6, 2, used_until=NOW + 36) == ([], 36)
    assert waits(6, 2, used_until=NOW + 36, now=NOW + 6) == ([30], 46)


def test_a_clock_that_is_set_back_lets_nothing_through_early_and_stops_nothing_for_long() -> None:
    # By 10 s: what was booked until NOW + 6 is now 16 s ahead, less the burst of 6.
    assert waits(60, 2, used_until=NOW + 6, now=NOW - 10) == ([11, 12], 8)
    # By an hour: no more than the furthest that can ever be booked.
    found, until = waits(60, 1, used_until=NOW + 6, now=NOW - 3600)
    assert (found, until) == ([], FURTHEST - 3600)


LIMITS = st.integers(min_value=1, max_value=100_000)
BOOKINGS = st.lists(
    st.tuples(
        st.floats(min_value=0, max_value=40),  # seconds since the one before
        st.integers(min_value=0, max_value=200_000),  # amount
        st.integers(min_value=1, max_value=40),  # count
    ),
    min_size=1,
    max_size=12,
)


@given(LIMITS, BOOKINGS)
def test_no_stretch_of_time_ever_gets_more_than_its_share_and_the_burst(
    per_minute: int, bookings: list[tuple[float, int, int]]
) -> None:
    """Against every stretch between two calls, counted one by one."""
    now, used_until, sent = NOW, 0.0, list[tuple[float, int]]()
    burst = max(1, per_minute // 10)
    for passed, amount, count in bookings:
        now += passed
        found, used_until = book(used_until=used_until, now=now, pace=Pace.of(per_minute, amount), count=count)
        assert all(0 <= wait <= AHEAD for wait in found)
        assert used_until <= now + FURTHEST + 1e-6
        sent += [(now + wait, min(amount, per_minute)) for wait in found]
    # In order, but for the last digits.
    assert all(later - earlier > -1e-6 for (earlier, _), (later, _) in pairwise(sent))
    for first, (start, _) in enumerate(sent):
        total = 0
        for end, amount in sent[first:]:
            total += amount
            # A call above the burst goes in one piece, once all before it is made up for.
            assert total <= (end - start) * per_minute / 60 + max(burst, amount) + 1e-3


@given(st.integers(min_value=1, max_value=600), st.lists(st.floats(min_value=0, max_value=20), max_size=40))
def test_single_calls_are_sent_as_a_bucket_that_refills_would_send_them(per_minute: int, gaps: list[float]) -> None:
    """A plain simulation: a bucket of `burst` tokens, refilled steadily, from which each call in turn takes one."""
    burst, rate = max(1, per_minute // 10), per_minute / 60
    now, used_until = NOW, 0.0
    tokens, filled_at = float(burst), NOW
    for gap in gaps:
        now += gap
        start = max(now, filled_at)
        tokens = min(tokens + (start - filled_at) * rate, burst)
        sent_at = start + max(1 - tokens, 0) / rate
        found, used_until = book(used_until=used_until, now=now, pace=Pace.of(per_minute, 1), count=1)
        if sent_at - now > AHEAD + 1e-6:
            assert found == []
        elif found:
            assert now + found[0] == pytest.approx(sent_at, abs=1e-4)
            tokens, filled_at = tokens + (sent_at - start) * rate - 1, sent_at
        else:
            assert sent_at - now == pytest.approx(AHEAD, abs=1e-6)


# --- rates, kept outside -------------------------------------------------------------------------------------------


def test_a_store_books_what_the_rule_says(store: Limits, key: str) -> None:
    assert store.reserve(key, per_minute=6, count=3) == pytest.approx([0, 10, 20], abs=SLACK)
    assert store.reserve(key, per_minute=6, count=3) == pytest.approx([30], abs=SLACK)
    assert store.reserve(f"{key}:other", per_minute=6) == [0]


def test_a_store_weighs_calls_and_knows_the_burst(store: Limits, key: str) -> None:
    # 600 a minute: 10 a second, 60 at once. 3 calls of 60: 0, 6 and 12 s; then one of 600 waits 18 s, and nothing fits.
    assert store.reserve(key, per_minute=600, amount=60, count=3) == pytest.approx([0, 6, 12], abs=SLACK)
    assert store.reserve(key, per_minute=600, amount=900) == pytest.approx([12 + 6], abs=SLACK)
    assert store.reserve(key, per_minute=600, amount=1) == []


def test_what_is_given_back_can_be_booked_again(store: Limits, key: str) -> None:
    assert len(store.reserve(key, per_minute=6, count=9)) == 4
    assert store.reserve(key, per_minute=6) == []
    store.give_back(key, per_minute=6, count=2)
    assert store.reserve(key, per_minute=6, count=9) == pytest.approx([20, 30], abs=SLACK)


def test_to_give_back_what_nobody_booked_saves_nothing_up(store: Limits, key: str) -> None:
    store.give_back(key, per_minute=6, count=5)
    store.reserve(key, per_minute=6)
    store.give_back(key, per_minute=6, count=5)
    assert store.reserve(key, per_minute=6, count=2) == pytest.approx([0, 10], abs=SLACK)


def test_a_store_takes_a_changed_limit_at_its_next_booking(store: Limits, key: str) -> None:
    store.reserve(key, per_minute=6, count=2)
    # 20 s are used up. 12 a minute, one each 5 s: 20, 25, 30.
    assert store.reserve(key, per_minute=12, count=9) == pytest.approx([20, 25, 30], abs=SLACK)
    # 35 s are used up: too far at 1 a minute.
    assert store.reserve(key, per_minute=1) == []


def test_workers_at_once_never_book_more_than_the_limit_together(shared_store: Limits, key: str) -> None:
    # 30 a minute: 3 at once, then one each 2 s up to 30 s: 18 in all, however many ask.
    ask = partial(shared_store.reserve, key, per_minute=30, count=6)
    before = time.monotonic()
    booked = sorted(wait for share in at_once([ask] * 8) for wait in share)
    passed = time.monotonic() - before
    assert 18 <= len(booked) <= 18 + 1 + passed / 2
    expected = [max(2.0 * (place - 2), 0.0) for place in range(len(booked))]
    assert booked == pytest.approx(expected, abs=passed + 0.1)


def test_single_bookings_of_many_workers_are_as_evenly_spaced(shared_store: Limits, key: str) -> None:
    def one_after_another() -> list[float]:
        return [wait for _ in range(5) for wait in shared_store.reserve(key, per_minute=60)]

    before = time.monotonic()
    booked = sorted(wait for share in at_once([one_after_another] * 4) for wait in share)
    passed = time.monotonic() - before
    # 20 calls at 60 a minute: 6 at once (more as time passes), the last one 14 s after them.
    assert len(booked) == 20
    assert booked[-1] == pytest.approx(14, abs=passed + 0.1)
    assert sum(1 for wait in booked if wait == 0) <= 6 + passed + 1


@pytest.mark.django_db
def test_a_clock_of_the_database_that_was_an_hour_ahead_stops_nobody_for_an_hour(key: str) -> None:
    RateLimit.objects.create(key=key, used_until=time.time() + 3600)
    assert DatabaseLimits().reserve(key, per_minute=60) == []
    left = RateLimit.objects.get(key=key).used_until - time.time()
    assert left == pytest.approx(FURTHEST, abs=SLACK)


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no clock of its own")
def test_postgresql_goes_by_its_own_clock(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = time.time()
    monkeypatch.setattr(time, "time", lambda: 0.0)
    DatabaseLimits().reserve(key, per_minute=6)
    assert RateLimit.objects.get(key=key).used_until == pytest.approx(real + 10, abs=SLACK)


# --- calls at once -------------------------------------------------------------------------------------------------


def test_a_holder_gets_what_it_wants_and_the_next_what_is_left(store: Limits, key: str) -> None:
    assert store.hold(key, "a", want=10, limit=16, seconds=60) == 10
    assert store.hold(key, "b", want=10, limit=16, seconds=60) == 6
    assert store.hold(key, "c", want=10, limit=16, seconds=60) == 0
    assert store.hold(f"{key}:other", "c", want=10, limit=16, seconds=60) == 10


def test_to_ask_again_changes_the_share_and_does_not_add_to_it(store: Limits, key: str) -> None:
    store.hold(key, "a", want=10, limit=16, seconds=60)
    assert store.hold(key, "a", want=10, limit=16, seconds=60) == 10
    assert store.hold(key, "a", want=4, limit=16, seconds=60) == 4
    assert store.hold(key, "b", want=16, limit=16, seconds=60) == 12


def test_what_is_let_go_or_not_wanted_any_more_is_free(store: Limits, key: str) -> None:
    store.hold(key, "a", want=9, limit=16, seconds=60)
    store.hold(key, "b", want=7, limit=16, seconds=60)
    store.let_go(key, "a")
    store.let_go(key, "a")
    assert store.hold(key, "b", want=0, limit=16, seconds=60) == 0
    assert store.hold(key, "c", want=20, limit=16, seconds=60) == 16


def test_the_share_of_a_holder_that_died_lapses_by_itself(store: Limits, key: str) -> None:
    """FIELD B6.2."""
    assert store.hold(key, "dead", want=16, limit=16, seconds=0.3) == 16
    assert store.hold(key, "b", want=16, limit=16, seconds=60) == 0
    time.sleep(0.4)
    assert store.hold(key, "b", want=16, limit=16, seconds=60) == 16
    # Who was only thought dead gets nothing of what is another's now.
    assert store.hold(key, "dead", want=16, limit=16, seconds=60) == 0


def test_a_renewed_share_does_not_lapse(store: Limits, key: str) -> None:
    store.hold(key, "a", want=16, limit=16, seconds=0.3)
    store.hold(key, "a", want=16, limit=16, seconds=60)
    time.sleep(0.4)
    assert store.hold(key, "b", want=16, limit=16, seconds=60) == 0


def test_a_short_holding_does_not_shorten_those_of_others(store: Limits, key: str) -> None:
    store.hold(key, "a", want=10, limit=16, seconds=60)
    store.hold(key, "b", want=6, limit=16, seconds=0.2)
    time.sleep(0.4)
    assert store.hold(key, "c", want=16, limit=16, seconds=60) == 6


def test_a_lowered_limit_holds_once_all_have_asked_again(store: Limits, key: str) -> None:
    store.hold(key, "a", want=10, limit=16, seconds=60)
    store.hold(key, "b", want=6, limit=16, seconds=60)
    # 8 now: b holds 6, so 2 are left for a; then a holds 2, and b keeps its 6.
    assert store.hold(key, "a", want=10, limit=8, seconds=60) == 2
    assert store.hold(key, "b", want=6, limit=8, seconds=60) == 6
    # 4 now: a holds 2, so 2 are left for b. Never below none.
    assert store.hold(key, "b", want=6, limit=4, seconds=60) == 2
    assert store.hold(key, "c", want=6, limit=1, seconds=60) == 0


def test_a_raised_limit_is_there_for_who_asks_next(store: Limits, key: str) -> None:
    store.hold(key, "a", want=16, limit=16, seconds=60)
    assert store.hold(key, "b", want=30, limit=40, seconds=60) == 24


def test_holders_at_once_never_hold_more_than_the_limit_together(shared_store: Limits, key: str) -> None:
    def ask(holder: str) -> int:
        return shared_store.hold(key, holder, want=5, limit=16, seconds=60)

    # 5 + 5 + 5 + 1, whoever comes first.
    assert sorted(at_once([partial(ask, f"h-{number}") for number in range(8)])) == [0, 0, 0, 0, 1, 5, 5, 5]


STEPS = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 12), st.integers(1, 16), st.booleans()), min_size=1, max_size=12
)


@given(STEPS)
@tries(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_shares_are_those_of_a_plain_table(store: Limits, steps: list[tuple[str, int, int, bool]]) -> None:
    key, table = f"test:{uuid.uuid4().hex}", dict[str, int]()
    for holder, want, limit, leaves in steps:
        if leaves:
            store.let_go(key, holder)
            table.pop(holder, None)
            continue
        others = sum(slots for name, slots in table.items() if name != holder)
        table[holder] = max(min(want, limit - others), 0)
        assert store.hold(key, holder, want=want, limit=limit, seconds=60) == table[holder]


# --- where they are kept -------------------------------------------------------------------------------------------


def test_limits_are_in_redis_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "REDIS_URL", "")
    assert isinstance(limits(), DatabaseLimits)
    monkeypatch.setattr(settings, "REDIS_URL", "redis://127.0.0.1:1/0")
    assert isinstance(limits(), RedisLimits)
    assert limits() is limits()


def test_without_redis_nobody_is_told_to_send_anything() -> None:
    """FIELD B6.4: it is said at once; who asks again later finds Redis there."""
    nowhere = RedisLimits("redis://127.0.0.1:1/0")
    for step in (
        partial(nowhere.reserve, "k", per_minute=60),
        partial(nowhere.give_back, "k", per_minute=60),
        partial(nowhere.hold, "k", "a", want=1, limit=1, seconds=60),
        partial(nowhere.let_go, "k", "a"),
    ):
        with pytest.raises(LimitsUnavailable, match="Redis keeps the limits"):
            step()


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="only SQLite has one lock for everything")
def test_a_database_that_does_not_let_us_write_is_no_leave_to_send(key: str) -> None:
    held, done = threading.Event(), threading.Event()

    def writer() -> None:
        with connection.cursor() as cursor:
            cursor.execute("BEGIN IMMEDIATE")
            held.set()
            done.wait(10)
            cursor.execute("ROLLBACK")

    def reader() -> None:
        try:
            held.wait(10)
            with connection.cursor() as cursor:
                cursor.execute("PRAGMA busy_timeout = 50")
            with pytest.raises(LimitsUnavailable, match="The database keeps the limits"):
                DatabaseLimits().reserve(key, per_minute=60)
        finally:
            done.set()

    at_once([writer, reader])


@needs_redis
def test_redis_keeps_nothing_that_says_nothing_any_more(redis_itself: Redis, key: str) -> None:
    store = RedisLimits(settings.REDIS_URL)
    store.give_back(key, per_minute=60)
    assert redis_itself.keys(f"*{key}*") == []
    store.reserve(key, per_minute=6000, count=6)  # 60 ms
    store.hold(key, "a", want=1, limit=16, seconds=0.1)
    names = [f"{redis_limits.PREFIX}:rate:{key}".encode(), f"{redis_limits.PREFIX}:slots:{key}".encode()]
    assert set(redis_itself.keys(f"*{key}*")) <= set(names)
    time.sleep(0.3)
    assert redis_itself.keys(f"*{key}*") == []


@needs_redis
def test_what_is_given_back_does_not_keep_a_key_for_ever(redis_itself: Redis, key: str) -> None:
    store = RedisLimits(settings.REDIS_URL)
    store.reserve(key, per_minute=6, count=2)
    store.give_back(key, per_minute=6)
    assert 0 < redis_itself.ttl(f"{redis_limits.PREFIX}:rate:{key}") <= 21


@needs_redis
def test_a_restarted_redis_that_forgot_the_scripts_is_no_trouble(redis_itself: Redis, key: str) -> None:
    store = RedisLimits(settings.REDIS_URL)
    store.reserve(key, per_minute=6)
    redis_itself.script_flush()
    assert store.reserve(key, per_minute=6) == pytest.approx([10], abs=SLACK)


@needs_redis
def test_a_clock_of_redis_that_was_an_hour_ahead_stops_nobody_for_an_hour(redis_itself: Redis, key: str) -> None:
    redis_itself.set(f"{redis_limits.PREFIX}:rate:{key}", time.time() + 3600, ex=60)
    assert RedisLimits(settings.REDIS_URL).reserve(key, per_minute=60) == []
    left = float(redis_itself.get(f"{redis_limits.PREFIX}:rate:{key}") or 0) - time.time()
    assert left == pytest.approx(FURTHEST, abs=SLACK)
