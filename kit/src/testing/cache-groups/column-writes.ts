import type pg from "pg";

/** `table.column` and the SQL type of every column but those of the kit's tables: of the feed, the idempotency keys and the migrations. */
export interface TestedColumn {
  readonly table: string;
  readonly column: string;
  readonly type: string;
}

export async function findColumns(client: pg.Client): Promise<readonly TestedColumn[]> {
  const { rows } = await client.query<TestedColumn>(
    `select table_name as table, column_name as column, data_type as type from information_schema.columns
      where table_schema = 'public' and table_name not like 'feed\\_%' and table_name not like 'idempotency\\_%' and table_name <> 'pgmigrations'
      order by 1, 2`,
  );
  return rows;
}

/** SQL of another value than the column has. Undefined for a type of which a test must name the value. */
export function toOtherValue({ column, type }: TestedColumn): string | undefined {
  switch (type) {
    case "text":
      return `coalesce(${column}, '') || '.'`;
    case "boolean":
      return `not coalesce(${column}, false)`;
    case "integer":
      return `coalesce(${column}, 0) + 1`;
    default:
      return undefined;
  }
}
