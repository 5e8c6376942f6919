import { parse, print } from "graphql";
import { useState, useSyncExternalStore } from "react";
import {
  describeFailedAttempt,
  type Executions,
  explainAttempts,
  findEnd,
  findPreparation,
  type PlannedRequest,
  toTree,
  type TreeRow,
} from "./executions.ts";

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
  const endMs = findEnd(plan);
  const preparationMs = findPreparation(plan);
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
            {preparationMs === undefined ? null : (
              <tr className="plan-preparation">
                <th scope="row" colSpan={2}>
                  before the first fetch: validation, planning
                </th>
                <td className="plan-time">
                  {formatMs(preparationMs)}
                  <Bar startMs={0} durationMs={preparationMs} endMs={endMs} />
                </td>
                <td className="plan-bytes" />
              </tr>
            )}
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

function PlanRow({ row: { request, depth, otherParents }, hue, endMs }: PlanRowProps) {
  const [isOpen, setOpen] = useState(false);
  const { subgraph, outcome, failedAttempts = [], notSent, bytes, startMilliseconds, milliseconds } = request;
  const failures = failedAttempts.map((attempt) => `Failed attempt: ${describeFailedAttempt(attempt)}`);
  if (notSent !== undefined) failures.push(`Not sent: ${notSent}`);
  const paths = describePaths(request);
  const style = { "--service-hue": hue, "--depth": depth } as React.CSSProperties;
  return (
    <>
      <tr style={style}>
        <th scope="row">
          <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            <span className="plan-service">{subgraph}</span>{" "}
            <span className="plan-paths" title={paths}>
              <bdi>{paths}</bdi>
            </span>
          </button>
        </th>
        <td className={`plan-${outcome}`}>{describeOutcome(request)}</td>
        <td className="plan-time">
          {formatMs(milliseconds)}
          <Bar startMs={startMilliseconds} durationMs={milliseconds} endMs={endMs} />
        </td>
        <td className="plan-bytes">{bytes.toLocaleString("en")}</td>
      </tr>
      {failures.map((failure, index) => (
        <tr key={index}>
          <td colSpan={4} className={`plan-${outcome}`}>
            {failure}
          </td>
        </tr>
      ))}
      {isOpen ? <PlanDetails request={request} otherParents={otherParents} /> : null}
    </>
  );
}

interface BarProps {
  readonly startMs: number;
  readonly durationMs: number;
  readonly endMs: number;
}

function Bar({ startMs, durationMs, endMs }: BarProps) {
  const percentOf = (ms: number) => `${endMs === 0 ? 0 : (100 * ms) / endMs}%`;
  return <span className="plan-bar" style={{ marginLeft: percentOf(startMs), width: percentOf(durationMs) }} />;
}

function PlanDetails({ request, otherParents }: Omit<TreeRow, "depth">) {
  const { replica, attempts, operation } = request;
  const parents = otherParents.map((parent) => `${parent.subgraph} ${describePaths(parent)}`);
  return (
    <tr>
      <td colSpan={4}>
        From {replica ?? "no replica"}, {countOf(attempts, "attempt", "attempts")}. {explainAttempts(request)}
        {parents.length === 0 ? null : <p>It also waited for {parents.join("; ")}.</p>}
        <pre>{print(parse(operation))}</pre>
      </td>
    </tr>
  );
}

function describePaths({ paths }: PlannedRequest): string {
  return paths.map((path) => path || "root").join(", ");
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
