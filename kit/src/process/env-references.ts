import type { Environment } from "./env.ts";

const referencePattern = /\$\{env\.([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Replaces each `${env.NAME}` in a text of a configuration file. @param onMissing a variable that is not set, or empty. */
export function insertVariables(
  text: string,
  environment: Environment,
  onMissing: (variable: string) => unknown,
): string {
  return text.replaceAll(referencePattern, (_, variable: string) => {
    const value = environment[variable];
    if (value === undefined || value === "") onMissing(variable);
    return value ?? "";
  });
}
