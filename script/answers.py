"""script/answers.py DATABASE_URL REDIS_URL: do both answer? Exits 1 with the reason when not."""

import sys

import dj_database_url
import psycopg
import redis


def why_not(database_url: str, redis_url: str) -> str | None:
    found = dj_database_url.parse(database_url)
    where = f"{found.get('HOST') or 'the local socket'}:{found.get('PORT') or 5432}"
    try:
        psycopg.connect(database_url, connect_timeout=3).close()
    except psycopg.Error as error:
        return f"PostgreSQL at {where} does not answer ({_first_line(error)})"
    client = redis.Redis.from_url(redis_url, socket_connect_timeout=3, socket_timeout=3)
    try:
        client.ping()
    except redis.RedisError as error:
        at = client.connection_pool.connection_kwargs
        return f"Redis at {at.get('host')}:{at.get('port', 6379)} does not answer ({_first_line(error)})"
    finally:
        client.close()
    return None


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


if __name__ == "__main__":
    reason = why_not(sys.argv[1], sys.argv[2])
    sys.stdout.write(reason or "")
    sys.exit(1 if reason else 0)
