/** What the gateway tells its page. */
export interface PageConfig {
  /** Where operations go. */
  readonly endpoint: string;
  /** The local token issuer's address; null wherever there is none, as in production. */
  readonly issuer: string | null;
}

/** @throws Error fit to be read. */
export async function loadConfig(fetchConfig: (url: string) => Promise<Response>): Promise<PageConfig> {
  const response = await fetchConfig("/graphiql/config.json");
  if (!response.ok) throw new Error(`/graphiql/config.json was answered with ${response.status}.`);
  const { endpoint, issuer } = (await response.json()) as Partial<PageConfig>;
  return { endpoint: endpoint ?? "/graphql", issuer: issuer?.replace(/\/+$/, "") ?? null };
}
