export interface PageConfig {
  readonly endpoint: string;
  /** Null without a local token issuer, as in production. */
  readonly issuer: string | null;
  /** Null in production. */
  readonly development: DevelopmentLinks | null;
}

export interface DevelopmentLinks {
  /** With the reference of the REST API, and the changes of both APIs. */
  readonly restProxyUrl?: string;
  /** With `{traceId}`. */
  readonly traceUrlTemplate?: string;
}

const trailingSlashes = /\/+$/;

/** @throws Error with a message for the reader of the page. */
export async function loadConfig(fetchConfig: (url: string) => Promise<Response>): Promise<PageConfig> {
  const response = await fetchConfig("/graphiql/config.json");
  if (!response.ok) throw new Error(`/graphiql/config.json has status ${response.status}.`);
  const { endpoint, issuer, development } = (await response.json()) as Partial<PageConfig>;
  return {
    endpoint: endpoint ?? "/graphql",
    issuer: issuer?.replace(trailingSlashes, "") ?? null,
    development: development ?? null,
  };
}
