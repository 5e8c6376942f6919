"""The application: both endpoints, health, metrics and problem documents."""

from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.exceptions import HTTPException

from . import graphql, rest
from .actions import Actions
from .config import Config
from .database import Database
from .errors import INTERNAL_ERROR, AppError, invalid_input, problem_response, problems_of
from .middleware import Requests
from .store import Store
from .tokens import Tokens


def create_app(config: Config, database: Database) -> Requests:
    actions = Actions(Store(database))
    app = create_api(actions)
    requests = Requests(app, Tokens(config), database)
    app.include_router(create_health(requests, database))
    return requests


def create_health(requests: Requests, database: Database) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.get("/health/live")
    async def live() -> dict[str, str]:
        return {"status": "live"}

    @router.get("/health/ready")
    async def ready() -> Response:
        is_ready = not requests.is_draining and await database.is_ready()
        return JSONResponse({"status": "ready" if is_ready else "not ready"}, 200 if is_ready else 503)

    return router


def create_admin_app(health: APIRouter) -> FastAPI:
    app = FastAPI(openapi_url=None)
    app.include_router(health)

    @app.get("/metrics")
    async def metrics() -> Response:
        return Response(generate_latest(), headers={"content-type": CONTENT_TYPE_LATEST})

    return app


class Api(FastAPI):
    def openapi(self) -> dict[str, Any]:
        """With tokens, and the schema of problems, which FastAPI would document as `application/json`."""
        document = super().openapi()
        schema = rest.ProblemDocument.model_json_schema(by_alias=True)
        document["components"]["schemas"]["ProblemDocument"] = schema
        for item in document["paths"].values():
            for parameter in item.get("patch", {}).get("parameters", []):
                # Without it the response is 428; declared as required, it would be 400.
                parameter["required"] |= parameter["name"] == "If-Match"
        document["components"]["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
        return document


def create_api(actions: Actions | None) -> FastAPI:
    app = Api(title="Reviews", version="1.0.0", docs_url=None, redoc_url=None, redirect_slashes=False)
    for version in rest.VERSIONS:
        app.include_router(rest.create_router(version, actions))
    app.include_router(graphql.create_router(actions))
    app.add_exception_handler(AppError, lambda request, error: to_response(request, error))
    app.add_exception_handler(
        RequestValidationError, lambda request, error: to_response(request, read_validation(error))
    )
    app.add_exception_handler(HTTPException, respond_to_http_error)
    app.add_exception_handler(Exception, lambda request, _: to_response(request, INTERNAL_ERROR))
    return app


def to_response(request: Request, error: AppError) -> Response:
    has_token = "authorization" in request.headers
    return problem_response(error, request.url.path, request.state.request_id, has_token=has_token)


def read_validation(error: RequestValidationError) -> AppError:
    """A bad parameter is 400 with its name, a bad body 422 with pointers (or 400 if it is no JSON)."""
    errors = error.errors()
    parameters = [problem for problem in errors if problem["loc"][0] in ("query", "header", "path")]
    if parameters:
        are_unknown = all(problem["type"] == "extra_forbidden" for problem in parameters)
        found = [{"parameter": str(p["loc"][-1]), "code": p["type"], "detail": p["msg"]} for p in parameters]
        return invalid_input(found, "UNKNOWN_PARAMETER" if are_unknown else "MALFORMED_REQUEST")
    if errors[0]["type"] == "json_invalid":
        return AppError("MALFORMED_REQUEST", "The body is not JSON.")
    return invalid_input(problems_of(errors, skip=1))


def respond_to_http_error(request: Request, error: Any) -> Response:
    codes = {
        404: ("NOT_FOUND", "There is nothing at this path."),
        405: ("METHOD_NOT_ALLOWED", "This path has other methods."),
    }
    code, message = codes.get(error.status_code, ("MALFORMED_REQUEST", str(error.detail)))
    response = to_response(request, AppError(code, message))
    response.headers.update(error.headers or {})
    return response
