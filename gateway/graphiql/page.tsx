import { GraphiQL } from "graphiql";
import { CallerSwitch } from "./caller-switch.tsx";
import type { Callers } from "./callers.ts";
import type { Answer, Operation, OperationOptions } from "./fetcher.ts";
import firstTab from "./first-tab.graphql?raw";

interface PageProps {
  readonly fetcher: (operation: Operation, options?: OperationOptions) => Promise<Answer>;
  /** Null without a local issuer: then there is no switch. */
  readonly callers: Callers | null;
  /** What the reader should know before all else. */
  readonly warning: string | null;
}

export function Page({ fetcher, callers, warning }: PageProps) {
  return (
    <GraphiQL fetcher={fetcher} defaultTabs={[{ query: firstTab }]} defaultEditorToolsVisibility={false}>
      <GraphiQL.Logo>
        {warning === null ? null : (
          <span className="warning" role="alert">
            {warning}
          </span>
        )}
        {callers === null ? null : <CallerSwitch callers={callers} />}
        <a className="brand" href="/schema.graphql" title="The whole schema as text">
          Tributary
        </a>
      </GraphiQL.Logo>
    </GraphiQL>
  );
}
