export interface SubgraphOperation {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
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

/** @returns undefined unless the text is the JSON of a GraphQL request. */
export function readOperation(text: string): SubgraphOperation | undefined {
  const body = parseObject(text);
  if (body === undefined) return undefined;
  const { query, variables, operationName } = body;
  if (typeof query !== "string") return undefined;
  return {
    query,
    variables: isRecord(variables) ? variables : {},
    operationName: typeof operationName === "string" ? operationName : undefined,
  };
}

/** @returns undefined unless the text is the JSON of a GraphQL response: it has `data`, or errors and no data. */
export function readResult(text: string): SubgraphResult | undefined {
  const body = parseObject(text);
  if (body === undefined) return undefined;
  const { data, errors = [] } = body;
  if (!Array.isArray(errors) || !errors.every(isRecord)) return undefined;
  if (isRecord(data)) return { data, errors: errors.map(readError) };
  const isWithoutData = data === undefined || data === null;
  if (isWithoutData && errors.length > 0) return { data: null, errors: errors.map(readError) };
  return undefined;
}

function readError({ message, path, extensions }: Readonly<Record<string, unknown>>): ResultError {
  return {
    message: typeof message === "string" ? message : "",
    path: Array.isArray(path) ? (path as readonly (string | number)[]) : undefined,
    extensions: isRecord(extensions) ? extensions : undefined,
  };
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
