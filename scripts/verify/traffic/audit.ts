// Checks that each confirmed comment is stored once.

/** How the texts of the comments of a run begin. */
export function textPrefixOf(run: string): string {
  return `Written by ${run}:`;
}

/** For the database comments: the texts of a run, one in each row. */
export function selectTextsOf(run: string): string {
  return `select body from comments where body like '${textPrefixOf(run)} %'`;
}

export function auditComments(stored: readonly string[], confirmed: ReadonlySet<string>) {
  const different = new Set(stored);
  const lost = [...confirmed].filter((text) => !different.has(text));
  const duplicated = stored.filter((text, index) => stored.indexOf(text) !== index);
  return { stored: different.size, lost, duplicated, isRight: lost.length === 0 && duplicated.length === 0 };
}
