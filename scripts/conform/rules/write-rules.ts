import { readWritePosition } from "@tributary/kit/feed/position";
import { memberOf } from "../../../supergraph/contract/json-members.ts";
import {
  bodyOf,
  createExample,
  describeOperation,
  findCreation,
  findReadables,
  hasParameter,
  listCreations,
  operationsOf,
  sendExample,
  toPath,
  toRequest,
} from "../examples.ts";
import type { Exchange } from "../exchange.ts";
import { declareRules, type RuleDeclaration, type RuleReport } from "../rule.ts";
import type { RequestOptions, RestOperation, Subject } from "../subject.ts";
import { readUnknown } from "./read-rules.ts";

const clientErrors = Array.from({ length: 100 }, (_, index) => 400 + index);
const invalidJson = '{"conform":';
const longBody = JSON.stringify("a".repeat(100_000));

const restRules = declareRules(
  "REST",
  {
    "rest-created": {
      text: "A POST that creates is 201 with Location, where the caller reads the resource.",
      async check(subject, report) {
        for (const operation of listCreations(subject)) {
          const { exchange } = await sendExample(subject, operation);
          const isRejected = clientErrors.includes(exchange.status);
          const isCreated = exchange.status === 201 && exchange.headers["location"] !== undefined;
          if (!isRejected) report.expect(exchange, isCreated, "201 with Location");
        }
        await forEachCreation(subject, report, async (operation, { path, as }) => {
          const response = await subject.send("GET", path, { as });
          report.expect(response, response.status === 200, `200: it is Location of ${describeOperation(operation)}`);
        });
      },
    },
    "rest-invalid-json": rejectWrites("A body that is not JSON gets 400.", { body: invalidJson }, [400]),
    "rest-invalid-body": rejectWrites(
      "A body that does not match the schema gets 422 or 400.",
      { body: "[]" },
      [422, 400],
    ),
    "rest-media-type": rejectWrites(
      "A body of another media type gets 415.",
      { headers: { "content-type": "text/plain" } },
      [415],
    ),
    "rest-body-limit": rejectWrites(
      "A body of more than 64 KiB gets 413, or another 4xx.",
      { body: longBody },
      clientErrors,
    ),
    "rest-if-match": {
      text: "A change with another If-Match than the current ETag is 412, and one with it succeeds.",
      check: (subject, { expectStatus, skip }) =>
        forEachConditional(subject, skip, async (send, operation, { path, as }) => {
          expectStatus(await send({ "if-match": '"conform-other"' }), 412);
          const { etag = "*" } = (await subject.send("GET", path, { as })).headers;
          const response = await send({ "if-match": etag });
          if ([409, 422].includes(response.status)) skip(`${describeOperation(operation)} rejects its example`);
          else expectStatus(response, 200, 204);
        }),
    },
    "rest-if-match-required": {
      text: "Where the contract requires If-Match, a change without it is 428.",
      check: (subject, { expectStatus, skip }) =>
        forEachConditional(subject, skip, async (send, operation) => {
          const isIfMatch = ({ name }: { name?: unknown }) => String(name).toLowerCase() === "if-match";
          if (memberOf(operation.parameters.find(isIfMatch), "required") !== true)
            skip(`${describeOperation(operation)} does not require If-Match`);
          else expectStatus(await send({}), 428);
        }),
    },
  },
  "tokens",
);

const problemRules = declareRules("REST", {
  "rest-problem": {
    text: "An error is a problem document (RFC 9457) with type, title and the status, and Cache-Control: no-store.",
    async check(subject, report) {
      for (const response of await readUnknown(subject)) expectProblem(response, report);
      if (subject.issuer === undefined) return report.skip("its writes need tokens of the test issuer");
      await forEachWrite(subject, report, async (send) => {
        for (const body of [invalidJson, "[]"]) expectProblem(await send({ body }), report);
      });
    },
  },
});

const idempotencyRules = declareRules(
  "Idempotency keys",
  {
    "idempotency-replay": {
      text: "A repeated POST with the same Idempotency-Key gets the result of the first one; with other input it is 4xx.",
      check: (subject, report) =>
        forEachCreation(subject, report, async (operation) => {
          if (operation.settings.idempotencyKey === undefined)
            return report.skip(`${describeOperation(operation)} declares no idempotencyKey`);
          const request = toRequest(operation, subject.nextUser());
          const send = (options: RequestOptions) => subject.send("POST", toPath(operation), options);
          const first = await send(request);
          const second = await send(request);
          const isSame = second.status === first.status && second.text === first.text;
          report.expect(second, isSame, `${first.status} ${first.text.slice(0, 200)}`);
          report.expectStatus(await send({ ...request, body: "{}" }), 422, 400, 409);
        }),
    },
    "idempotency-required": {
      text: "Where the contract requires an Idempotency-Key, a POST without it is 400.",
      check: (subject, report) =>
        forEachCreation(subject, report, async (operation) => {
          if (operation.settings.idempotencyKey !== "required")
            return report.skip(`${describeOperation(operation)} requires no Idempotency-Key`);
          const { headers = {}, ...request } = toRequest(operation, subject.nextUser());
          const { "idempotency-key": _, ...others } = headers;
          report.expectStatus(await subject.send("POST", toPath(operation), { ...request, headers: others }), 400);
        }),
    },
  },
  "tokens",
);

