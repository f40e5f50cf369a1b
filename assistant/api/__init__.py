"""The HTTP API: one FastAPI application, one router a resource, and what every request passes through.

How a request goes: `frame` (request id, security headers, the last resort for errors), CORS, `forwarded` (the address
behind a proxy), `frame.BodyLimit`, `crosssite`, `access.gate` (rate limits, who is calling), `idempotency`,
`access.audit`, and then the route. Errors are raised, never returned: `problems` turns each into RFC 9457
`application/problem+json`.

How to add a router
    1. Write `assistant/api/routes/NAME.py` (or `assistant/api/NAME.py` for a protocol of its own) with a module-level
       `router = APIRouter(prefix="/v1", tags=["NAME"])`.
    2. A route takes what it needs as parameters::

           @router.post("/things", responses=PROBLEMS)
           def make(asked: Thing, service: ServiceOf, caller: Annotated[Caller, requires("ask")]) -> Made:
               answer = service.advisor.ask(asked.question, owner=caller.owner, groups=caller.groups)

       `service.Service` holds the advisor and the stores of the API; `requires(SCOPE)` refuses who may not, and gives
       the `Caller`. Hand on `caller.owner` (whose conversations) and `caller.groups` (which collections may be read;
       None only while access is off) to whatever reads documents or conversations.
    3. What is asked, uploaded, deleted or changed is audited: `note: Annotated[Note, audited("thing.make")]`, then
       `note.object = id`.
    4. Raise errors of `assistant.errors`, or `problems.Refused` with a status of its own.
    5. Name the router in `app.ROUTERS` (what is mounted under `/v1` goes there too, before the route that answers
       unknown addresses), and its routes in the table of `tests/assistant/api/test_access.py`.

A route that anybody may call while access is on (a probe) also stands in `access.gate.PUBLIC`.
"""
