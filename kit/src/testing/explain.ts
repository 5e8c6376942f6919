import type { Database } from "../postgres/postgres.ts";

export interface PlanNode {
  readonly "Node Type": string;
  readonly "Index Name"?: string;
  readonly "Actual Rows"?: number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly PlanNode[];
}

export interface ExplainedStatement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Runs it once, in a transaction that is rolled back. @param mode of `plan_cache_mode`. @returns every node of the plan. */
export async function explain(
  database: Pick<Database, "transaction">,
  { text, values }: ExplainedStatement,
  mode: string,
): Promise<readonly PlanNode[]> {
  const rollback = new Error("rollback");
  let nodes: readonly PlanNode[] = [];
  const work = database.transaction(async ({ rows }) => {
    // Each command has a unique name, because the pool prepares a name once.
    const run = (command: string) =>
      rows<{ "QUERY PLAN": [{ Plan: PlanNode }] }>(`explain-${crypto.randomUUID()}`, command);
    await run(`set local plan_cache_mode = ${mode}`);
    await run(`prepare measured as ${text}`);
    const [row] = await run(`explain (analyze, format json) execute measured (${values.map(toLiteral).join(", ")})`);
    await run("deallocate measured");
    nodes = row ? flatten(row["QUERY PLAN"][0].Plan) : [];
    throw rollback;
  });
  await work.catch((error: unknown) => {
    if (error !== rollback) throw error;
  });
  return nodes;
}

function flatten(node: PlanNode): readonly PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(flatten)];
}

/** The SQL literal of null, a string without double quotes, a number, a date or an array of these. */
function toLiteral(value: unknown): string {
  if (value === null) return "null";
  const json = JSON.stringify(value);
  // PostgreSQL writes an array as '{1,2}'.
  if (Array.isArray(value)) return `'{${json.slice(1, -1)}}'`;
  return `'${json.replaceAll('"', "").replaceAll("'", "''")}'`;
}
