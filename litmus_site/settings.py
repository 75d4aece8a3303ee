"""All settings, from the environment (docs/reference/settings.md lists every variable)."""

from pathlib import Path
from typing import Any

import dj_database_url
from csp.constants import NONE, SELF
from kombu import Queue

from labeling.endpoints.exchange import Address
from litmus_site.env import (
    BadEnvironment,
    env_bool,
    env_endpoints,
    env_int,
    env_list,
    env_path,
    env_secret,
    env_str,
)

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = env_path("LITMUS_DATA_DIR", BASE_DIR / "var")

# The changelog is the one place a version is written.
VERSION = next(
    line.split()[1].strip("[]")
    for line in (BASE_DIR / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("## ")
)

DEBUG = env_bool("LITMUS_DEBUG", False)
SECRET_KEY = env_secret("LITMUS_SECRET_KEY", keep_in=DATA_DIR / "secret.key")
ALLOWED_HOSTS = env_list("LITMUS_ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = env_list("LITMUS_TRUSTED_ORIGINS", "")
WORKER_HOSTS = env_int("LITMUS_WORKER_HOSTS", 1, least=1, most=1000)

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "csp",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_linear_migrations",
    "litmus_site.apps.SiteConfig",
    "labeling",
    "audit",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "litmus_site.middleware.refuse_nul",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "litmus_site.urls"
WSGI_APPLICATION = "litmus_site.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "litmus_site.context.service",
            ],
        },
    },
]

# --- where rows live ---------------------------------------------------------------------------------------------

DATABASE_URL = env_str("DATABASE_URL", "")


def _database() -> dict[str, Any]:
    if not DATABASE_URL:
        try:
            DATA_DIR.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadEnvironment(
                f"{DATA_DIR} cannot be made ({error.strerror}); set LITMUS_DATA_DIR to a folder of yours."
            ) from None
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": DATA_DIR / "litmus.sqlite3",
            "OPTIONS": {
                # Writers queue at BEGIN instead of failing half way through.
                "transaction_mode": "IMMEDIATE",
                "timeout": 30,
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-32000;",
            },
        }
    try:
        database: dict[str, Any] = dict(dj_database_url.parse(DATABASE_URL, conn_max_age=60, conn_health_checks=True))
    except (ValueError, KeyError):
        raise BadEnvironment(
            "DATABASE_URL cannot be read; write it as postgres://user:password@host:5432/name."
        ) from None
    if database["ENGINE"] == "django.db.backends.postgresql":
        # Values travel apart from the statement, so that the log of a server that logs a failing one has none of them.
        database.setdefault("OPTIONS", {})["server_side_binding"] = True
    return database


DATABASES = {"default": _database()}

# --- work in the background --------------------------------------------------------------------------------------

REDIS_URL = env_str("REDIS_URL", "")
_BROKER_DIR = DATA_DIR / "broker"
CELERY_BROKER_URL = REDIS_URL or "filesystem://localhost/"
# The row is the job: a message lost with a broker folder or a flushed Redis costs one sweep.
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = (
    {"visibility_timeout": 3600}
    if REDIS_URL
    else {
        "data_folder_in": str(_BROKER_DIR / "messages"),
        "data_folder_out": str(_BROKER_DIR / "messages"),
        "control_folder": str(_BROKER_DIR / "control"),
        "processed_folder": str(_BROKER_DIR / "processed"),
        "store_processed": False,
        # Seconds between two looks into the folder; Kombu's own is one.
        "polling_interval": 0.2,
    }
)
# A worker takes from both in turn, so that neither signs of life nor a file somebody waits for stand behind a backlog.
CELERY_TASK_QUEUES = [Queue("celery"), Queue("soon")]
CELERY_TASK_DEFAULT_QUEUE = "soon"
CELERY_TASK_ROUTES = {"labeling.tasks.judge_batch": {"queue": "celery"}}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_CONSUMER = "litmus_site.broker:Consumer"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_MAX_TASKS_PER_CHILD = 1000
# In KiB: memory that one very large transcript has taken is given back.
CELERY_WORKER_MAX_MEMORY_PER_CHILD = 500_000
CELERY_TASK_TIME_LIMIT = 600
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE_FILENAME = str(DATA_DIR / "celerybeat-schedule")

