import { isJsonObject } from "@tributary/kit/json/json";

export interface SubgraphOperation {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly operationName?: string | undefined;
}

export interface SubgraphResult {
  readonly data: Readonly<Record<string, unknown>> | null;
  readonly errors: readonly ResultError[];
}

export interface ResultError {
  readonly message: string;
  readonly path?: readonly (string | number)[] | undefined;
  readonly extensions?: Readonly<Record<string, unknown>> | undefined;
}

export function failedResult(code: string, message: string): SubgraphResult {
  return { data: null, errors: [{ message, extensions: { code } }] };
}

/** @returns undefined unless the text is the JSON of a GraphQL response: it has `data`, or errors and no data. */
export function readResult(text: string): SubgraphResult | undefined {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(body)) return undefined;
  const { data = null, errors = [] } = body;
  if (!Array.isArray(errors)) return undefined;
  const isResponse = isJsonObject(data) || (data === null && errors.length > 0);
  return isResponse ? { data, errors } : undefined;
}
