"""POST /api/v1/review/…: claim an item, keep it, judge it, or give it back. For people; a runner does not judge."""

from typing import Annotated

from django.contrib.auth.models import User
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import Field, StringConstraints
from rest_framework.request import Request
from rest_framework.response import Response

from audit.api.reviewed import ClaimAnswer, DraftAnswer, LeaseAnswer, VerdictAnswer
from audit.selectors.places import NothingLeft
from audit.selectors.queue import claim_token, disputed, review_item
from audit.services import drafting, reviewing
from audit.services.reviewing import VerdictInput
from labeling.api import bodies
from labeling.api.edge import ApiView, answered, responses
from labeling.errors import DomainError, NotAllowed
from labeling.formats.scalars import LARGEST_INT, JsonObject, Text
from labeling.formats.wire import WORD, Model, VerdictParts, Wire, read
from labeling.models import RunnerKey
from labeling.selectors.access import membership_of, projects_of
from labeling.vocabulary import DeclineReason, Role, VerdictSource

TOKEN = OpenApiParameter("X-Claim-Token", str, OpenApiParameter.HEADER, description="Instead of `token` in the body.")


class ClaimBody(Wire):
    project: Text | None = Field(None, description="The project's key; or `?project=`.")


class TokenBody(Wire):
    token: Text | None = Field(None, description="The claim's token; or the header X-Claim-Token.")


class DeclineBody(TokenBody):
    reason: Annotated[DeclineReason, WORD]


class VerdictBody(TokenBody, VerdictParts):
    """A verdict. What applies to the side and the decision must be there; the rest is not asked and not kept."""

    # A grade off the scale is a part that is missing: the service says so, whichever way the verdict came.
    harm_grade: int | None = Field(None, description="0 to 4.")
    evidence: list[JsonObject] = []
    confidence: int | None = Field(None, description="1 to 5.")
    case_problem: Annotated[Text, StringConstraints(strip_whitespace=True)] = ""

    def draft(self) -> VerdictInput:
        return VerdictInput(**self.model_dump(exclude={"token", "revision"}), source=VerdictSource.API)


class DraftBody(VerdictBody):
    """A verdict that is not finished yet. A later state of it has a higher revision."""

    revision: Annotated[int, Field(ge=1, le=LARGEST_INT)]


class Claim(ApiView):
    @extend_schema(
        operation_id="claim_item",
        request=ClaimBody,
        parameters=[OpenApiParameter("project", str, description="The project's key, if it is not in the body.")],
        responses=responses(400, success={200: ClaimAnswer}),
    )
    def post(self, request: Request) -> Response:
        """The item you hold in a project, or the next free one; or why there is none, and until when."""
        user = _person(request)
        key = _read(ClaimBody, request).project or request.query_params.get("project")
        if not key:
            keys = [seat.key for seat in projects_of(user)]
            raise DomainError('Say which project: {"project": KEY}.', field="project", projects=keys)
        membership = membership_of(user, key, at_least=Role.REVIEWER)
        claimed = reviewing.claim(membership=membership)
        if isinstance(claimed, NothingLeft):
            return answered(ClaimAnswer.nothing(claimed))
        return answered(ClaimAnswer.of(review_item(claimed), disputed(claimed)))


class Heartbeat(ApiView):
    @extend_schema(
        operation_id="renew_claim",
        request=TokenBody,
        parameters=[TOKEN],
        responses=responses(400, 409, success={200: LeaseAnswer}),
    )
    def post(self, request: Request, assignment_id: int) -> Response:
        """Extend the lease. After its end this works while nobody else took the item; else 409 with its holder."""
        user = _person(request)
        token = _token(request, assignment_id, _read(TokenBody, request))
        until = reviewing.renew(token=token, reviewer=user)
        return answered(LeaseAnswer(leased_until=until))


class GiveVerdict(ApiView):
    @extend_schema(
        operation_id="post_verdict",
        request=VerdictBody,
        parameters=[TOKEN],
        responses=responses(400, 409, 413, success={200: VerdictAnswer, 201: VerdictAnswer}),
    )
    def post(self, request: Request, assignment_id: int) -> Response:
        """Judge the item. Sent again, this answers 200 with the verdict stored first; another verdict is 409."""
        user = _person(request)
        body = _read(VerdictBody, request)
        token = _token(request, assignment_id, body)
        verdict, created = reviewing.submit_verdict(token=token, reviewer=user, draft=body.draft())
        return answered(VerdictAnswer.of(verdict, created=created), status=201 if created else 200)


class OneDraft(ApiView):
    @extend_schema(
        operation_id="put_draft",
        request=DraftBody,
        parameters=[TOKEN],
        responses=responses(400, 409, 413, success={200: DraftAnswer}),
    )
    def put(self, request: Request, assignment_id: int) -> Response:
        """Keep an unfinished verdict, also after the lease has ended.

        Where a later draft is stored (or another one of the same revision) it stands: 409 with it in `details`.
        """
        user = _person(request)
        body = _read(DraftBody, request)
        token = _token(request, assignment_id, body)
        stored = drafting.save_draft(token=token, reviewer=user, revision=body.revision, draft=body.draft())
        return answered(DraftAnswer.of(stored))

    @extend_schema(
        operation_id="get_draft",
        parameters=[TOKEN],
        responses=responses(400, success={200: DraftAnswer}),
    )
    def get(self, request: Request, assignment_id: int) -> Response:
        """The draft that is stored for this item; revision 0 where there is none."""
        user = _person(request)
        token = _token(request, assignment_id, _read(TokenBody, request))
        return answered(DraftAnswer.of(drafting.stored_draft(token=token, reviewer=user)))


class Release(ApiView):
    @extend_schema(
        operation_id="release_claim",
        request=TokenBody,
        parameters=[TOKEN],
        responses=responses(400, success={}) | {204: None},
    )
    def post(self, request: Request, assignment_id: int) -> Response:
        """Give the item back for anybody to take. What is not held any more stays as it is."""
        user = _person(request)
        token = _token(request, assignment_id, _read(TokenBody, request))
        reviewing.release(token=token, reviewer=user)
        return Response(status=204)


class GiveDecline(ApiView):
    @extend_schema(
        operation_id="decline_item",
        request=DeclineBody,
        parameters=[TOKEN],
        responses=responses(400, 409, success={}) | {204: None},
    )
    def post(self, request: Request, assignment_id: int) -> Response:
        """Give the item back and never be handed it again."""
        user = _person(request)
        body = _read(DeclineBody, request)
        token = _token(request, assignment_id, body)
        reviewing.decline(token=token, reviewer=user, reason=body.reason)
        return Response(status=204)


def _person(request: Request) -> User:
    if isinstance(request.auth, RunnerKey):
        raise NotAllowed("Items are judged by people: sign in. A runner key posts what was run and judged elsewhere.")
    assert isinstance(request.user, User)
    return request.user


def _read(kind: type[Model], request: Request) -> Model:
    return read(kind, bodies.read_json(request, may_be_empty=True))


def _token(request: Request, assignment_id: int, body: TokenBody) -> str:
    given = body.token or request.headers.get("X-Claim-Token", "")
    if not given:
        raise DomainError("Send the token of your claim, as `token` or in the header X-Claim-Token.", field="token")
    return claim_token(assignment_id=assignment_id, token=given)