SWEEP_SECONDS = env_int("LITMUS_SWEEP_SECONDS", 15, least=1, most=3600)
# A row whose doorbell has not been answered for this long is rung again.
RING_AGAIN_SECONDS = env_int("LITMUS_RING_AGAIN_SECONDS", 60, least=1, most=86400)
# How many workers call served judges at once; each makes as many calls at a time as the judges allow.
CALLING_WORKERS = env_int("LITMUS_CALLING_WORKERS", 1, least=1, most=1000)
# A worker that has a judge's call and gives no sign of life for this long is taken for dead.
CLAIM_SECONDS = env_int("LITMUS_CLAIM_SECONDS", 60, least=2, most=3600)
BATCH_SIZE = env_int("LITMUS_BATCH_SIZE", 200, least=1, most=5000)
CELERY_BEAT_SCHEDULE = {
    "sweep": {
        "task": "labeling.tasks.sweep",
        "schedule": SWEEP_SECONDS,
        "options": {"expires": SWEEP_SECONDS},
    },
}

# --- judges that are reached over a network ----------------------------------------------------------------------

# Hosts, or host:port, that may be private and may be spoken to without TLS.
JUDGE_HOSTS = env_list("LITMUS_JUDGE_HOSTS", "")
# The operator's own endpoints by name. A key of theirs is sent to no address but the one it was set with.
JUDGE_OPERATORS = {name: Address(url, key, trusted=True, operator=name) for name, (url, key) in env_endpoints().items()}

# --- review ------------------------------------------------------------------------------------------------------

LEASE_MINUTES = env_int("LITMUS_LEASE_MINUTES", 15, least=1, most=24 * 60)
INVITATION_DAYS = env_int("LITMUS_INVITATION_DAYS", 7, least=1, most=90)

# --- what comes in -----------------------------------------------------------------------------------------------

MAX_BODY_BYTES = env_int("LITMUS_MAX_BODY_MIB", 64, least=1, most=1024) * 1024 * 1024
# Whole files, for imports: they go to disk as they come, one folder a project, and stay there under their hash.
MAX_UPLOAD_BYTES = env_int("LITMUS_MAX_UPLOAD_MIB", 2048, least=1, most=1024 * 1024) * 1024 * 1024
UPLOAD_DIR = DATA_DIR / "uploads"
# While more than this wait to be judged, runners are asked to wait too.
MAX_PENDING = env_int("LITMUS_MAX_PENDING", 200_000, least=1, most=1_000_000_000)
# Bodies of the API are read and limited by the API itself; this one guards the forms.
DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_BODY_BYTES

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "labeling.api.authentication.RunnerKeyAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "litmus_site.errors.answer",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Litmus",
    "DESCRIPTION": "Two-sided review and audit of AI safety: post trajectories, review, read the rate pair.",
    "VERSION": VERSION,
    # The wire models say `null` as JSON Schema does.
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SCHEMA_PATH_PREFIX": "/api/v1/",
}

# --- pages -------------------------------------------------------------------------------------------------------

LANGUAGE_CODE = "en"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"
STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.ManifestStaticFilesStorage"},
}
LOGIN_URL = "sign_in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "sign_in"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

# --- security ----------------------------------------------------------------------------------------------------

HTTPS = env_bool("LITMUS_HTTPS", False)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_AGE = 14 * 24 * 3600
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        # data: for the small pictures inside the API documentation's own stylesheet.
        "img-src": [SELF, "data:"],
        "connect-src": [SELF],
        "font-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

# Bodies are in no log: only the request line, the status and Litmus's own sentences.
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {
            "class": "litmus_site.logs.QuietFormatter",
            "format": "%(asctime)s %(levelname)s %(name)s: %(message)s",
        }
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["console"], "level": env_str("LITMUS_LOG_LEVEL", "INFO").upper()},
    "loggers": {
        "django": {"handlers": [], "level": "INFO", "propagate": True},
        "django.server": {"handlers": [], "level": "WARNING", "propagate": True},
        "celery": {"level": "WARNING"},
    },
}