const positionRules = declareRules("Write positions", {
  "write-position": {
    text: "The response to a write has the header write-position, with an epoch and a number.",
    needs: "tokens",
    without: "the response to a write has no receipt, so the client's next read may be older",
    check: (subject, report) =>
      forEachCreation(subject, report, async (_, { exchange }) => {
        const text = exchange.headers["write-position"];
        if (text === undefined) report.absent();
        else report.expect(exchange, readWritePosition(text)?.epoch !== undefined, "write-position: <uuid>/<number>");
      }),
  },
  "write-position-of-reads": {
    text: "The response to a read never has write-position.",
    async check(subject, { expect, skip }) {
      for (const { exchange } of await findReadables(subject, skip))
        expect(exchange, exchange.headers["write-position"] === undefined, "no write-position");
    },
  },
});

export const writeRules = [...restRules, ...problemRules, ...idempotencyRules, ...positionRules];

function rejectWrites(text: string, options: RequestOptions, statuses: readonly number[]): RuleDeclaration {
  const expected = statuses === clientErrors ? "413, or another 4xx" : statuses.join(" or ");
  return {
    text,
    check: (subject, report) =>
      forEachWrite(subject, report, async (send) => {
        const response = await send(options);
        report.expect(response, statuses.includes(response.status), expected);
      }),
  };
}

/** What is no error breaks another rule. */
function expectProblem(response: Exchange, { expect }: RuleReport): void {
  const { status, headers, json } = response;
  const isProblem =
    (headers["content-type"] ?? "").startsWith("application/problem+json") &&
    memberOf(json, "status") === status &&
    ["type", "title"].every((name) => typeof memberOf(json, name) === "string") &&
    (headers["cache-control"] ?? "").includes("no-store");
  if (status >= 400) expect(response, isProblem, "application/problem+json with type, title and status, and no-store");
}

interface Target {
  readonly path: string;
  readonly as: number;
}

/** With what the example has created. */
async function forEachCreation(
  subject: Subject,
  { skip }: RuleReport,
  check: (operation: RestOperation, created: Target & { readonly exchange: Exchange }) => Promise<void>,
): Promise<void> {
  const creations = listCreations(subject);
  if (creations.length === 0) skip("the contract has no POST that creates");
  for (const operation of creations) {
    const created = await createExample(subject, operation);
    if (created) await check(operation, created);
    else skip(`${describeOperation(operation)} rejects its example: give its request body another one`);
  }
}

/** Valid requests with a body; `send` replaces parts of them. */
async function forEachWrite(
  subject: Subject,
  { skip }: RuleReport,
  check: (send: (options: RequestOptions) => Promise<Exchange>) => Promise<void>,
): Promise<void> {
  const writes = ["POST", "PATCH"].flatMap((method) => operationsOf(subject, method)).filter(bodyOf);
  if (writes.length === 0) skip("the contract has no write with a body");
  for (const operation of writes) {
    const target = await findTarget(subject, operation, skip);
    if (target === undefined) continue;
    const { headers, ...valid } = toRequest(operation, target.as);
    const ifMatch = hasParameter(operation, "header", "if-match") ? { "if-match": "*" } : {};
    await check((options) =>
      subject.send(operation.method, target.path, {
        ...valid,
        ...options,
        headers: { ...headers, ...ifMatch, ...options.headers },
      }),
    );
  }
}

/** The path of a created resource, for its creator; without a parameter the path itself. */
async function findTarget(
  subject: Subject,
  operation: RestOperation,
  skip: RuleReport["skip"],
): Promise<Target | undefined> {
  if (!operation.template.includes("{")) return { path: toPath(operation), as: subject.nextUser() };
  const creation = findCreation(subject, operation);
  const created = creation && (await createExample(subject, creation));
  if (!created) skip(`${describeOperation(operation)}: no resource of its path could be created`);
  return created;
}

async function forEachConditional(
  subject: Subject,
  skip: RuleReport["skip"],
  check: (
    send: (headers: Readonly<Record<string, string>>) => Promise<Exchange>,
    operation: RestOperation,
    target: Target,
  ) => Promise<void>,
): Promise<void> {
  const changes = operationsOf(subject, "PATCH").filter((operation) => hasParameter(operation, "header", "if-match"));
  if (changes.length === 0) skip("the contract has no PATCH with the header If-Match");
  for (const operation of changes) {
    const target = await findTarget(subject, operation, skip);
    if (target === undefined) continue;
    const { headers, ...request } = toRequest(operation, target.as);
    const send = (more: Readonly<Record<string, string>>) =>
      subject.send(operation.method, target.path, { ...request, headers: { ...headers, ...more } });
    await check(send, operation, target);
  }
}
