declare const rowType: unique symbol;

export type SelectList<Row> = string & { readonly [rowType]: Row };

type WriteExpressions<Field extends PropertyKey> = Readonly<Partial<Record<Field, (placeholder: string) => string>>>;

/** A member that is no column of the row, or has another type, is `never`. */
type ColumnValues<Row, Values> = {
  readonly [Field in keyof Values]: Field extends keyof Row ? Row[Field] | undefined : never;
};

interface Columns<Row extends object> {
  all(prefix?: string): SelectList<Row>;
  only<Field extends keyof Row & string>(fields: readonly Field[], prefix?: string): SelectList<Pick<Row, Field>>;
  except<Field extends keyof Row & string>(fields: readonly Field[], prefix?: string): SelectList<Omit<Row, Field>>;

  /** Built once for all rows. Called twice, `insertion<New>()(fields)`, since TypeScript infers all type parameters of a call or none. */
  insertion<New extends ColumnValues<Row, New>>(): <Field extends keyof New & keyof Row & string>(
    fields: readonly Field[] & EveryOf<keyof New, Field>,
    expressions?: WriteExpressions<Field>,
  ) => Insertion<New>;

  /** `column = $n` for each field that is not undefined. Appends to `values`. @throws Error for a field without a column. */
  assignments<Changes extends ColumnValues<Row, Changes>>(
    changes: Changes,
    values: unknown[],
    expressions?: WriteExpressions<keyof Changes>,
  ): readonly string[];
}

interface Insertion<New> {
  readonly text: string;
  /** Null for undefined, so a default value of the column does not apply. */
  valuesOf(row: New): readonly unknown[];
}

type EveryOf<Field, Listed> = [Exclude<Field, Listed>] extends [never]
  ? unknown
  : { readonly missing: Exclude<Field, Listed> };

/**
 * Each field of the row type needs its column: neither a missing nor a surplus one compiles. A reserved word, such as `user`, needs quotes.
 * @example defineColumns<Post>()({ id: "id", authorId: "author_id" })
 */
export function defineColumns<Row extends object>() {
  return <const Names extends Readonly<Record<keyof Row, string>>>(
    names: Names & Readonly<Record<Exclude<keyof Names, keyof Row>, never>>,
  ): Columns<Row> => createColumns<Row>(names);
}

function createColumns<Row extends object>(names: Readonly<Record<string, string>>): Columns<Row> {
  const fields = Object.keys(names);

  function columnOf(field: string): string {
    const column = Object.hasOwn(names, field) ? names[field] : undefined;
    if (column !== undefined) return column;
    throw new Error(`The field ${field} has no column.`);
  }

  function select<Selected>(selected: readonly string[], prefix = ""): SelectList<Selected> {
    const items = selected.map((field) => {
      const column = columnOf(field);
      const item = column === field ? field : `${column} as "${field}"`;
      return prefix + item;
    });
    return items.join(", ") as SelectList<Selected>;
  }

  return {
    all: (prefix) => select(fields, prefix),
    only: (selected, prefix) => select(selected, prefix),
    except(omitted: readonly string[], prefix) {
      const remaining = fields.filter((field) => !omitted.includes(field));
      return select(remaining, prefix);
    },
    insertion:
      <New>() =>
      (inserted: readonly string[], expressions: WriteExpressions<string> = {}): Insertion<New> => {
        const placeholders = inserted.map((field, index) => writeValue(expressions, field, `$${index + 1}`));
        return {
          text: `(${inserted.map(columnOf).join(", ")}) values (${placeholders.join(", ")})`,
          valuesOf: (row) => inserted.map((field) => (row as Readonly<Record<string, unknown>>)[field] ?? null),
        };
      },
    assignments(changes: object, values, expressions: WriteExpressions<string> = {}) {
      const valueByField = changes as Readonly<Record<string, unknown>>;
      return changedFields(changes).map((field) => {
        const column = columnOf(field);
        values.push(valueByField[field]);
        const placeholder = `$${values.length}`;
        return `${column} = ${writeValue(expressions, field, placeholder)}`;
      });
    },
  };
}

/** Part of the name of a statement with `assignments`, since its text differs by them. */
export function changedFields(changes: object): readonly string[] {
  const changed = Object.entries(changes).filter(([, value]) => value !== undefined);
  return changed.map(([field]) => field);
}

function writeValue(expressions: WriteExpressions<string>, field: string, placeholder: string): string {
  return expressions[field]?.(placeholder) ?? placeholder;
}
