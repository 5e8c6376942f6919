import { parse, print } from "graphql";
import { useState, useSyncExternalStore } from "react";
import { type Executions, type PlannedRequest, toTree, type TreeRow } from "./executions.ts";

/** Consecutive multiples of the golden angle are far apart on the colour wheel, however many services there are. */
const goldenAngle = 137.5;
const firstHue = 210;
/** As in page.css: on a narrower screen the result is below the editor. */
const openWidthRem = 50;

interface PlanPaneProps {
  readonly executions: Executions;
  /** With `{traceId}`. */
  readonly traceUrlTemplate: string | undefined;
}

/** What became of each request of the last execution, as a tree: a request is below the one that it waited for. */
export function PlanPane({ executions, traceUrlTemplate }: PlanPaneProps) {
  const execution = useSyncExternalStore(executions.subscribe, executions.last);
  if (execution === null) return null;
  const { requestId, traceId, plan } = execution;
  return (
    <section className="plan" aria-label="Query plan">
      <p className="plan-ids">
        {requestId === null ? null : <Identifier name="Request" value={requestId} />}
        {traceId === null ? null : (
          <Identifier name="Trace" value={traceId} url={traceUrlTemplate?.replaceAll("{traceId}", traceId)} />
        )}
      </p>
      {plan === null || plan.length === 0 ? null : <PlanTree plan={plan} />}
    </section>
  );
}

interface IdentifierProps {
  readonly name: string;
  readonly value: string;
  readonly url?: string | undefined;
}

function Identifier({ name, value, url }: IdentifierProps) {
  const code = <code>{value}</code>;
  return (
    <span>
      {name}{" "}
      {url === undefined ? (
        code
      ) : (
        <a href={url} target="_blank" rel="noreferrer">
          {code}
        </a>
      )}
    </span>
  );
}

function PlanTree({ plan }: { readonly plan: readonly PlannedRequest[] }) {
  const services = [...new Set(plan.map(({ subgraph }) => subgraph))].toSorted();
  const hueOf = (subgraph: string) => firstHue + services.indexOf(subgraph) * goldenAngle;
  const endMs = Math.max(...plan.map(({ startMilliseconds, milliseconds }) => startMilliseconds + milliseconds));
  return (
    // A narrow screen has no room for the result and the plan at once.
    <details open={matchMedia(`(width > ${openWidthRem}rem)`).matches}>
      <summary>
        {countOf(plan.length, "fetch", "fetches")} from {countOf(services.length, "service", "services")},{" "}
        {formatMs(endMs)}
      </summary>
      {/* Focusable, so that the keyboard can scroll it. */}
      <div className="plan-scroll" tabIndex={0} role="group" aria-label="Fetches">
        <table>
          <thead>
            <tr>
              {["Service", "Outcome", "Time", "Bytes"].map((heading) => (
                <th key={heading} scope="col">
                  {heading}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {toTree(plan).map((row, index) => (
              <PlanRow key={index} row={row} hue={hueOf(row.request.subgraph)} endMs={endMs} />
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

interface PlanRowProps {
  readonly row: TreeRow;
  readonly hue: number;
  /** Of the whole plan. */
  readonly endMs: number;
}

function PlanRow({ row: { request, depth }, hue, endMs }: PlanRowProps) {
  const [isOpen, setOpen] = useState(false);
  const { subgraph, outcome, paths, failedAttempts = [], bytes, startMilliseconds, milliseconds } = request;
  const percentOf = (ms: number) => `${endMs === 0 ? 0 : (100 * ms) / endMs}%`;
  const bar = { marginLeft: percentOf(startMilliseconds), width: percentOf(milliseconds) };
  const style = { "--service-hue": hue, "--depth": depth } as React.CSSProperties;
  return (
    <>
      <tr style={style}>
        <th scope="row">
          <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            <span className="plan-service">{subgraph}</span> {paths.map((path) => path || "root").join(", ")}
          </button>
        </th>
        <td className={`plan-${outcome}`}>
          {[describeOutcome(request), ...failedAttempts].map((line, index) => (
            <div key={index}>{line}</div>
          ))}
        </td>
        <td className="plan-time">
          {formatMs(milliseconds)}
          <span className="plan-bar" style={bar} />
        </td>
        <td className="plan-bytes">{bytes.toLocaleString("en")}</td>
      </tr>
      {isOpen ? <PlanDetails request={request} /> : null}
    </>
  );
}

function PlanDetails({ request: { replica, attempts, operation } }: { readonly request: PlannedRequest }) {
  return (
    <tr>
      <td colSpan={4}>
        From {replica ?? "no replica"}, {countOf(attempts, "attempt", "attempts")}
        <pre>{print(parse(operation))}</pre>
      </td>
    </tr>
  );
}

function describeOutcome({ outcome, code, errors, entities }: PlannedRequest): string {
  const details = [
    code,
    errors === undefined ? undefined : countOf(errors, "error", "errors"),
    entities === undefined ? undefined : countOf(entities, "entity", "entities"),
  ].filter((detail) => detail !== undefined);
  return [outcome, ...details].join(", ");
}

function countOf(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

function formatMs(milliseconds: number): string {
  return `${milliseconds.toFixed(1)} ms`;
}
