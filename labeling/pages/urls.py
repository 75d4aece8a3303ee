"""Addresses of the pages that need only the machine side."""

from django.urls import path

from labeling.pages import home, imports, joining, people, runs

urlpatterns = [
    path("", home.home, name="home"),
    path("sign-in/", home.sign_in, name="sign_in"),
    path("join/<str:token>/", joining.join, name="join"),
    path("p/<slug:key>/people/", people.people_page, name="people"),
    path("p/<slug:key>/people/<int:membership_id>/role/", people.change_role, name="member_role"),
    path("p/<slug:key>/people/invite/", people.invite, name="invite"),
    path(
        "p/<slug:key>/people/invitations/<int:invitation_id>/revoke/",
        people.revoke_invitation,
        name="invitation_revoke",
    ),
    path("p/<slug:key>/people/keys/", people.make_key, name="key_make"),
    path("p/<slug:key>/people/keys/<int:key_id>/revoke/", people.revoke_key, name="key_revoke"),
    path("p/<slug:key>/imports/", imports.imports, name="imports"),
    path("p/<slug:key>/imports/<int:job_id>/", imports.import_page, name="import"),
    path("p/<slug:key>/imports/<int:job_id>/preview/", imports.preview, name="import_preview"),
    path("p/<slug:key>/imports/<int:job_id>/commit/", imports.commit, name="import_commit"),
    path("p/<slug:key>/imports/<int:job_id>/cancel/", imports.cancel, name="import_cancel"),
    path("p/<slug:key>/runs/<int:run_id>/close/", runs.close, name="run_close"),
    path("p/<slug:key>/runs/<int:run_id>/void/", runs.void, name="run_void"),
    path("p/<slug:key>/runs/<int:run_id>/join/", runs.join, name="run_join"),
]
