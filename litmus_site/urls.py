"""Every address: the API, its documentation, the signs of life, and the pages."""

from django.urls import include, path, re_path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from litmus_site import errors, health

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", health.metrics, name="metrics"),
    path("api/v1/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("api/v1/docs/", SpectacularSwaggerSplitView.as_view(), name="docs"),
    path("api/v1/", include("labeling.api.urls")),
    path("api/v1/", include("audit.api.urls")),
    re_path("^api/", errors.unknown_route),
    path("", include("labeling.pages.urls")),
    path("", include("audit.pages.urls")),
]

handler400 = errors.bad_request
handler403 = errors.permission_denied
handler404 = errors.page_not_found
handler500 = errors.server_error
