import "graphiql/setup-workers/vite";
import "graphiql/style.css";
import "./page.css";
import { createRoot } from "react-dom/client";
import { correctAria } from "./aria-corrections.ts";
import { type Callers, loadCallers } from "./callers.ts";
import { loadConfig } from "./config.ts";
import { createExecutions } from "./executions.ts";
import { createFetcher } from "./fetcher.ts";
import { describeOwners, loadOwners } from "./owners.ts";
import { Page } from "./page.tsx";
import { rememberReceipts } from "./receipts.ts";

const root = document.querySelector("#root") as HTMLElement;
const fetchUrl = (url: string, init?: RequestInit) => fetch(url, init);

try {
  const { endpoint, issuer, development } = await loadConfig(fetchUrl);
  const owners = development === null ? [] : await loadOwners(fetchUrl);
  const { callers, warning } = await findCallers(issuer);
  const authorization = async () => callers?.authorization();
  const executions = createExecutions();
  const fetcher = createFetcher({
    endpoint,
    fetch: rememberReceipts(fetchUrl),
    authorization,
    describeSchema: (introspection) => describeOwners(introspection, owners),
    onExecuted: executions.add,
  });
  correctAria(root);
  createRoot(root).render(<Page {...{ fetcher, executions, callers, warning, development }} />);
} catch (error) {
  root.textContent = `GraphiQL cannot start. ${error instanceof Error ? error.message : String(error)}`;
}

/** Without the issuer the page works with public data only. */
async function findCallers(issuer: string | null): Promise<{ callers: Callers | null; warning: string | null }> {
  if (issuer === null) return { callers: null, warning: null };
  try {
    const callers = await loadCallers({ issuer, fetch: fetchUrl, storage: localStorage, now: Date.now });
    return { callers, warning: null };
  } catch (error) {
    return { callers: null, warning: error instanceof Error ? error.message : String(error) };
  }
}
