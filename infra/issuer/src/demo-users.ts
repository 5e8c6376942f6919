/** A seeded user with a well-known name. READMEs, tests and the user menu of GraphiQL refer to these users. */
export interface DemoUser {
  readonly name: string;
  readonly userId: string;
  /** The scopes of a token if the request has no `scope`. */
  readonly scopes: readonly string[];
}

/** The scopes for a user's own data. */
export const defaultScopes = ["users:write", "posts:write", "comments:write", "orders:read", "orders:write"] as const;

/** The scopes for data of other users. */
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
export const knownScopes: readonly string[] = [...defaultScopes, ...operatorScopes].toSorted();

export const demoUsers: readonly DemoUser[] = [
  { name: "ada", userId: "1", scopes: defaultScopes },
  { name: "grace", userId: "2", scopes: defaultScopes },
  { name: "linus", userId: "3", scopes: defaultScopes },
  { name: "ops", userId: "4", scopes: knownScopes },
];

/** Finds a demo user by name, case-insensitively, or by user id. */
export function findDemoUser(nameOrId: string): DemoUser | undefined {
  const key = nameOrId.toLowerCase();
  return demoUsers.find(({ name, userId }) => name === key || userId === key);
}
