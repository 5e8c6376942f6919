// Stage 5 of 5: say it. What a client reads when its whole request is refused.
import type { TraceContext } from "@tributary/kit/http/trace-context";
import type { GraphQLError } from "graphql";
import type { AnswerType } from "../admit/negotiation.ts";
import { type ClientCode, codes, Refusal, refusalBody } from "./codes.ts";
import type { Observe } from "../telemetry/observation-log.ts";
import type { OperationIdentity } from "../parse/validated-operation.ts";
import { maskError } from "./masking.ts";
import type { Answer } from "../shape/send-response.ts";

interface Asker {
  readonly requestId: string;
  readonly trace: TraceContext;
}

/**
 * A rejection is JSON in a GraphQL response's shape, whatever was requested. A bug is masked, and logged whole.
 * @param identity of the operation, if one is admitted.
 */
export function refuse(
  observe: Observe,
  { requestId, trace: { traceId } }: Asker,
  answerType: AnswerType,
  error: unknown,
  identity?: OperationIdentity,
): Answer {
  const refusal = error instanceof Refusal ? error : new Refusal("INTERNAL_SERVER_ERROR");
  const { code, message, status } = refusal;
  if (refusal === error) observe({ kind: "request-refused", requestId, traceId, ...identity, code, status });
  else observe({ kind: "internal-error", requestId, traceId, ...identity, cause: error });
  return {
    status: isWellFormed(code) ? statusFor(status, answerType) : status,
    contentType: contentTypeOf(answerType),
    headers: Object.entries(refusal.headers).flat(),
    body: Buffer.from(refusalBody(code, message)),
    told: { outcome: refusal === error ? "refused" : "failed", codes: [code] },
  };
}

/** What is wrong with variables, each with its place. */
export function refuseVariables(problems: readonly GraphQLError[], answerType: AnswerType): Answer {
  const code = "BAD_USER_INPUT";
  const errors = problems.map((problem) =>
    maskError({ ...problem.toJSON(), extensions: { code } }, problem, () => undefined),
  );
  return {
    status: statusFor(codes[code].status, answerType),
    contentType: contentTypeOf(answerType),
    body: Buffer.from(JSON.stringify({ errors })),
    told: { outcome: "refused", codes: problems.map(() => code) },
  };
}

/** What came as far as `parse` is a well-formed request; a client of plain JSON reads from `errors[]` that it was refused. */
export function statusFor(status: number, answerType: AnswerType): number {
  return status === 400 && answerType === "application/json" ? 200 : status;
}

const contentTypes: Readonly<Record<AnswerType, string>> = {
  "application/json": "application/json; charset=utf-8",
  "application/graphql-response+json": "application/graphql-response+json; charset=utf-8",
};

export function contentTypeOf(answerType: AnswerType): string {
  return contentTypes[answerType];
}

function isWellFormed(code: ClientCode): boolean {
  return codes[code].stage !== "admit";
}
