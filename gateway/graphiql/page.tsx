import { GraphiQL } from "graphiql";
import { CallerSwitch } from "./caller-switch.tsx";
import type { Callers } from "./callers.ts";
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
}

export function Page({ fetcher, executions, callers, warning }: PageProps) {
  return (
    <GraphiQL fetcher={fetcher} defaultTabs={[{ query: firstTab }]} defaultEditorToolsVisibility={false}>
      <GraphiQL.Logo>
        {warning === null ? null : (
          <span className="warning" role="alert">
            {warning}
          </span>
        )}
        {callers === null ? null : <CallerSwitch callers={callers} />}
        <a className="brand" href="/schema.graphql" title="The schema as SDL">
          Tributary
        </a>
      </GraphiQL.Logo>
      <GraphiQL.Footer>
        <PlanPane executions={executions} />
      </GraphiQL.Footer>
    </GraphiQL>
  );
}
