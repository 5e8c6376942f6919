import { GraphiQL } from "graphiql";
import { CallerSwitch } from "./caller-switch.tsx";
import type { Callers } from "./callers.ts";
import type { DevelopmentLinks } from "./config.ts";
import type { Executions } from "./executions.ts";
import type { Operation, OperationOptions, Result } from "./fetcher.ts";
import firstTab from "./first-tab.graphql?raw";
import { PlanPane } from "./plan-pane.tsx";

interface PageProps {
  readonly fetcher: (operation: Operation, options?: OperationOptions) => Promise<Result>;
  readonly executions: Executions;
  /** Null without a local issuer: the page then has no switch. */
  readonly callers: Callers | null;
  /** Shown at the top of the page. */
  readonly warning: string | null;
  /** Null in production. */
  readonly development: DevelopmentLinks | null;
}

export function Page({ fetcher, executions, callers, warning, development }: PageProps) {
  return (
    <GraphiQL
      fetcher={fetcher}
      defaultTabs={[{ query: firstTab }]}
      defaultEditorToolsVisibility={false}
      schemaDescription
      inputValueDeprecation
    >
      <GraphiQL.Logo>
        {warning === null ? null : (
          <span className="warning" role="alert">
            {warning}
          </span>
        )}
        {callers === null ? null : <CallerSwitch callers={callers} />}
        <nav className="links" aria-label="Other pages">
          {development === null ? null : <a href="/owners">Owners</a>}
          {development?.restProxyUrl === undefined ? null : <a href={`${development.restProxyUrl}/docs`}>REST</a>}
          <a href="/">Tributary</a>
        </nav>
      </GraphiQL.Logo>
      <GraphiQL.Footer>
        <PlanPane executions={executions} traceUrlTemplate={development?.traceUrlTemplate} />
      </GraphiQL.Footer>
    </GraphiQL>
  );
}
