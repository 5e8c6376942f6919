/** Random choices of a generator. When the numbers are used up every choice is 0, the simplest one, so that fast-check can shrink. */
export interface Dice {
  /** 0 to sides - 1. */
  roll(sides: number): number;
  pick<T>(list: readonly T[]): T;
  chance(percent: number): boolean;
}

export function createDice(numbers: readonly number[]): Dice {
  let next = 0;
  const roll = (sides: number) => (numbers[next++] ?? 0) % sides;
  return {
    roll,
    pick: (list) => list[roll(list.length)]!,
    chance: (percent) => roll(100) >= 100 - percent,
  };
}
