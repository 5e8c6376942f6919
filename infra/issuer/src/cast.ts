/** Somebody of the seeded data whom everybody knows by name: READMEs, tests and GraphiQL's switch speak of them. */
export interface CastMember {
  readonly name: string;
  readonly userId: string;
  /** What their tokens hold when nobody asks for other scopes. */
  readonly scopes: readonly string[];
}

/** Enough for what is one's own, and nothing of what is others'. */
export const usualScopes = ["users:write", "posts:write", "comments:write", "orders:read", "orders:write"] as const;

/** What reaches into other people's data: all the rest that the platform knows. */
const operatorScopes = [
  "users:read:private",
  "users:write:all",
  "posts:read:all",
  "posts:write:all",
  "comments:write:all",
  "orders:read:all",
  "orders:write:all",
] as const;

/** Every scope of the platform, for the discovery document. */
export const knownScopes: readonly string[] = [...usualScopes, ...operatorScopes].toSorted();

export const cast: readonly CastMember[] = [
  { name: "ada", userId: "1", scopes: usualScopes },
  { name: "grace", userId: "2", scopes: usualScopes },
  { name: "linus", userId: "3", scopes: usualScopes },
  { name: "ops", userId: "4", scopes: knownScopes },
];

/** By name, in any case, or by user id. */
export function findCastMember(nameOrId: string): CastMember | undefined {
  const wanted = nameOrId.toLowerCase();
  return cast.find(({ name, userId }) => name === wanted || userId === wanted);
}
