// By hand: node gateway/test/zoo/differential.ts --operations 500 --seed 1 [--animal keys]
import { isDeepStrictEqual, parseArgs } from "node:util";
import fc from "fast-check";
import { animals } from "./animals.ts";
import { type Aliases, operationsOf } from "./generate-operations.ts";
import { type LiveAnimal, type Operation, startAnimal } from "./start-animal.ts";

export interface DifferentialOptions {
  readonly operationCount: number;
  readonly seed: number;
  readonly aliases: Aliases;
  /** False: the first operation that is answered differently, not the smallest. */
  readonly shrink?: boolean;
  readonly argumentValues?: Readonly<Record<string, readonly unknown[]>> | undefined;
}

/** An operation that the gateway answers differently from the monolith. */
export interface Difference {
  readonly operation: Operation;
  readonly gateway: unknown;
  readonly monolith: unknown;
}

/** Asks gateway and monolith so many generated operations, and compares `data`; undefined when all are equal. */
export async function findDifference(animal: LiveAnimal, o: DifferentialOptions): Promise<Difference | undefined> {
  const operations = operationsOf(animal.schema, { aliases: o.aliases, argumentValues: o.argumentValues ?? {} });
  const property = fc.asyncProperty(operations, async (operation) => (await compare(animal, operation)) === undefined);
  const { counterexample } = await fc.check(property, {
    numRuns: o.operationCount,
    seed: o.seed,
    endOnFailure: o.shrink === false,
  });
  return counterexample ? compare(animal, counterexample[0]) : undefined;
}

async function compare(animal: LiveAnimal, operation: Operation): Promise<Difference | undefined> {
  const gateway = await animal.ask(operation).then(({ data }) => data, String);
  const monolith = await animal.askMonolith(operation);
  return isDeepStrictEqual(gateway, monolith) ? undefined : { operation, gateway, monolith };
}

/** So many operations for each animal and kind of aliases; each difference is printed as JSON. @returns how many there were. */
async function runDifferential(operationCount: number, seed: number, animalName: string): Promise<number> {
  let differenceCount = 0;
  for (const animal of animals.filter(({ name }) => name.includes(animalName))) {
    const live = await startAnimal(animal);
    for (const aliases of ["plain", "colliding"] as const) {
      const { argumentValues } = animal;
      const difference = await findDifference(live, { operationCount, seed, aliases, argumentValues });
      if (difference) differenceCount++;
      process.stdout.write(`${animal.name}, ${aliases}: ${difference ? JSON.stringify(difference) : "equal"}\n`);
    }
    await live.close();
  }
  return differenceCount;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      operations: { type: "string", default: "100" },
      seed: { type: "string", default: "1" },
      animal: { type: "string", default: "" },
    },
  });
  const differenceCount = await runDifferential(Number(values.operations), Number(values.seed), values.animal);
  process.exitCode = differenceCount > 0 ? 1 : 0;
}
