"""Addresses of the pages that need only the machine side."""

from django.urls import path

from labeling.pages import home, imports, joining, judge_trials, judge_work, judges, people, runs

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
    path("p/<slug:key>/judges/new/", judges.new, name="judge_new"),
    path("p/<slug:key>/judges/new/<slug:what>/", judges.make, name="judge_make"),
    path("p/<slug:key>/judges/train/", judge_work.train, name="judge_train"),
    path("p/<slug:key>/judges/trials/<int:trial_id>/", judge_trials.trial, name="judge_trial"),
    path("p/<slug:key>/judges/<int:judge_id>/edit/", judges.edit, name="judge_edit"),
    path("p/<slug:key>/judges/<int:judge_id>/diff/<int:other_id>/", judges.diff, name="judge_diff"),
    path("p/<slug:key>/judges/<int:judge_id>/work/", judge_work.work, name="judge_work"),
    path("p/<slug:key>/judges/<int:judge_id>/seat/", judge_work.seat, name="judge_seat"),
    path("p/<slug:key>/judges/<int:judge_id>/unseat/", judge_work.unseat, name="judge_unseat"),
    path("p/<slug:key>/judges/<int:judge_id>/resume/", judge_work.resume, name="judge_resume"),
    path("p/<slug:key>/judges/<int:judge_id>/try-again/", judge_work.try_again, name="judge_try_again"),
    path("p/<slug:key>/judges/<int:judge_id>/give-up/", judge_work.give_up, name="judge_give_up"),
    path("p/<slug:key>/judges/<int:judge_id>/delete/", judge_work.put_away, name="judge_delete"),
    path("p/<slug:key>/judges/<int:judge_id>/rejudge/", judge_work.rejudge, name="judge_rejudge"),
    path("p/<slug:key>/runs/<int:run_id>/try-again/", runs.try_again, name="run_unpark"),
    path("p/<slug:key>/runs/<int:run_id>/close/", runs.close, name="run_close"),
    path("p/<slug:key>/runs/<int:run_id>/void/", runs.void, name="run_void"),
    path("p/<slug:key>/runs/<int:run_id>/join/", runs.join, name="run_join"),
]
